package contiv

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// Kubernetes writes the ranges of a cluster of two families as a pair, 10.1.0.0/16,fd00:1::/64, whose first one is
// primary (kube-controller-manager's --cluster-cidr). podSubnetCIDR says so here; the other ranges may come in either
// order, and one that names a single family leaves the other to its default.

// paired are the fields that may hold a range or an address of each family, under the names of their keys.
func (c *IPAMConfig) paired() [6]struct {
	name  string
	value *string
} {
	return [...]struct {
		name  string
		value *string
	}{
		{"podSubnetCIDR", &c.PodSubnetCIDR}, {"vppHostSubnetCIDR", &c.VPPHostSubnetCIDR}, {"nodeInterconnectCIDR", &c.NodeInterconnectCIDR},
		{"vxlanCIDR", &c.VXLANCIDR}, {"serviceCIDR", &c.ServiceCIDR}, {"defaultGateway", &c.DefaultGateway},
	}
}

// dual reports whether the section is of a cluster of two families.
func (c IPAMConfig) dual() bool { return strings.Contains(c.PodSubnetCIDR, ",") }

// Families splits a section of two families into one of each, the primary first. A section of one family may hold no
// pairs.
func (c IPAMConfig) Families() (first, second IPAMConfig, err error) {
	if !c.dual() {
		for _, f := range c.paired() {
			if strings.Contains(*f.value, ",") {
				return c, c, fmt.Errorf("%s %q: podSubnetCIDR names one family, give one value or a pair of pod subnets", f.name, *f.value)
			}
		}
		if c.PodSubnetOneNodePrefixLenIPv6 != 0 || c.VPPHostSubnetOneNodePrefixLenIPv6 != 0 {
			return c, c, fmt.Errorf("podSubnetOneNodePrefixLenIPv6 %d and vppHostSubnetOneNodePrefixLenIPv6 %d: they are for clusters of two families, "+
				"give podSubnetOneNodePrefixLen and vppHostSubnetOneNodePrefixLen", c.PodSubnetOneNodePrefixLenIPv6, c.VPPHostSubnetOneNodePrefixLenIPv6)
		}
		return c, IPAMConfig{}, nil
	}
	switch {
	case c.ContivCIDR != "":
		return c, c, fmt.Errorf("contivCIDR %q: it is cut into ranges of one family, and podSubnetCIDR %q has two", c.ContivCIDR, c.PodSubnetCIDR)
	case c.NodeInterconnectDHCP:
		return c, c, fmt.Errorf("nodeInterconnectDHCP true: nodes lease addresses of one family, and podSubnetCIDR %q has two", c.PodSubnetCIDR)
	case c.PodIfIPCIDR != "":
		return c, c, fmt.Errorf("podIfIPCIDR %q: it has one family, and podSubnetCIDR %q two; without it pod interfaces borrow the gateways' addresses", c.PodIfIPCIDR, c.PodSubnetCIDR)
	}
	var of [2]IPAMConfig // IPv4, IPv6
	of[0], of[1] = c, c
	fields := c.paired()
	four, six := of[0].paired(), of[1].paired()
	primary6 := false
	for i, f := range fields {
		*four[i].value, *six[i].value = "", ""
		for k, one := range strings.Split(*f.value, ",") {
			one = strings.TrimSpace(one)
			if one == "" && *f.value == "" {
				continue
			}
			into, is6 := four[i].value, strings.Contains(one, ":")
			if is6 {
				into = six[i].value
			}
			if one == "" || k > 1 || *into != "" {
				return c, c, fmt.Errorf("%s %q: want one of each family, as 10.1.0.0/16,fd00:1::/64", f.name, *f.value)
			}
			*into = one
			primary6 = primary6 || i == 0 && k == 0 && is6
		}
	}
	if of[0].PodSubnetCIDR == "" || of[1].PodSubnetCIDR == "" {
		return c, c, fmt.Errorf("podSubnetCIDR %q: want one of each family, as 10.1.0.0/16,fd00:1::/64", c.PodSubnetCIDR)
	}
	of[1].PodSubnetOneNodePrefixLen, of[1].VPPHostSubnetOneNodePrefixLen = c.PodSubnetOneNodePrefixLenIPv6, c.VPPHostSubnetOneNodePrefixLenIPv6
	for i := range of {
		of[i].PodSubnetOneNodePrefixLenIPv6, of[i].VPPHostSubnetOneNodePrefixLenIPv6 = 0, 0
	}
	if primary6 {
		return of[1], of[0], nil
	}
	return of[0], of[1], nil
}

// checkSecond checks the second family's ranges, and that they are another family's.
func (p Plan) checkSecond() error {
	if p.Second == nil {
		return nil
	}
	if p.Second.PodSubnet.Addr().Is4() == p.PodSubnet.Addr().Is4() {
		return fmt.Errorf("podSubnetCIDR %s,%s: want one of each family", p.PodSubnet, p.Second.PodSubnet)
	}
	if p.NodeInterconnect.IsValid() != p.Second.NodeInterconnect.IsValid() {
		return fmt.Errorf("nodeInterconnectCIDR: nodes need an address of each family, as 192.168.16.0/24,fd00:16::/64")
	}
	return p.Second.check("IPv6")
}

// Families are the plan's ranges of each family, the primary first.
func (p *Plan) Families() []*Plan {
	if p.Second == nil {
		return []*Plan{p}
	}
	return []*Plan{p, p.Second}
}

// FamilyPools are the pools of an ipam.DualStack that a pod gets an address of each, the primary first.
func (p *Plan) FamilyPools() []string {
	var pools []string
	for _, f := range p.Families() {
		pools = append(pools, ipam.PoolOf(f.PodSubnet.Addr()))
	}
	return pools
}

// OfFamily is the plan of an address's family, nil where the cluster has none.
func (p *Plan) OfFamily(a netip.Addr) *Plan {
	for _, f := range p.Families() {
		if f.PodSubnet.Addr().BitLen() == space.NormalAddr(a).BitLen() {
			return f
		}
	}
	return nil
}
