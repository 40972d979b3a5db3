package blockranges

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam/calico"
	"github.com/vppdrill/vppdrill/scenarios"
)

// Lends reports whether a node without addresses, and without a look at labels, would get one of each family of Calico's: of a free block of
// these pools, or of a block that is there.
func Lends(c scenarios.IPAM, pools []netip.Prefix, blocks []calico.Block) bool {
	plan := c.Resolved()
	strict := scenarios.SectionOf[scenarios.CalicoIPAM](c).StrictAffinity
	var taken []netip.Prefix
	for _, b := range blocks {
		taken = append(taken, b.CIDR)
	}
	for _, of := range plan.Families() {
		lends := slices.ContainsFunc(pools, func(r netip.Prefix) bool {
			if plan.OfFamily(r.Addr()) != of {
				return false
			}
			borrowed := func(b calico.Block) bool {
				return !strict && len(b.Free) > 0 && r.Bits() <= b.CIDR.Bits() && r.Contains(b.CIDR.Addr())
			}
			return slices.ContainsFunc(blocks, borrowed) || HasFree(r, of.PodSubnetOneNodePrefixLen, taken)
		})
		if !lends {
			return false
		}
	}
	return true
}
