package calico

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
)

// placeOf is the place of a family's pool in a pair, IPv4 first.
func placeOf(pool string) int {
	if pool == ipam.PoolIPv6 {
		return 1
	}
	return 0
}

// isOf reports whether an address is of a family's pool.
func isOf(a netip.Addr, pool string) bool { return ipam.PoolOf(a) == pool }

// Of are the pools of one family, ipam.PoolIPv4 or ipam.PoolIPv6.
func (p Pools) Of(family string) Pools {
	p.Ranges = slices.DeleteFunc(slices.Clone(p.Ranges), func(r netip.Prefix) bool { return !isOf(r.Addr(), family) })
	return p
}

// owner is who holds a pod's address of the k-th family.
func owner(o ipam.Owner, k int) ipam.Owner {
	if k == 0 {
		return o
	}
	return o.Second()
}
