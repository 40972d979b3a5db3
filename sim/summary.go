package sim

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
)

// account keeps the summary's figures that follow from facts.
func (w *World) account(f scenarios.Fact) {
	w.waste.account(f)
	switch f.Kind {
	case scenarios.FactLeased:
		w.reuse.leased(w, f)
	case scenarios.FactReleased:
		w.reuse.released(f)
	case scenarios.FactAnswered:
		w.summary.Adds++
		w.attached.answered(w, f)
	case scenarios.FactDeleted:
		w.summary.Dels++
		w.attached.deleted(f)
	case scenarios.FactSandboxGone, scenarios.FactNodeGone:
		w.attached.deleted(f)
	}
}

// reuse finds the shortest time between an address's release and its next lease, and the fewest leases.
type reuse struct {
	freed  map[netip.Addr]freed
	leases int64
}

// freed is when an address was released: the time, and how many leases had been given by then.
type freed struct {
	at     time.Duration
	leases int64
}

func (r *reuse) init() { r.freed = map[netip.Addr]freed{} }

func (r *reuse) released(f scenarios.Fact) { r.freed[f.Addr] = freed{f.At, r.leases} }

func (r *reuse) leased(w *World, f scenarios.Fact) {
	r.leases++
	was, ok := r.freed[f.Addr]
	if !ok {
		return
	}
	delete(r.freed, f.Addr)
	w.summary.Reused++
	gap := (f.At - was.at).Seconds()
	if s := &w.summary.ShortestReuseSeconds; *s < 0 || gap < *s {
		*s = gap
	}
	if s := &w.summary.ShortestReuseLeases; *s < 0 || r.leases-was.leases < *s {
		*s = r.leases - was.leases
	}
}

// attached counts the pods that hold an answered address.
type attached struct{ nodes map[ipam.Owner]string }

func (x *attached) init() { x.nodes = map[ipam.Owner]string{} }

func (x *attached) answered(w *World, f scenarios.Fact) {
	x.nodes[f.Owner] = f.Node
	w.summary.PeakPods = max(w.summary.PeakPods, int64(len(x.nodes)))
}

func (x *attached) deleted(f scenarios.Fact) {
	if f.Kind == scenarios.FactNodeGone {
		maps.DeleteFunc(x.nodes, func(_ ipam.Owner, node string) bool { return node == f.Node })
		return
	}
	delete(x.nodes, f.Owner)
}

// Summary implements scenarios.World. How pods waited is what their kubelets saw.
func (w *World) Summary() scenarios.Summary {
	s := w.summary
	s.StoreOps = w.store.Store.Operations()
	s.APIWrites += w.system.Requests()
	s.WastedAddresses = w.waste.mean(w.eng.Now())
	s.LeakedAddresses = w.leaked()
	all := w.cluster.Waits()
	s.PodsWaited, s.PodsNeverPlaced = int64(all.Pods), int64(all.Never+all.Now())
	s.LongestWaitSeconds, s.TotalWaitSeconds = all.Longest.Seconds(), all.Total.Seconds()
	for _, name := range w.cluster.Nodes() {
		if k := w.cluster.Kubelet(name).Waits(); k.Pods > 0 {
			s.Exhausted = append(s.Exhausted, scenarios.RanOut{Node: name, AtSeconds: k.First.Seconds(),
				PodsWaited: int64(k.Pods), WaitSeconds: k.Total.Seconds()})
		}
	}
	slices.SortStableFunc(s.Exhausted, func(a, b scenarios.RanOut) int { return cmp.Compare(a.AtSeconds, b.AtSeconds) })
	return s
}
