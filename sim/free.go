package sim

import (
	"math"
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/space"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/sim/cluster"
	"github.com/vppdrill/vppdrill/sim/controllers"
)

// freeLeast is how long an address must have been free for an agent to know of it that refuses an ADD.
const freeLeast = time.Second

// holding is what the node has at the moment, when the agent refuses an ADD of owner for want of an address.
func (p *process) holding(owner ipam.Owner) *scenarios.Holding {
	h := &scenarios.Holding{SawNode: p.sawNode}
	if asker, ok := p.m.w.system.(controllers.PoolAsker); ok {
		h.Pool = asker.PoolOf(owner)
	}
	reserved := p.agent.Reserved()
	for _, b := range p.agent.Blocks() {
		if b.Draining {
			continue
		}
		r := scenarios.Room{Block: b.Prefix, Addresses: int(min(space.Count(b.Prefix), math.MaxInt32))}
		for _, a := range reserved {
			if b.Prefix.Contains(a) {
				r.Addresses--
			}
		}
		for l := range p.agent.Leases() {
			if b.Prefix.Contains(l.Addr) {
				r.Leased++
			}
		}
		h.Blocks = append(h.Blocks, r)
	}
	return h
}

// taken are addresses that a node cannot give, or has not been able to for long: they are leased, the node's own, a block's gateway, or have rested until
// a moment ago.
func (p *process) taken() map[netip.Addr]bool {
	taken := map[netip.Addr]bool{}
	for l := range p.agent.Leases() {
		taken[l.Addr] = true
	}
	for _, a := range p.agent.Reserved() {
		taken[a] = true
	}
	for _, b := range p.agent.Blocks() {
		taken[b.Gateway] = true
	}
	for a, until := range p.m.rests { //vppdrill:unordered each by itself
		taken[a] = taken[a] || until > p.m.w.eng.Now()-freeLeast
	}
	return taken
}

// freeInVain is an address that a node could have given when it refused an ADD for want of one, the zero Addr for none. It is told of systems
// whose nodes give out what is in their blocks: others hold addresses for pools, or swap them.
func (w *World) freeInVain(node string, r cluster.CNIResult) netip.Addr {
	m, c := w.machines[node], &w.s.Config.IPAM
	if !r.Exhausted || m == nil || m.proc == nil || c.UseExternalIPAM || c.System != scenarios.Contiv && c.System != scenarios.NodeIPAM {
		return netip.Addr{}
	}
	now, a := w.eng.Now(), m.proc.agent
	if w.rest() == 0 && now-m.leasesAt < freeLeast || now-m.ableAt < freeLeast || now-m.hitAt < freeLeast {
		return netip.Addr{}
	}
	taken := m.proc.taken()
	n := scenarios.NodeState{Name: m.name, Blocks: a.Blocks()}
	if c.Dual() || len(m.blocked(&n)) > 0 {
		return netip.Addr{} // one family may be full
	}
	for _, b := range n.Blocks {
		if b.Draining || space.Count(b.Prefix) > 1<<16 {
			continue
		}
		for addr := b.Prefix.Addr(); b.Prefix.Contains(addr); addr = addr.Next() {
			if !taken[addr] {
				return addr
			}
		}
	}
	return netip.Addr{}
}
