package contiv

import (
	"net/netip"
	"strings"
	"testing"
)

// Goal: a pair of pod subnets makes a plan of two families, whose first one is primary, with every address of a node in
// both; what is of one family alone, or of none, is refused by the field's name. Method: a table, and one node's
// addresses.
func TestDualStack(t *testing.T) {
	whole := IPAMConfig{
		PodSubnetCIDR: "fd00:1::/48, 10.1.0.0/16", PodSubnetOneNodePrefixLen: 26, PodSubnetOneNodePrefixLenIPv6: 64,
		VPPHostSubnetCIDR: "fd00:30::/64", NodeInterconnectCIDR: "192.168.16.0/24,fd00:16::/64", VXLANCIDR: "fd00:18::/64",
		DefaultGateway: "fd00:16::ff,192.168.16.3",
	}
	plan, err := whole.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	n, err := plan.Node(3)
	if err != nil || n.Second == nil || plan.MaxNodeID() != 253 { // the hosts of 192.168.16.0/24 but the gateway
		t.Fatalf("node %+v, %v of %d", n, err, plan.MaxNodeID())
	}
	for what, pair := range map[string][2]any{
		"primary block":  {n.PodSubnet, netip.MustParsePrefix("fd00:1:0:3::/64")},
		"second block":   {n.Second.PodSubnet, netip.MustParsePrefix("10.1.0.192/26")},
		"primary node":   {n.NodeIP, netip.MustParsePrefix("fd00:16::3/64")},
		"second node":    {n.Second.NodeIP, netip.MustParsePrefix("192.168.16.4/24")}, // behind the gateway
		"second default": {n.Second.VPPHostSubnet, netip.MustParsePrefix("172.30.3.0/24")},
		"second VXLAN":   {n.Second.VXLANIP, netip.MustParsePrefix("192.168.30.3/24")},
		"primary ranges": {plan.OfFamily(n.NodeIP.Addr()), &plan},
		"second ranges":  {plan.OfFamily(n.Second.NodeIP.Addr()), plan.Second},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %v, want %v", what, pair[0], pair[1])
		}
	}
	for field, change := range map[string]func(*IPAMConfig){
		"podSubnetCIDR":        func(c *IPAMConfig) { c.PodSubnetCIDR = "10.1.0.0/16,10.2.0.0/16" },
		"vppHostSubnetCIDR":    func(c *IPAMConfig) { c.VPPHostSubnetCIDR = "" },
		"vxlanCIDR":            func(c *IPAMConfig) { c.VXLANCIDR = "fd00:18::/64,fd00:19::/64" },
		"nodeInterconnectCIDR": func(c *IPAMConfig) { c.NodeInterconnectCIDR = "192.168.16.0/24" },
		"nodeInterconnectDHCP": func(c *IPAMConfig) { c.NodeInterconnectDHCP = true },
		"podIfIPCIDR":          func(c *IPAMConfig) { c.PodIfIPCIDR = "10.2.1.0/24" },
		"contivCIDR":           func(c *IPAMConfig) { c.ContivCIDR = "10.0.0.0/8" },
		"defaultGateway":       func(c *IPAMConfig) { c.DefaultGateway = "fd00:16::1,,10.1.1.1" },
		"names one family":     func(c *IPAMConfig) { c.PodSubnetCIDR, c.ServiceCIDR = "10.1.0.0/16", "10.96.0.0/12,fd00:96::/112" },
	} {
		c := whole
		change(&c)
		if _, err := c.Resolve(); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	one := IPAMConfig{PodSubnetOneNodePrefixLenIPv6: 64}
	if _, err := one.Resolve(); err == nil || !strings.Contains(err.Error(), "podSubnetOneNodePrefixLenIPv6") {
		t.Errorf("a length for no family: %v", err)
	}
}
