package blockranges

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam/calico"
	"github.com/vppdrill/vppdrill/ipam/contiv"
)

// Lends reports whether a node without addresses, and without a look at labels, would get one of each family of Calico's: of a free block of
// these pools, or, unless strict, of a block that is there.
func Lends(plan *contiv.Plan, strict bool, pools []netip.Prefix, blocks []calico.Block) bool {
	var taken []netip.Prefix
	for _, b := range blocks {
		taken = append(taken, b.CIDR)
	}
	return OfEachFamily(plan, pools, func(r netip.Prefix, bits int) bool {
		borrowed := func(b calico.Block) bool {
			return !strict && len(b.Free) > 0 && r.Bits() <= b.CIDR.Bits() && r.Contains(b.CIDR.Addr())
		}
		return slices.ContainsFunc(blocks, borrowed) || HasFree(r, bits, taken)
	})
}

// OfEachFamily reports whether some range of each of a plan's families does something; bits is the length of a block of it.
func OfEachFamily(plan *contiv.Plan, ranges []netip.Prefix, does func(r netip.Prefix, bits int) bool) bool {
	for _, of := range plan.Families() {
		if !slices.ContainsFunc(ranges, func(r netip.Prefix) bool {
			return plan.OfFamily(r.Addr()) == of && does(r, of.PodSubnetOneNodePrefixLen)
		}) {
			return false
		}
	}
	return true
}
