package fact

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
)

// FreeAddress is the first address that the node could give a pod, worked out from its blocks and leases. With two
// families a pod gets one of each, so an address counts only if the other family has a free one too.
func (n *NodeState) FreeAddress() (netip.Addr, bool) {
	if n.Second == nil {
		return n.freeOf(func(netip.Prefix) bool { return true }, false)
	}
	if !n.freeIn(true) {
		return netip.Addr{}, false
	}
	return n.freeOf(func(p netip.Prefix) bool { return p.Addr().Is4() }, true)
}

// Grants reports whether the node could give a pod the addresses that it asks for, and some of a family of which it asks
// for none.
func (n *NodeState) Grants(wanted []netip.Addr) bool {
	taken := n.taken()
	for _, a := range wanted {
		if taken[a] || !slices.ContainsFunc(n.Blocks, func(b ipam.Block) bool { return n.gives(b) && b.Prefix.Contains(a) && a != b.Gateway }) {
			return false
		}
	}
	if n.Second == nil {
		return true
	}
	for _, ip6 := range [...]bool{false, true} {
		if !slices.ContainsFunc(wanted, func(a netip.Addr) bool { return a.Is6() == ip6 }) && !n.freeIn(ip6) {
			return false
		}
	}
	return true
}

// taken are the addresses that no pod can get.
func (n *NodeState) taken() map[netip.Addr]bool {
	taken := map[netip.Addr]bool{}
	for l := range n.Leases() {
		taken[l.Addr] = true
	}
	for _, list := range [...][]netip.Addr{n.Reserved, n.Resting} {
		for _, a := range list {
			taken[a] = true
		}
	}
	return taken
}

// gives reports whether addresses of a block are given out.
func (n *NodeState) gives(b ipam.Block) bool {
	return !b.Draining && !slices.Contains(n.Blocked, b.Prefix)
}

// freeIn reports whether a family has a free address.
func (n *NodeState) freeIn(ip6 bool) bool {
	_, ok := n.freeOf(func(p netip.Prefix) bool { return p.Addr().Is6() == ip6 }, true)
	return ok
}

// freeOf is FreeAddress among some of the node's blocks. A block that is too large to search counts as free if large is
// set.
func (n *NodeState) freeOf(some func(netip.Prefix) bool, large bool) (netip.Addr, bool) {
	taken := n.taken()
	for _, b := range n.Blocks {
		if !n.gives(b) || !some(b.Prefix) {
			continue
		}
		if b.Prefix.Addr().BitLen()-b.Prefix.Bits() > 16 {
			if large {
				return b.Prefix.Addr(), true
			}
			continue
		}
		for a := b.Prefix.Addr(); b.Prefix.Contains(a); a = a.Next() {
			if !taken[a] && a != b.Gateway {
				return a, true
			}
		}
	}
	return netip.Addr{}, false
}
