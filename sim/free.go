package sim

import (
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam/space"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/sim/cluster"
)

// freeLeast is how long an address must have been free for an agent to know of it that refuses an ADD.
const freeLeast = time.Second

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
	taken := map[netip.Addr]bool{}
	for l := range a.Leases() {
		taken[l.Addr] = true
	}
	for _, addr := range a.Reserved() {
		taken[addr] = true
	}
	for addr, until := range m.rests { //vppdrill:unordered each by itself
		taken[addr] = taken[addr] || until > now-freeLeast
	}
	n := scenarios.NodeState{Name: m.name, Blocks: a.Blocks()}
	if c.Dual() || len(m.blocked(&n)) > 0 {
		return netip.Addr{} // one family may be full
	}
	for _, b := range n.Blocks {
		if b.Draining || space.Count(b.Prefix) > 1<<16 {
			continue
		}
		for addr := b.Prefix.Addr(); b.Prefix.Contains(addr); addr = addr.Next() {
			if !taken[addr] && addr != b.Gateway {
				return addr
			}
		}
	}
	return netip.Addr{}
}
