package lab

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
)

// summary adds up what a run amounts to. Facts come on the driving goroutine, waits from kubelets.
type summary struct {
	mu       sync.Mutex
	out      scenarios.Summary
	attached map[ipam.Owner]string
	freed    map[netip.Addr]time.Duration
	waiting  map[*worker]time.Duration
	ranOut   map[string]*scenarios.RanOut
	// past is what agents of nodes that have left had asked for.
	past spent
	// everNamed are nodes that have left; new ones take other numbers. Guarded by World.mu.
	everNamed map[string]bool
}

func (s *summary) init() {
	s.out.ShortestReuseSeconds = -1
	s.attached, s.freed = map[ipam.Owner]string{}, map[netip.Addr]time.Duration{}
	s.waiting, s.ranOut, s.everNamed = map[*worker]time.Duration{}, map[string]*scenarios.RanOut{}, map[string]bool{}
}

// account keeps the figures that follow from facts.
func (s *summary) account(f scenarios.Fact) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch f.Kind {
	case scenarios.FactAnswered:
		s.out.Adds++
		s.attached[f.Owner] = f.Node
		s.out.PeakPods = max(s.out.PeakPods, int64(len(s.attached)))
		if at, ok := s.freed[f.Addr]; ok {
			delete(s.freed, f.Addr)
			s.out.Reused++
			if gap := (f.At - at).Seconds(); s.out.ShortestReuseSeconds < 0 || gap < s.out.ShortestReuseSeconds {
				s.out.ShortestReuseSeconds = gap
			}
		}
	case scenarios.FactDeleted:
		s.out.Dels++
		delete(s.attached, f.Owner)
	case scenarios.FactSandboxGone:
		delete(s.attached, f.Owner)
	case scenarios.FactNodeGone:
		maps.DeleteFunc(s.attached, func(_ ipam.Owner, node string) bool { return node == f.Node })
	}
}

// starve notes a pod that waits for an address; fed one that has got it or has gone. k.mu is held.
func (s *summary) starve(w *worker) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting[w] = w.since
	s.out.PodsWaited++
	name := w.k.n.name
	if s.ranOut[name] == nil {
		s.ranOut[name] = &scenarios.RanOut{Node: name, AtSeconds: w.since.Seconds()}
	}
	s.ranOut[name].PodsWaited++
}

func (s *summary) fed(w *worker) {
	s.mu.Lock()
	defer s.mu.Unlock()
	since, ok := s.waiting[w]
	if !ok {
		return
	}
	delete(s.waiting, w)
	if w.pod.deleting.Load() {
		s.out.PodsNeverPlaced++
		return
	}
	waited := (w.k.n.w.Now() - since).Seconds()
	s.out.TotalWaitSeconds += waited
	s.out.LongestWaitSeconds = max(s.out.LongestWaitSeconds, waited)
	s.ranOut[w.k.n.name].WaitSeconds += waited
}

// spent is what lives of agents have asked for.
type spent struct{ vpp, linux, store, journal int64 }

func spentBy(s state) spent { return spent{s.VPPCalls, s.LinuxCalls, s.StoreOps, s.JournalBytes} }

func (s *spent) add(o spent) {
	s.vpp += o.vpp
	s.linux += o.linux
	s.store += o.store
	s.journal += o.journal
}

// spent is what the node's agents have asked for so far, as far as they have told.
func (n *node) spent() spent {
	n.mu.Lock()
	defer n.mu.Unlock()
	sum := n.past
	sum.add(spentBy(n.last))
	return sum
}

// left keeps the figures of a node that leaves.
func (s *summary) left(n *node) {
	sum := n.spent()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.past.add(sum)
}

// Summary implements scenarios.World.
func (w *World) Summary() scenarios.Summary {
	s, nodes := &w.summary, w.inOrder()
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.out
	out.PodsNeverPlaced += int64(len(s.waiting))
	for _, r := range s.ranOut { //vppdrill:unordered sorted below
		out.Exhausted = append(out.Exhausted, *r)
	}
	slices.SortFunc(out.Exhausted, func(a, b scenarios.RanOut) int {
		return cmp.Or(cmp.Compare(a.AtSeconds, b.AtSeconds), cmp.Compare(a.Node, b.Node))
	})
	sum := s.past
	for _, n := range nodes {
		if !n.isGone() {
			sum.add(n.spent())
		}
	}
	out.VPPCalls, out.LinuxCalls, out.StoreOps, out.JournalBytes = sum.vpp, sum.linux, sum.store, sum.journal
	return out
}
