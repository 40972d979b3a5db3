package scenarios

import (
	"fmt"
	"strconv"
	"time"
)

// Step is one item of a timeline: when, and what.
type Step struct {
	Trigger Trigger
	// Time is since the start for AtTime and since the previous item for AfterPrevious.
	Time time.Duration
	// Optional items are skipped where their action makes no sense at that time (a node that is already gone); other
	// items end the run with verdict error then. Generated scenarios use it.
	Optional bool
	Action   Action
}

// Trigger is what a Step waits for.
type Trigger uint8

// Triggers. The zero Trigger is an absolute time.
const (
	AtTime Trigger = iota
	// AfterPrevious waits Time after the previous item was done.
	AfterPrevious
	// WhenSettled waits until the cluster is quiet, at most Limits.Settle.
	WhenSettled
)

// String is one line: "at 10s restart-vpp node=node-2".
func (s Step) String() string {
	when := "when settled"
	switch s.Trigger {
	case AtTime:
		when = "at " + FormatDuration(s.Time)
	case AfterPrevious:
		when = "after " + FormatDuration(s.Time)
	case WhenSettled:
	default:
		panic(fmt.Sprintf("scenarios: unknown trigger %d", s.Trigger))
	}
	if s.Optional {
		when += " optional"
	}
	return when + " " + s.Action.String()
}

// nodeName is the name of the n-th node, counted from 1.
func nodeName(n int) string { return "node-" + strconv.Itoa(n) }
