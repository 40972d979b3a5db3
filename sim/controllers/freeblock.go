package controllers

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// hasFreeBlock reports whether a range has a block of this length that overlaps nothing taken.
func hasFreeBlock(r netip.Prefix, bits int, taken []netip.Prefix) bool {
	r = space.Normal(r)
	free := space.SubnetCount(r, bits)
	full := make(map[netip.Prefix]bool, len(taken))
	for _, p := range taken {
		switch p = space.Normal(p); {
		case !p.Overlaps(r):
		case p.Bits() <= r.Bits():
			return false
		case p.Bits() < bits: // some blocks at once: a service range
			free -= min(free, space.SubnetCount(p, bits))
		default:
			full[netip.PrefixFrom(p.Addr(), bits).Masked()] = true
		}
	}
	return free > uint64(len(full))
}
