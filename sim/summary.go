package sim

import (
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
)

// account keeps the summary's figures that follow from facts.
func (w *World) account(f scenarios.Fact) {
	switch f.Kind {
	case scenarios.FactLeased:
		w.reuse.leased(w, f)
	case scenarios.FactReleased:
		w.reuse.released(f)
	case scenarios.FactAnswered:
		w.summary.Adds++
		w.waits.answered(w, f)
	case scenarios.FactDeleted:
		w.summary.Dels++
		w.waits.deleted(f)
	case scenarios.FactSandboxGone, scenarios.FactNodeGone:
		w.waits.deleted(f)
	}
}

// reuse finds the shortest time between an address's release and its next lease.
type reuse struct {
	freed map[netip.Addr]time.Duration
}

func (r *reuse) init() { r.freed = map[netip.Addr]time.Duration{} }

func (r *reuse) released(f scenarios.Fact) { r.freed[f.Addr] = f.At }

func (r *reuse) leased(w *World, f scenarios.Fact) {
	at, ok := r.freed[f.Addr]
	if !ok {
		return
	}
	delete(r.freed, f.Addr)
	w.summary.Reused++
	gap := (f.At - at).Seconds()
	if s := &w.summary.ShortestReuseSeconds; *s < 0 || gap < *s {
		*s = gap
	}
}

// waits accounts for attached pods and for pods that wait for an address.
type waits struct {
	attached map[ipam.Owner]string // to the node
	// since is when a pod's ADD was first refused because no address was free.
	since map[string]wait
	nodes map[string]*scenarios.RanOut
}

type wait struct {
	node string
	at   time.Duration
}

func (x *waits) init() {
	x.attached, x.since, x.nodes = map[ipam.Owner]string{}, map[string]wait{}, map[string]*scenarios.RanOut{}
}

// refused notes that a pod's ADD found no free address.
func (x *waits) refused(w *World, node, pod string) {
	if _, ok := x.since[pod]; ok {
		return
	}
	now := w.eng.Now()
	x.since[pod] = wait{node: node, at: now}
	w.summary.PodsWaited++
	n := x.nodes[node]
	if n == nil {
		n = &scenarios.RanOut{Node: node, AtSeconds: now.Seconds()}
		x.nodes[node] = n
	}
	n.PodsWaited++
}

// over ends a pod's wait, by an address or by its deletion.
func (x *waits) over(w *World, pod string) {
	since, ok := x.since[pod]
	if !ok {
		return
	}
	delete(x.since, pod)
	x.add(&w.summary, since, w.eng.Now())
}

func (x *waits) add(s *scenarios.Summary, since wait, now time.Duration) {
	d := (now - since.at).Seconds()
	s.TotalWaitSeconds += d
	s.LongestWaitSeconds = max(s.LongestWaitSeconds, d)
	x.nodes[since.node].WaitSeconds += d
}

func (x *waits) answered(w *World, f scenarios.Fact) {
	x.over(w, f.Pod)
	x.attached[f.Owner] = f.Node
	w.summary.PeakPods = max(w.summary.PeakPods, int64(len(x.attached)))
}

func (x *waits) deleted(f scenarios.Fact) {
	if f.Kind == scenarios.FactNodeGone {
		maps.DeleteFunc(x.attached, func(_ ipam.Owner, node string) bool { return node == f.Node })
		return
	}
	delete(x.attached, f.Owner)
}

// Summary implements scenarios.World.
func (w *World) Summary() scenarios.Summary {
	s := w.summary
	s.StoreOps = w.store.Store.Operations()
	left := waits{nodes: map[string]*scenarios.RanOut{}}
	for name, n := range w.waits.nodes {
		c := *n
		left.nodes[name] = &c
	}
	// Floating-point sums depend on their order.
	for _, pod := range slices.Sorted(maps.Keys(w.waits.since)) {
		left.add(&s, w.waits.since[pod], w.eng.Now())
		s.PodsNeverPlaced++
	}
	for _, name := range slices.Sorted(maps.Keys(left.nodes)) {
		s.Exhausted = append(s.Exhausted, *left.nodes[name])
	}
	slices.SortStableFunc(s.Exhausted, func(a, b scenarios.RanOut) int {
		switch {
		case a.AtSeconds < b.AtSeconds:
			return -1
		case a.AtSeconds > b.AtSeconds:
			return 1
		}
		return 0
	})
	return s
}
