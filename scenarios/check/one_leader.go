package check

import (
	"time"

	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const oneLeaderName = "one-leader"

// oneLeader: a controller requests a change only while its own clock says that its lease is valid, and never after a
// later process of its program has requested one.
//
// A request may still arrive late; grants-disjoint judges the consequences. A snapshot has no history.
func oneLeader() fact.Law {
	return fact.Law{
		Name:    oneLeaderName,
		Rule:    "At most one process of a controller requests changes at a time: the one that holds the lease.",
		Why:     "Two active controllers do not know each other's assignments and can give one block to two nodes.",
		When:    fact.Always,
		Foreign: true,
		Needs:   []fact.Evidence{fact.Changes},
		Watch:   func() fact.Watcher { return &leaderWatcher{latest: map[string]uint32{}} },
	}
}

type leaderWatcher struct {
	checks int64
	// latest is the last process of each program that requested a change.
	latest map[string]uint32
}

func (w *leaderWatcher) Checks() int64 { return w.checks }

func (w *leaderWatcher) Observe(f *fact.Fact) error {
	x, ok := f.What.(fact.Changing)
	if !ok {
		return nil
	}
	w.checks++
	switch latest := w.latest[x.Program]; {
	case x.Late > 0:
		return broken(oneLeaderName, f.At, "",
			"life %d of %s requests %s %s after its lease became uncertain: check how it learns of its lease, and what waits "+
				"for that",
			x.Life, x.Program, x.Wanted, x.Late.Round(time.Millisecond))
	case x.Life < latest:
		return broken(oneLeaderName, f.At, "",
			"life %d of %s requests %s after life %d has requested changes: check when the one ends and the other begins",
			x.Life, x.Program, x.Wanted, latest)
	default:
		w.latest[x.Program] = x.Life
	}
	return nil
}
