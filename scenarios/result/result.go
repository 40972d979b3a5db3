package result

import "github.com/vppdrill/vppdrill/scenarios/fact"

// Verdict is how a run ended.
type Verdict string

// Verdicts. Error means that the run could not be judged: bad input, a broken world, an unsupported action.
const (
	Pass  Verdict = "pass"
	Fail  Verdict = "fail"
	Error Verdict = "error"
	// Stopped: the user interrupted the run. It has no verdict.
	Stopped Verdict = "stopped"
)

// Result is one scenario's run. Its JSON is one entry of result.json's "scenarios" array; the names are a promise.
type Result struct {
	Scenario string `json:"scenario"`
	// Goal is the scenario file's opening comment.
	Goal    string   `json:"goal,omitempty"`
	File    string   `json:"file,omitempty"`
	Labels  []string `json:"labels,omitempty"`
	World   string   `json:"world"`
	Seed    uint64   `json:"seed"`
	Verdict Verdict  `json:"verdict"`
	// Error is one line, set for verdicts fail and error.
	Error          string      `json:"error,omitempty"`
	Digest         string      `json:"digest"`
	Events         int64       `json:"events"`
	VirtualSeconds float64     `json:"virtualSeconds"`
	WallSeconds    float64     `json:"wallSeconds"`
	PeakRSSBytes   int64       `json:"peakRSSBytes"`
	Laws           []LawResult `json:"laws"`
	Nodes          int         `json:"nodes"`
	Pods           int         `json:"pods"`
	// Replay is the command that repeats this run.
	Replay string `json:"replay"`
	// Unsupported lists actions that this world cannot do.
	Unsupported []string `json:"unsupported,omitempty"`
	// DidNothing lists valid actions that had no target, in the order of the timeline.
	DidNothing []string `json:"didNothing,omitempty"`
	// Exercised names the Exercises that occurred in the run.
	Exercised []string `json:"exercised,omitempty"`
	Summary   Summary  `json:"summary"`
	Failure   *Failure `json:"failure,omitempty"`
	// Unmet says what of the scenario's expect section did not come true, of a run that broke no law.
	Unmet     []Unmet `json:"unmet,omitempty"`
	Timeline  []Mark  `json:"timeline"`
	Addresses []Held  `json:"addresses,omitempty"`
	Series    *Series `json:"series,omitempty"`
	Story     *Story  `json:"story,omitempty"`
}

// Rule is the rule of the law that broke, or "".
func (r *Result) Rule() string {
	for _, l := range r.Laws {
		if r.Failure != nil && l.Name == r.Failure.Law {
			return l.Rule
		}
	}
	return ""
}

// Unmet is one number of a scenario's expect section that the end of the run did not match.
type Unmet struct {
	// Field is its name in the expect section.
	Field    string `json:"field"`
	Expected int64  `json:"expected"`
	Seen     int64  `json:"seen"`
	// SinceSeconds is when it last changed to what was seen, in virtual time; -1 if the world's facts do not say.
	SinceSeconds float64 `json:"sinceSeconds"`
	// Objects are the pods or nodes that differ or that the number counts, the last ones first, and Cut how many more
	// there are.
	Objects []string `json:"objects,omitempty"`
	Cut     int      `json:"cut,omitempty"`
}

// Status is a run's result for one law.
type Status string

// Statuses. A law is not judged if its world does not deliver the evidence that it needs, or if nothing ran.
const (
	HeldStatus      Status = "held"
	BrokenStatus    Status = "broken"
	NotJudgedStatus Status = "not-judged"
)

