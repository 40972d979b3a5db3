package hostlocal

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
)

// Plugin remembers what it gave on the machines' disks.
type Plugin struct {
	given map[uint32]map[ipam.Owner]netip.Addr
}

// Pick gives owner an address of the machine's first pod CIDR, and its Second one of the first pod CIDR of the other family where there is
// one; those that they hold already where they do, the zero Addr when none is free.
func (p *Plugin) Pick(machine uint32, cidrs []netip.Prefix, owner ipam.Owner) (first, second netip.Addr) {
	first = p.pick(machine, cidrs, owner)
	if other := slices.IndexFunc(cidrs, func(c netip.Prefix) bool { return c.Addr().Is4() != cidrs[0].Addr().Is4() }); other > 0 {
		second = p.pick(machine, cidrs[other:], owner.Second())
	}
	return first, second
}

func (p *Plugin) pick(machine uint32, cidrs []netip.Prefix, owner ipam.Owner) netip.Addr {
	mine := p.given[machine]
	if a, ok := mine[owner]; ok || len(cidrs) == 0 {
		return a
	}
	if mine == nil {
		if p.given == nil {
			p.given = map[uint32]map[ipam.Owner]netip.Addr{}
		}
		mine = map[ipam.Owner]netip.Addr{}
		p.given[machine] = mine
	}
	taken := make(map[netip.Addr]bool, len(mine))
	for _, a := range mine { // in any order: it is a set
		taken[a] = true
	}
	// The network, the gateway, the last two addresses are not for pods, as the agent's address plan has it.
	for a := cidrs[0].Addr().Next().Next(); cidrs[0].Contains(a.Next().Next()); a = a.Next() {
		if !taken[a] {
			mine[owner] = a
			return a
		}
	}
	return netip.Addr{}
}

// Release frees what owner and its Second hold.
func (p *Plugin) Release(machine uint32, owner ipam.Owner) {
	delete(p.given[machine], owner)
	delete(p.given[machine], owner.Second())
}

// Forget drops everything of a machine that is gone.
func (p *Plugin) Forget(machine uint32) { delete(p.given, machine) }
