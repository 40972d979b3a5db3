package check

import (
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// leftBy is how a leaving of a block was told.
type leftBy uint8

const (
	// byTaking: the node takes it no more.
	byTaking leftBy = iota
	// bySaying: its record names it no more.
	bySaying
)

// half is a leaving of a block that was told at a time in one of these ways.
type half struct {
	at time.Duration
	by leftBy
}

// tells notes what a node's record does not tell others any more, as it did before: a record that is written anew behind one that the store
// has lost is another one to them, which they take for what the node has.
func (w *wiredWatcher) tells(f *fact.Fact, x fact.RecordChange) {
	c := &x
	if c.After.UID == "" || c.After.Released {
		return
	}
	n := w.node(f.Node)
	if was := n.told; was != nil && was.After.UID == c.After.UID {
		for _, p := range was.Blocks {
			if !slices.Contains(c.Blocks, p) {
				w.leaves(n, p, f.At, bySaying)
			}
		}
		if n.addrs == nil && n.former == nil && was.Address.IsValid() && c.Address.IsValid() && was.Address != c.Address {
			n.moves = append(n.moves, f.At)
		}
	}
	n.told = c
}

// toldOther: others have heard of the node by another address than those that it begins with. A node writes its record before it may act on
// it, and the address that it leases, or is told, may be another one by then.
func (n *wiredNode) toldOther(addrs []netip.Addr) bool {
	return n.told != nil && n.told.Address.IsValid() && !slices.Contains(addrs, n.told.Address)
}

// leaves notes that a block left a node. What the node takes and what its record tells others may both say so, in either order and
// seconds apart, which is one leaving. Only the record says it of a block that was told of and never taken.
func (w *wiredWatcher) leaves(n *wiredNode, p netip.Prefix, at time.Duration, by leftBy) {
	if h, told := n.halves[p]; told && h.by != by && at-h.at < newsLate {
		delete(n.halves, p)
		return
	}
	n.halves[p] = half{at, by}
	w.left[p] = append(w.left[p], at)
}

// heardBy is how many of the times, of which some count already, every node has heard of by now.
func heardBy(now time.Duration, times []time.Duration, counted int) int {
	for counted < len(times) && times[counted] < now-newsLate {
		counted++
	}
	return counted
}
