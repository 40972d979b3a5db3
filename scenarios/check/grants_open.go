package check

import (
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const grantsOpenName = "grants-open"

// closedGrace is for how long what a controller asked for may arrive behind the closing of a range: scenarios hold requests and deposed leaders back
// for a minute at most, and a node that was decided on before may be asked for again.
const closedGrace = 2 * time.Minute

// grantsOpen: no node is given a block of a range that was closed. What nodes have of it they keep.
//
// A snapshot has no history.
func grantsOpen() fact.Law {
	return fact.Law{
		Name:    grantsOpenName,
		Why:     "A range is taken back because something else is to have it: new nodes' pods would share addresses with that.",
		When:    fact.Always,
		Foreign: true,
		Needs:   []fact.Evidence{fact.AssignedBlocks, fact.ClosedRanges},
		Watch: func() fact.Watcher {
			return &openWatcher{closed: map[netip.Prefix]time.Duration{}, has: map[string][]ipam.Block{}}
		},
	}
}

type openWatcher struct {
	checks int64
	// closed is since when ranges are.
	closed map[netip.Prefix]time.Duration
	// has is what nodes were assigned last.
	has map[string][]ipam.Block
}

func (w *openWatcher) Checks() int64 { return w.checks }

func (w *openWatcher) Observe(f *fact.Fact) error {
	switch x := f.What.(type) {
	case fact.Range:
		delete(w.closed, x.Range)
		if x.Closed {
			w.closed[x.Range] = f.At
		}
	case fact.Assigned:
		had := w.has[f.Node]
		w.has[f.Node] = x.Blocks
		return w.judge(f, had, x.Blocks)
	}
	return nil
}

func (w *openWatcher) judge(f *fact.Fact, had, has []ipam.Block) error {
	if len(w.closed) == 0 {
		return nil
	}
	for _, b := range has {
		if assigned(had, b.Prefix.Addr()) {
			continue
		}
		w.checks++
		for r, since := range w.closed { // in any order: ranges do not overlap
			if r.Overlaps(b.Prefix) && f.At-since > closedGrace {
				return broken(grantsOpenName, f.At, f.Node, "%s is given %s of %s, which was closed %s before: look at what the controller takes out of its ranges then",
					f.Node, b.Prefix, r, f.At-since)
			}
		}
	}
	return nil
}