// LawResult is the result of one law.
type LawResult struct {
	Name string `json:"name"`
	// Rule is what always holds if the law does, Why the consequence if it is broken: a sentence each.
	Rule   string `json:"rule,omitempty"`
	Why    string `json:"why"`
	Status Status `json:"status"`
	// Missing is the evidence that the law needs and the world does not deliver.
	Missing []fact.Evidence `json:"missing,omitempty"`
	// Checks counts judgements: snapshots that held something to judge, and facts that were judged. Occasions counts the
	// things that were judged in them. A law that held with 0 occasions has said nothing about the run.
	Checks     int64 `json:"checks"`
	Occasions  int64 `json:"occasions"`
	Violations int64 `json:"violations"`
}

// Idle reports that the law could be judged and that the run held nothing to judge.
func (l LawResult) Idle() bool { return l.Status == HeldStatus && l.Occasions == 0 }

// StatusText is the law's status in words: "held", "held, 0 occasions", "broken", "not judged: no rests, no leases".
func (l LawResult) StatusText() string {
	switch {
	case l.Status == NotJudgedStatus && len(l.Missing) > 0:
		text := "not judged:"
		for i, e := range l.Missing {
			if i > 0 {
				text += ","
			}
			text += " no " + string(e)
		}
		return text
	case l.Status == NotJudgedStatus:
		return "not judged"
	case l.Idle():
		return "held, 0 occasions"
	}
	return string(l.Status)
}

// Failure is the first broken law.
type Failure struct {
	Law  string `json:"law"`
	What string `json:"what"`
	// Cause tells apart failures of one law that have nothing to do with each other; it holds no name, number or address.
	Cause string `json:"cause,omitempty"`
	Node  string `json:"node,omitempty"`
	// Follows is what the timeline did last before, or which of its faults go on.
	Follows string `json:"follows,omitempty"`
	// AtSeconds is virtual time, Event the number of the first bad event, Line its canonical line.
	AtSeconds float64 `json:"atSeconds"`
	Event     int64   `json:"event"`
	Line      string  `json:"line"`
	Before    string  `json:"before,omitempty"`
	After     string  `json:"after,omitempty"`
	// Way is the way of the packet that shows the failure, where one does; its last hop says what became of it.
	Way []fact.Hop `json:"way,omitempty"`
	// Tail holds the last event lines up to the bad one, oldest first.
	Tail []string `json:"tail,omitempty"`
	// Chain are the events that led to the failure in words, oldest first; the last one is the broken law.
	Chain []Link `json:"chain,omitempty"`
	// Smallest is the smallest scenario that was found to break the same law.
	Smallest *Smallest `json:"smallest,omitempty"`
}

// Smallest is a failure made smaller: a scenario file's text with its seed, and the same as the text of a Go test.
type Smallest struct {
	Scenario string `json:"scenario"`
	Seed     uint64 `json:"seed"`
	GoTest   string `json:"goTest"`
}

// Link is one event of a failure's chain of causes.
type Link struct {
	Event     int64   `json:"event"`
	AtSeconds float64 `json:"atSeconds"`
	Node      string  `json:"node,omitempty"`
	// Kind is action, fault, event or broken; missing for what should have come behind or before the event and did not,
	// unusual for what no run does that breaks no law.
	Kind string `json:"kind"`
	Text string `json:"text"`
	// Leads is the event of the chain that this one led to; 0 for the last.
	Leads int64 `json:"leads,omitempty"`
}

// Mark is one thing of the timeline: an action (EndSeconds equal to AtSeconds) or a fault's span.
type Mark struct {
	AtSeconds  float64 `json:"atSeconds"`
	EndSeconds float64 `json:"endSeconds"`
	Kind       string  `json:"kind"` // action, fault, settled, failure
	Node       string  `json:"node,omitempty"`
	Text       string  `json:"text"`
}

// Held is one address held by one pod over a span of time, for the address map. Worlds keep at most a few thousand.
type Held struct {
	Node         string  `json:"node"`
	Addr         string  `json:"addr"`
	Pod          string  `json:"pod"`
	FromSeconds  float64 `json:"fromSeconds"`
	UntilSeconds float64 `json:"untilSeconds"` // -1: still held at the end
}
