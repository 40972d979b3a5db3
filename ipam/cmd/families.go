package cmd

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/scenarios"
)

// ofFamily is the configuration without the other family's ranges.
func (s stage) ofFamily(six bool) stage {
	is := func(p netip.Prefix) bool { return p.Addr().Is6() == six }
	one := func(c scenarios.CIDRPair) scenarios.CIDRPair {
		switch {
		case c.IsValid() && is(c.Prefix):
			return scenarios.CIDR(c.Prefix)
		case c.Second.IsValid() && is(c.Second):
			return scenarios.CIDR(c.Second)
		}
		return scenarios.CIDRPair{}
	}
	others := func(list []netip.Prefix) []netip.Prefix {
		return slices.DeleteFunc(slices.Clone(list), func(p netip.Prefix) bool { return !is(p) })
	}
	c := &s.section
	c.PodSubnetCIDR, c.VPPHostSubnetCIDR, c.NodeInterconnectCIDR = one(c.PodSubnetCIDR), one(c.VPPHostSubnetCIDR), one(c.NodeInterconnectCIDR)
	c.VXLANCIDR, c.ServiceCIDR = one(c.VXLANCIDR), one(c.ServiceCIDR)
	c.Ranges, c.NodeIPAM.ServiceCIDRs = others(c.Ranges), others(c.NodeIPAM.ServiceCIDRs)
	if c.DefaultGateway.Is6() != six {
		c.DefaultGateway = netip.Addr{}
	}
	if six {
		c.PodSubnetOneNodePrefixLen, c.VPPHostSubnetOneNodePrefixLen = c.PodSubnetOneNodePrefixLenIPv6, c.VPPHostSubnetOneNodePrefixLenIPv6
		if bits := c.Traits().BlockBits; bits != 0 && c.PodSubnetOneNodePrefixLen == 0 {
			c.PodSubnetOneNodePrefixLen = bits + 128 - 32
		}
	}
	c.PodSubnetOneNodePrefixLenIPv6, c.VPPHostSubnetOneNodePrefixLenIPv6 = 0, 0
	return s
}
