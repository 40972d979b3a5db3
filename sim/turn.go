package sim

import (
	"maps"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
)

// turns are the addresses that a life of an agent gave last of its blocks: those from which it goes on.
type turns map[netip.Prefix]netip.Addr

// prune forgets blocks of which the agent gives no addresses any more: one that comes again is a new one.
func (t turns) prune(blocks []ipam.Block) {
	maps.DeleteFunc(t, func(p netip.Prefix, _ netip.Addr) bool {
		return !slices.ContainsFunc(blocks, func(b ipam.Block) bool { return b.Prefix == p && !b.Draining })
	})
}

// turnMost is behind how many addresses of a block one is looked for that was passed over.
const turnMost = 256

// turn says behind which address of its block a node's agent has given one, and which it has passed over, as far as both are known: which it gave before,
// and that the other was nobody's, is none that nodes keep for themselves, and has rested. Agents give what cloud and operator have given them in the order of those.
func (p *process) turn(r ipam.Record, gone []ipam.Record) (after, passed netip.Addr) {
	c := &p.m.w.s.Config.IPAM
	if c.UseExternalIPAM || c.System != scenarios.Contiv && c.System != scenarios.NodeIPAM || c.Dual() {
		return after, passed
	}
	if p.turns == nil {
		p.turns = turns{}
	}
	after, known := p.turns[r.Prefix]
	p.turns[r.Prefix] = r.Addr
	if !known {
		return netip.Addr{}, netip.Addr{}
	}
	var taken map[netip.Addr]bool // as a rule it is the next one that is given, and none is looked at
	a := after
	for range turnMost {
		if a = a.Next(); !r.Prefix.Contains(a) {
			a = r.Prefix.Addr()
		}
		if a == r.Addr || a == after {
			break
		}
		if taken == nil {
			taken = p.taken()
			for i := range gone {
				taken[gone[i].Addr] = true
			}
		}
		if !taken[a] {
			return after, a
		}
	}
	return after, netip.Addr{}
}
