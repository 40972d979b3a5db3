package check

import (
	"time"

	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const oneLeaderName = "one-leader"

// oneLeader: a controller asks for a change only as long as it leads for certain by its own clock, and never once a later life of its program has
// asked for one.
//
// What it has asked for may arrive late all the same; grants-disjoint judges what comes of that. A snapshot has no history.
func oneLeader() fact.Law {
	return fact.Law{
		Name:    oneLeaderName,
		Why:     "Two controllers that give blocks away know nothing of each other's: what keeps one range from two nodes is that one of them has stopped.",
		When:    fact.Always,
		Foreign: true,
		Needs:   []fact.Evidence{fact.Changes},
		Watch:   func() fact.Watcher { return &leaderWatcher{latest: map[string]uint32{}} },
	}
}

type leaderWatcher struct {
	checks int64
	// latest are the last lives that have asked for a change, by program.
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
		return broken(oneLeaderName, f.At, "", "life %d of %s asks for %s %s after the time was over until which it led for certain: look at what it is told of its lease, and what waits for it",
			x.Life, x.Program, x.Wanted, x.Late.Round(time.Millisecond))
	case x.Life < latest:
		return broken(oneLeaderName, f.At, "", "life %d of %s asks for %s, and life %d has asked for changes before: look at when the one ends and the other begins",
			x.Life, x.Program, x.Wanted, latest)
	default:
		w.latest[x.Program] = x.Life
	}
	return nil
}
