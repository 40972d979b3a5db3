package check

import (
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// leftBy is the source of the report that a block left.
type leftBy uint8

const (
	// byTaking: the node no longer uses it.
	byTaking leftBy = iota
	// bySaying: its record no longer names it.
	bySaying
)

// half is a report by one of these sources, at a time.
type half struct {
	at time.Duration
	by leftBy
}

// tells records what a node's record no longer tells others. A record that replaces one that the store has lost is a
// new one to them, which they take for the node's state.
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

// toldOther: others were notified of another address than those that the node starts with. A node writes its record
// before it acts on it, and may get another address by then.
func (n *wiredNode) toldOther(addrs []netip.Addr) bool {
	return n.told != nil && n.told.Address.IsValid() && !slices.Contains(addrs, n.told.Address)
}

// leaves records that a block left a node. The node and its record may both report it, in either order and seconds
// apart; that is one departure. Only the record reports a block that was announced and never used.
func (w *wiredWatcher) leaves(n *wiredNode, p netip.Prefix, at time.Duration, by leftBy) {
	if h, told := n.halves[p]; told && h.by != by && at-h.at < newsLate {
		delete(n.halves, p)
		return
	}
	n.halves[p] = half{at, by}
	w.left[p] = append(w.left[p], at)
}

// heardBy is how many of the times every node has been notified of by now; counted of them count already.
func heardBy(now time.Duration, times []time.Duration, counted int) int {
	for counted < len(times) && times[counted] < now-newsLate {
		counted++
	}
	return counted
}
