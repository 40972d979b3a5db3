package check

import (
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const grantsOpenName = "grants-open"

// closedGrace is how long a controller's earlier request may arrive after its range was closed. Scenarios delay
// requests and deposed leaders by at most a minute, and a request that was decided before may be repeated.
const closedGrace = 2 * time.Minute

// grantsOpen: no node gets a block of a closed range. Nodes keep the blocks that they already have.
//
// A snapshot has no history.
func grantsOpen() fact.Law {
	return fact.Law{
		Name: grantsOpenName,
		Rule: "No node gets a block of a closed range.",
		Why: "A range is closed because its addresses are needed elsewhere: pods of new nodes would collide with their " +
			"new users.",
		When:    fact.Always,
		Foreign: true,
		Needs:   []fact.Evidence{fact.AssignedBlocks, fact.ClosedRanges},
		Watch: func() fact.Watcher {
			return &openWatcher{closed: map[netip.Prefix]time.Duration{}, open: map[netip.Prefix]bool{}, has: map[string][]ipam.Block{}}
		},
	}
}

type openWatcher struct {
	checks int64
	// closed is when ranges were closed.
	closed map[netip.Prefix]time.Duration
	// open are ranges that were opened: a part of a closed one may be.
	open map[netip.Prefix]bool
	// has holds each node's latest assignment.
	has map[string][]ipam.Block
}

func (w *openWatcher) Checks() int64 { return w.checks }

func (w *openWatcher) Observe(f *fact.Fact) error {
	switch x := f.What.(type) {
	case fact.Range:
		delete(w.closed, x.Range)
		w.open[x.Range] = !x.Closed
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
		if w.opened(b.Prefix) {
			continue
		}
		for r, since := range w.closed { // in any order: ranges that are closed at one time do not overlap
			if r.Overlaps(b.Prefix) && f.At-since > closedGrace {
				return broken(grantsOpenName, f.At, f.Node,
					"%s is assigned %s of %s, which was closed %s before: check how the controller removes closed ranges",
					f.Node, b.Prefix, r, f.At-since)
			}
		}
	}
	return nil
}

// opened reports whether a block is of a range that was opened and is still open.
func (w *openWatcher) opened(p netip.Prefix) bool {
	for r, open := range w.open { // in any order: it is about any
		if open && r.Bits() <= p.Bits() && r.Contains(p.Addr()) {
			return true
		}
	}
	return false
}
