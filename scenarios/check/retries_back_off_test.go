package check

import (
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

// Goal: retries-back-off breaks when somebody repeats at once what has failed, or never waits longer than the first time, and holds for
// whoever keeps its documented pauses. Method: rows of failures, each at the end of the pauses before it.
func TestRetriesBackOff(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		pause      func(n int) time.Duration
		// broken is the failure at which the law breaks, 0 for never.
		broken int
	}{
		{"a journal at once", scenarios.TriedJournal, func(int) time.Duration { return time.Millisecond }, 3},
		{"a journal after a second each time", scenarios.TriedJournal, func(int) time.Duration { return time.Second }, 5},
		{"a journal as documented", scenarios.TriedJournal, func(n int) time.Duration { return min(time.Second<<min(n, 10), 30*time.Second) }, 0},
		{"a dump after a second each time", scenarios.TriedLook, func(int) time.Duration { return time.Second }, 0},
		{"a dump at once", scenarios.TriedLook, func(int) time.Duration { return 0 }, 3},
		{"a node thrice, then a pause", scenarios.TriedNode, func(n int) time.Duration {
			if n%3 != 2 {
				return 0
			}
			return min(125*time.Millisecond<<min(n/3, 10), 2500*time.Millisecond)
		}, 0},
		{"a node thrice, then the first pause", scenarios.TriedNode, func(n int) time.Duration {
			if n%3 != 2 {
				return 0
			}
			return 125 * time.Millisecond
		}, 13},
		{"a node four times, then a long pause", scenarios.TriedNode, func(n int) time.Duration {
			if n%4 != 3 {
				return 0
			}
			return 10 * time.Second
		}, 4},
		{"the same conflict four times, then a pause", scenarios.TriedConflict, func(n int) time.Duration {
			if n%4 != 3 {
				return 0
			}
			return min(500*time.Millisecond<<min(n/4, 10), 16*time.Second)
		}, 0},
		{"the same conflict at once", scenarios.TriedConflict, func(int) time.Duration { return time.Millisecond }, 9},
		{"what documents nothing", "prayer", func(int) time.Duration { return 0 }, 0},
	} {
		w, at, first := retriesBackOff().Watch(), time.Duration(0), 0
		for n := range 40 {
			f := scenarios.Fact{Kind: scenarios.FactFailed, Node: "node-1", Text: tc.text, Broken: "a write", Number: uint32(n + 1), At: at, Rest: at}
			if err := w.Observe(&f); err != nil {
				first = n + 1
				break
			}
			at += tc.pause(n)
		}
		if first != tc.broken {
			t.Errorf("%s: broken at failure %d, want %d", tc.name, first, tc.broken)
		}
	}
}

// Goal: retries-back-off breaks when what was refused is tried again much later than documented, and holds for whoever comes a moment after the end of
// the pause. Method: one more try of a call after so many refusals and such a pause.
func TestRetriesComeInTime(t *testing.T) {
	for _, tc := range []struct {
		refused uint32
		pause   time.Duration
		broken  bool
	}{
		{1, time.Second, false},
		{1, 2 * time.Second, false},
		{1, 8 * time.Second, true},
		{3, 5 * time.Second, false},
		{3, 16 * time.Second, true},
		{40, 31 * time.Second, false},
		{40, time.Minute, true},
	} {
		f := scenarios.Fact{Kind: scenarios.FactRetried, Node: "node-1", Text: scenarios.TriedWiring, Broken: "a call", Number: tc.refused, Rest: tc.pause}
		if err := retriesBackOff().Watch().Observe(&f); (err != nil) != tc.broken {
			t.Errorf("again %s after refusal %d: %v", tc.pause, tc.refused, err)
		}
	}
}
