package reports

import (
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// Report is a set of finished runs with where they happened. Its JSON is result.json.
type Report struct {
	// Version is the version of the program that ran the scenarios.
	Version     string      `json:"version"`
	Environment Environment `json:"environment"`
	// Incomplete says what is missing and why; absent where nothing is.
	Incomplete string          `json:"incomplete,omitempty"`
	Scenarios  []result.Result `json:"scenarios"`
	// NotExercised names what none of the runs came by, of result.Exercises; absent in a report of an exploration.
	NotExercised []string `json:"notExercised,omitempty"`
	// Explored is there when the runs are what an exploration found.
	Explored *Explored `json:"explored,omitempty"`
}

// Explored says what an exploration covered: of its runs, the report holds the first failure of each kind.
type Explored struct {
	// Way is seeds, random, steered (random with a corpus), exhaustive, crash-points or lives.
	Way string `json:"way"`
	// FirstSeed is the first seed, or the only one; 0 for an exhaustive search.
	FirstSeed uint64 `json:"firstSeed,omitempty"`
	Runs      int    `json:"runs"`
	// Complete: nothing was left to try. Seeds are complete when all that were asked for were taken.
	Complete bool `json:"complete"`
	// Points are how many crash points there are of each kind of operation, Tried how many of them were run.
	Points map[string]int `json:"points,omitempty"`
	Tried  map[string]int `json:"tried,omitempty"`
	// Hit counts the crash points whose fault happened.
	Hit int `json:"hit,omitempty"`
	// Broken counts the runs that did not pass, by law.
	Broken map[string]int `json:"broken"`
	// Coverage is what random scenarios came by.
	Coverage []Covered `json:"coverage,omitempty"`
	// Digest is all runs' digests in one, whatever their order: equal ones say that two searches did the same.
	Digest string `json:"digest,omitempty"`
}

// Covered is one group of what runs came by: how many runs by which, and what none came by, where that can be said.
type Covered struct {
	Group   string         `json:"group"`
	Reached map[string]int `json:"reached"`
	Missing []string       `json:"missing,omitempty"`
}

// Environment says where and how the runs happened. Every field may be empty; nothing of it changes a digest.
type Environment struct {
	// Command is the command line, program name first.
	Command string `json:"command,omitempty"`
	// Started is the wall time of the start in RFC 3339.
	Started    string `json:"started,omitempty"`
	Go         string `json:"go,omitempty"`
	Platform   string `json:"platform,omitempty"`
	CPUs       int    `json:"cpus,omitempty"`
	GOMAXPROCS int    `json:"gomaxprocs,omitempty"`
	Race       bool   `json:"race,omitempty"`
	// WallSeconds is how long the whole command took.
	WallSeconds float64 `json:"wallSeconds,omitempty"`
}

// Counts are how many runs ended which way, and what they amount to together.
type Counts struct {
	Pass, Fail, Error int
	// Stopped counts runs that a user ended early: they are none of the others.
	Stopped        int
	Events         int64
	VirtualSeconds float64
	WallSeconds    float64
	Checks         int64
}

// Total is the number of runs.
func (c Counts) Total() int { return c.Pass + c.Fail + c.Error + c.Stopped }

// Add counts one more run. A verdict that is no known word counts as an error: it could not be judged.
func (c *Counts) Add(r result.Result) {
	switch r.Verdict {
	case result.Pass:
		c.Pass++
	case result.Fail:
		c.Fail++
	case result.Stopped:
		c.Stopped++
	default:
		c.Error++
	}
	c.Events += r.Events
	c.VirtualSeconds += r.VirtualSeconds
	c.WallSeconds += r.WallSeconds
	for _, l := range r.Laws {
		c.Checks += l.Checks
	}
}

// Counts counts the report's runs.
func (r Report) Counts() Counts {
	var c Counts
	for _, s := range r.Scenarios {
		c.Add(s)
	}
	return c
}

// badness puts failures before errors before passes.
func badness(r result.Result) int {
	switch r.Verdict {
	case result.Fail:
		return 0
	case result.Pass:
		return 2
	}
	return 1
}

// digestShort is the head of a digest that people compare by eye, "-" for a run that never got one.
func digestShort(digest string) string {
	if digest == "" {
		return "-"
	}
	digest = oneLine(digest)
	return digest[:min(len(digest), 12)]
}
