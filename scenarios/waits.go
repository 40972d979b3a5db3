package scenarios

import (
	"cmp"
	"slices"
	"time"
)

// waits tells how pods waited for addresses: from a pod's first ADD that was refused for want of one until an ADD succeeded.
// A pod is known by its UID: another of its name does not end its wait.
type waits struct {
	// open holds when each waiting pod began to, and on which node.
	open map[string]waiting
	pods int64
	// longest and total are over the waits that ended with an address.
	longest, total time.Duration
}

type waiting struct {
	node  string
	since time.Duration
}

// ranOut is a node's shortage.
type ranOut struct {
	first time.Duration
	pods  int64
	total time.Duration
}

func newWaits() waits { return waits{open: map[string]waiting{}} }

func (w *waits) begin(t *tally, f *Fact) {
	if _, waits := w.open[f.PodUID]; waits {
		return
	}
	w.open[f.PodUID] = waiting{f.Node, f.At}
	w.pods++
	n := t.node(f.Node)
	if n.ranOut == nil {
		n.ranOut = &ranOut{first: f.At}
	}
	n.ranOut.pods++
}

func (w *waits) placed(t *tally, f *Fact) {
	if len(w.open) == 0 {
		return
	}
	began, waited := w.open[f.PodUID]
	if !waited {
		return
	}
	delete(w.open, f.PodUID)
	d := f.At - began.since
	w.total += d
	w.longest = max(w.longest, d)
	if n := t.node(began.node); n.ranOut != nil {
		n.ranOut.total += d
	}
}

// sum adds the waits to a summary. Pods that were deleted before they got an address are still open.
func (w *waits) sum(out *Summary, nodes map[string]*tallied) {
	out.PodsWaited, out.PodsNeverPlaced = w.pods, int64(len(w.open))
	out.LongestWaitSeconds, out.TotalWaitSeconds = w.longest.Seconds(), w.total.Seconds()
	for name, n := range nodes { //vppdrill:unordered sorted below
		if r := n.ranOut; r != nil {
			out.Exhausted = append(out.Exhausted, RanOut{Node: name, AtSeconds: r.first.Seconds(), PodsWaited: r.pods, WaitSeconds: r.total.Seconds()})
		}
	}
	slices.SortFunc(out.Exhausted, func(a, b RanOut) int {
		return cmp.Or(cmp.Compare(a.AtSeconds, b.AtSeconds), cmp.Compare(a.Node, b.Node))
	})
}
