package sim

import (
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/sim/fault"
	"github.com/vppdrill/vppdrill/sim/internal/controllers"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// makeSystem makes the address management system that the scenario chose.
func (w *World) makeSystem() (err error) {
	w.assigned = map[string][]ipam.Block{}
	env := controllers.Env{
		Clock: w.eng, Cluster: w.cluster, Epoch: epoch, Plan: w.s.Config.IPAM,
		Tell: w.grant,
		Assigned: func(node string, blocks []netip.Prefix) {
			var list []ipam.Block
			for _, p := range blocks {
				list = append(list, ipam.Block{Prefix: p})
			}
			w.assign(node, list)
		},
		Wall: func(name string) controllers.Wall {
			c := w.drawWall(name)
			return &c
		},
		Routes: w.hostRoutes,
		Judge: func(op fault.Op) fault.Verdict {
			if !w.faulty() {
				return fault.Verdict{}
			}
			return w.judge(op)
		},
		Ranged: func(r netip.Prefix, closed bool) {
			w.emit(fact.Fact{What: fact.Range{Range: r, Closed: closed}})
		},
		Changing: func(program string, life int, what string, past time.Duration) {
			w.emit(fact.Fact{What: fact.Changing{Program: program, Life: uint32(life), Wanted: what, Late: past}})
		},
		Crash: func(node string) {
			if m := w.machines[node]; m != nil && m.proc != nil {
				m.crashAgent()
			}
		},
		SetAside: func(node string, n int) {
			w.emit(fact.Fact{Node: node, What: fact.SetAside{Addresses: uint32(n)}})
		},
		Note: func(who, text string) { w.trail(who + ": " + text) },
		Decided: func(who, text string) {
			if w.decided != nil {
				w.decided(who, text)
			}
		},
	}
	if w.plant != nil {
		env.Plant = w.plant.Controllers
	}
	w.control.system, err = controllers.New(env, w.systems)
	return err
}

// hostRoutes are what Linux has on a node, as its Cilium agent sees them.
func (w *World) hostRoutes(node string) (list []cilium.Route) {
	m := w.machines[node]
	if m == nil {
		return nil
	}
	state, err := m.host.Dump("")
	if err != nil {
		return nil // it is off
	}
	for _, r := range state.Routes {
		list = append(list, cilium.Route{Dst: r.Dst, Link: r.Link, Gw: r.Via, Src: state.Source(r)})
	}
	return list
}

// assign reports a node's assigned blocks.
func (w *World) assign(node string, blocks []ipam.Block) {
	w.assigned[node] = blocks
	w.emit(fact.Fact{Node: node, What: fact.Assigned{Blocks: blocks}})
}

// reassign reports that an administrator gave a node another block: its former ones are taken back while pods have
// their addresses.
func (w *World) reassign(node string, p netip.Prefix) {
	if !w.s.Config.IPAM.UseExternalIPAM {
		return // the block follows from the node's ID, or a controller decides
	}
	w.returned(p)
	blocks := []ipam.Block{{Prefix: p}}
	for _, b := range w.assigned[node] {
		if b.Prefix != p {
			other := b.Prefix.Addr().Is4() != p.Addr().Is4()
			blocks = append(blocks, ipam.Block{Prefix: b.Prefix, Draining: b.Draining || !other})
		}
	}
	w.assign(node, blocks)
}

// returned takes a block off the list of the node that it was taken back from and that does not hold it any more: an
// administrator may give it to another node.
func (w *World) returned(p netip.Prefix) {
	for _, m := range w.order {
		back := func(b ipam.Block) bool {
			return b.Draining && b.Prefix == p && !slices.ContainsFunc(m.seen.Blocks(), func(k ipam.Block) bool { return k.Prefix == p })
		}
		if list := w.assigned[m.name]; slices.ContainsFunc(list, back) {
			w.assign(m.name, slices.DeleteFunc(slices.Clone(list), back))
		}
	}
}

// grant gives a node's agent its blocks as its own Node object's pod CIDRs.
func (w *World) grant(node string, blocks []netip.Prefix) {
	if m := w.machines[node]; m != nil && m.proc != nil && m.proc.self.UID != "" {
		seen := m.proc.self
		seen.PodCIDRs = blocks
		m.proc.step(seen)
	}
}

// ownNode replaces the pod CIDRs of the agent's own Node object by what its system says it has.
func (p *process) ownNode(ev agent.Event) agent.Event {
	switch seen := ev.(type) {
	case agent.NodeSeen:
		if seen.Name != p.m.name {
			break
		}
		p.self = seen
		if blocks, ok := p.m.w.system.Blocks(p.m.name); ok {
			seen.PodCIDRs = blocks
			return seen
		}
	case agent.NodeGone:
		if seen.UID == p.self.UID {
			p.self = agent.NodeSeen{}
		}
	}
	return ev
}
