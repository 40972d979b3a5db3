package gen

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/scenarios"
)

// drawDual has some clusters be of two families: each range is a pair of what was drawn and of the range of fd00::/96 with the same bits
// behind, in either order, and a change of ranges is one of both families or of either. Addresses of single nodes stay of IPv4. What is
// not wired with two families stays with one.
func (d drawer) drawDual(s *scenarios.Scenario) {
	c := &s.Config
	if !d.coin("dual", 6) || c.HasDHCP() || !c.IPAM.Traits().Dual || c.Wiring.Services == scenarios.ServedByVPP {
		return
	}
	if len(c.IPAM.Ranges) > 0 && c.IPAM.System == scenarios.NodeIPAM || len(c.Nodes) > 0 {
		return
	}
	i := &c.IPAM
	spell(i)
	first6 := d.coin("ipv6 first", 2)
	if first6 {
		overIP6(s)
	}
	for _, p := range []*scenarios.CIDRPair{&i.PodSubnetCIDR, &i.VPPHostSubnetCIDR, &i.NodeInterconnectCIDR, &i.VXLANCIDR, &i.ServiceCIDR} {
		*p = pair(*p, first6)
	}
	for _, r := range slices.Clone(i.Ranges) {
		i.Ranges = append(i.Ranges, prefixOf6(r))
	}
	i.PodSubnetOneNodePrefixLenIPv6, i.VPPHostSubnetOneNodePrefixLenIPv6 = i.PodSubnetOneNodePrefixLen+ip4Bits, i.VPPHostSubnetOneNodePrefixLen+ip4Bits
	for k := range s.Timeline {
		change, ok := s.Timeline[k].Action.(scenarios.ChangeCIDR)
		if !ok {
			continue
		}
		which := one(d, "families", 4, 6, 46)
		for _, p := range []*scenarios.CIDRPair{&change.PodSubnetCIDR, &change.VPPHostSubnetCIDR, &change.NodeInterconnectCIDR, &change.VXLANCIDR, &change.ServiceCIDR} {
			switch {
			case !p.IsValid() || which == 4:
			case which == 6:
				*p = scenarios.CIDR(prefixOf6(p.Prefix))
			default:
				*p = pair(*p, first6)
			}
		}
		if change.PodSubnetOneNodePrefixLen != 0 && which != 4 {
			change.PodSubnetOneNodePrefixLenIPv6 = change.PodSubnetOneNodePrefixLen + ip4Bits
			if which == 6 {
				change.PodSubnetOneNodePrefixLen = 0
			}
		}
		if change.VPPHostSubnetOneNodePrefixLen != 0 && which == 6 {
			change.VPPHostSubnetOneNodePrefixLen = 0 // of IPv4, and there is no other
		}
		s.Timeline[k].Action = change
	}
}

// pair is a range of IPv4 with that of IPv6 that it stands for.
func pair(p scenarios.CIDRPair, first6 bool) scenarios.CIDRPair {
	six := prefixOf6(p.Prefix)
	switch {
	case !p.IsValid():
		return p
	case first6:
		return scenarios.CIDRPair{Prefix: six, Second: p.Prefix}
	}
	return scenarios.CIDRPair{Prefix: p.Prefix, Second: six}
}

func prefixOf6(p netip.Prefix) netip.Prefix {
	if !p.IsValid() {
		return p
	}
	return netip.PrefixFrom(addrOf6(p.Addr()), p.Bits()+ip4Bits)
}
