package reports

import (
	"fmt"
	"path"
	"strings"

	"github.com/vppdrill/vppdrill/scenarios/result"
)

// topicsWhole is how many scenarios an overview has at most for topics that passed to start unfolded.
const topicsWhole = 60

// topic is a part of the overview: the scenarios whose files lie in one folder.
type topic struct {
	Name      string
	Scenarios []*tried
	Runs      int
	// Failed counts the runs that did not pass.
	Failed int
	// Folded says that it starts folded: it passed among many.
	Folded bool
}

// Text is the topic's content in figures.
func (t topic) Text() string {
	text := plural(len(t.Scenarios), "scenario")
	if t.Runs != len(t.Scenarios) {
		text += ", " + plural(t.Runs, "run")
	}
	switch {
	case t.Failed == 0:
		return text + ", all passed"
	case t.Failed == t.Runs:
		return text + ", none passed"
	}
	return fmt.Sprintf("%s, %s did not pass", text, thousands(t.Failed))
}

// tried is one scenario in one world with its runs: a row of the overview, whose seeds are folded.
type tried struct {
	Name, World string
	Runs        []row
	// Pass, Fail and Error count runs.
	Pass, Fail, Error int
	Events, Checks    int64
	VirtualSeconds    float64
	WallSeconds       float64
	Folded            bool
}

// First is the run that the row links to: the worst one.
func (t *tried) First() row { return t.Runs[0] }

// Verdict is the worst of the runs'.
func (t *tried) Verdict() badge { return t.Runs[0].Verdict }

// Several says that there are seeds to fold.
func (t *tried) Several() bool { return len(t.Runs) > 1 }

// Seeds are the runs' seeds in few characters.
func (t *tried) Seeds() string {
	if len(t.Runs) == 1 {
		return fmt.Sprint(t.Runs[0].Result.Seed)
	}
	low, high, seen := t.Runs[0].Result.Seed, t.Runs[0].Result.Seed, map[uint64]bool{}
	for _, r := range t.Runs {
		low, high, seen[r.Result.Seed] = min(low, r.Result.Seed), max(high, r.Result.Seed), true
	}
	if high-low == uint64(len(seen)-1) {
		return fmt.Sprintf("%d–%d", low, high)
	}
	return plural(len(seen), "seed")
}

// Sum is what the folded seeds amount to: "60 runs: 3 failed, 57 passed".
func (t *tried) Sum() string {
	var parts []string
	for _, p := range []struct {
		n    int
		word string
	}{{t.Fail, "failed"}, {t.Error, "not judged"}, {t.Pass, "passed"}} {
		if p.n > 0 {
			parts = append(parts, thousands(p.n)+" "+p.word)
		}
	}
	return plural(len(t.Runs), "run") + ": " + strings.Join(parts, ", ")
}

// topicOf is the folder of a run's file; "" if it has none.
func topicOf(s result.Result) string {
	if s.File == "" {
		return ""
	}
	if dir := path.Dir(strings.ReplaceAll(s.File, `\`, "/")); dir != "." && dir != "/" {
		return path.Base(dir)
	}
	return ""
}

// topicsOf groups rows by topic and scenario. Groups stand where their first row does, so what failed comes first.
func topicsOf(rows []row) []*topic {
	type key struct{ topic, name, world string }
	var topics []*topic
	byName, byKey := map[string]*topic{}, map[key]*tried{}
	scenarios := 0
	for _, r := range rows {
		k := key{topicOf(r.Result), r.Result.Scenario, r.Result.World}
		in := byName[k.topic]
		if in == nil {
			in = &topic{Name: k.topic}
			byName[k.topic], topics = in, append(topics, in)
		}
		one := byKey[k]
		if one == nil {
			one = &tried{Name: k.name, World: k.world}
			byKey[k], in.Scenarios = one, append(in.Scenarios, one)
			scenarios++
		}
		one.Runs = append(one.Runs, r)
		one.Events, one.Checks = one.Events+r.Result.Events, one.Checks+r.Checks
		one.VirtualSeconds, one.WallSeconds = one.VirtualSeconds+r.Result.VirtualSeconds, one.WallSeconds+r.Result.WallSeconds
		in.Runs++
		switch r.Verdict.Class {
		case "pass":
			one.Pass++
		case "fail":
			one.Fail++
			in.Failed++
		default:
			one.Error++
			in.Failed++
		}
	}
	if len(topics) > 1 && scenarios > topicsWhole {
		for _, t := range topics {
			t.Folded = t.Failed == 0
			for _, s := range t.Scenarios {
				s.Folded = t.Folded
			}
		}
	}
	return topics
}
