package sim

import (
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/space"
	"github.com/vppdrill/vppdrill/scenarios"
)

// waste sums, over time, the addresses of nodes' blocks that no pod holds.
type waste struct {
	nodes map[string]*holding
	idle  float64 // now
	since time.Duration
	area  float64 // address seconds up to since
}

// holding is what one node has.
type holding struct{ addresses, leases float64 }

func (x *waste) init() { x.nodes = map[string]*holding{} }

func (x *waste) account(f scenarios.Fact) {
	switch f.Kind {
	case scenarios.FactLeased, scenarios.FactReleased, scenarios.FactBlocks, scenarios.FactAgentUp, scenarios.FactNodeGone:
	default:
		return
	}
	x.area += x.idle * (f.At - x.since).Seconds()
	x.since = f.At
	n := x.nodes[f.Node]
	if n == nil {
		n = &holding{}
		x.nodes[f.Node] = n
	}
	x.idle -= n.addresses - n.leases
	switch f.Kind {
	case scenarios.FactLeased:
		n.leases++
	case scenarios.FactReleased:
		n.leases--
	case scenarios.FactBlocks:
		n.addresses = 0
		for _, b := range f.Blocks {
			n.addresses += float64(space.Count(b.Prefix))
		}
	case scenarios.FactAgentUp:
		n.leases = float64(len(f.Leases))
	case scenarios.FactNodeGone:
		*n = holding{}
	}
	x.idle += n.addresses - n.leases
}

// mean is the average from the start to now.
func (x *waste) mean(now time.Duration) float64 {
	if now == 0 {
		return 0
	}
	return (x.area + x.idle*(now-x.since).Seconds()) / now.Seconds()
}

// leaked counts addresses that nobody will ever give back: leases without a sandbox, and blocks of nodes that are gone.
func (w *World) leaked() (n int64) {
	for _, m := range w.order {
		k := w.cluster.Kubelet(m.name)
		if m.proc == nil || k == nil {
			continue
		}
		there := map[ipam.Owner]bool{}
		for s := range k.Sandboxes() {
			there[s.Owner] = true
		}
		for l := range m.proc.agent.Leases() {
			if !there[l.Owner] {
				n++
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.granted)) {
		if m := w.machines[name]; m != nil && !m.gone {
			continue
		}
		n += count(w.granted[name])
	}
	return n
}

func count(blocks []netip.Prefix) (n int64) {
	for _, p := range blocks {
		n += int64(space.Count(p))
	}
	return n
}
