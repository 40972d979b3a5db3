package check

import (
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

// Goal: keeps-pace breaks when something comes before its time, and forgives a clock that runs a little fast; failures-told breaks when a failure is
// kept silent. Method: single facts.
func TestPaceAndTold(t *testing.T) {
	paced := func(what string, rest time.Duration) scenarios.Fact {
		return scenarios.Fact{Kind: scenarios.FactPaced, Node: "node-1", Text: what, Rest: rest}
	}
	for _, tc := range []struct {
		name   string
		law    scenarios.Law
		fact   scenarios.Fact
		broken bool
	}{
		{"a status in time", keepsPace(), paced(scenarios.PacedStatus, 15*time.Second), false},
		{"a status by a fast clock", keepsPace(), paced(scenarios.PacedStatus, 14990*time.Millisecond), false},
		{"a status at once", keepsPace(), paced(scenarios.PacedStatus, 0), true},
		{"a request given up in time", keepsPace(), paced(scenarios.PacedStore, 5*time.Second), false},
		{"a request given up at once", keepsPace(), paced(scenarios.PacedStore, time.Second), true},
		{"wakes in vain now and then", keepsPace(), paced(scenarios.PacedWake, 3*time.Second), false},
		{"wakes in vain one after the other", keepsPace(), paced(scenarios.PacedWake, 0), true},
		{"a journal written anew when it has grown", keepsPace(), scenarios.Fact{Kind: scenarios.FactPaced, Node: "node-1", Text: scenarios.PacedRewrite, Number: 64}, false},
		{"a journal written anew with each write", keepsPace(), scenarios.Fact{Kind: scenarios.FactPaced, Node: "node-1", Text: scenarios.PacedRewrite, Number: 2}, true},
		{"a look in time", keepsPace(), paced(scenarios.PacedLook, time.Minute), false},
		{"a shrinking in time", keepsPace(), paced(scenarios.PacedShrink, 30*time.Second), false},
		{"a shrinking with each look at the pool", keepsPace(), paced(scenarios.PacedShrink, 5*time.Second), true},
		{"an interface gone on with in time", keepsPace(), paced(scenarios.PacedJoin, 10*time.Millisecond), false},
		{"an interface gone on with late", keepsPace(), paced(scenarios.PacedJoin, 4*time.Second), true},
		{"units given back in time", keepsPace(), paced(scenarios.PacedReturn, 5*time.Second), false},
		{"units given back late", keepsPace(), paced(scenarios.PacedReturn, 30*time.Second), true},
		{"a look with each wake", keepsPace(), paced(scenarios.PacedLook, 5*time.Second), true},
		{"a failure that is told", failuresTold(), scenarios.Fact{Kind: scenarios.FactTold, Node: "node-1", Broken: "assign-units: no answer", Text: "assign-units: no answer"}, false},
		{"a disk's that is not", failuresTold(), scenarios.Fact{Kind: scenarios.FactTold, Node: "node-1", Broken: "a write of the agent's journal: no space"}, true},
		{"a failure that is not", failuresTold(), scenarios.Fact{Kind: scenarios.FactTold, Node: "node-1", Broken: "assign-units: no answer"}, true},
	} {
		w := tc.law.Watch()
		err := w.Observe(&tc.fact)
		if (err != nil) != tc.broken || w.Checks() != 1 {
			t.Errorf("%s: %v after %d occasions", tc.name, err, w.Checks())
		}
	}
}
