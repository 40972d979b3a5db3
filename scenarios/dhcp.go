package scenarios

import (
	"net/netip"
	"slices"
	"strconv"
	"time"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// DHCP is the server from which nodes lease their addresses.
type DHCP struct {
	Lease  time.Duration `yaml:"lease" doc:"How long a lease lasts; clients renew it when half of it is over."`
	Router netip.Addr    `yaml:"router" doc:"The default gateway that the server names; none when absent."`
	// OtherRange is apart from the interconnect: VPP takes no two interfaces of one subnet.
	OtherRange netip.Prefix `yaml:"otherRange" doc:"What nodes' other interfaces lease from; config.nodes says which do."`
}

// DHCPLeaseLeast bounds DHCP.Lease: no server in use gives shorter ones (dnsmasq's least).
const DHCPLeaseLeast = 2 * time.Minute

// Leases reports whether a node's interconnect address comes from the DHCP server.
func (c *Config) Leases(node string) bool {
	if n := c.Settings(node); n.IP.IsValid() || n.UseDHCP {
		return !n.IP.IsValid()
	}
	return c.IPAM.NodeInterconnectDHCP
}

// HasDHCP reports whether anybody leases an address.
func (c *Config) HasDHCP() bool {
	return c.IPAM.NodeInterconnectDHCP || slices.ContainsFunc(c.Nodes, func(n NodeSettings) bool {
		return n.UseDHCP || slices.ContainsFunc(n.Others, func(o NICSettings) bool { return o.UseDHCP })
	})
}

// FirstLeased is the first address that every world's DHCP server gives out in a range: where there is room, nodes do not by chance get those that a plan would
// give them.
func FirstLeased(r netip.Prefix) netip.Addr {
	number := uint64(2) // behind the network and the router
	if r.Addr().BitLen()-r.Bits() >= 8 {
		number = 100
	}
	a, _ := space.Nth(r, number) // the zero Addr where there is no room
	return a
}

// checkDHCP asks for a server that can serve, and for somebody to be served.
func (s *Scenario) checkDHCP() *InputError {
	d := s.Config.DHCP
	if !s.Config.HasDHCP() {
		if d != DefaultConfig().DHCP {
			return s.wrongAt("config.dhcp", "serves nobody: neither config.ipam.nodeInterconnectDHCP is set nor useDHCP of a node")
		}
		return nil
	}
	others := slices.ContainsFunc(s.Config.Nodes, func(n NodeSettings) bool {
		return slices.ContainsFunc(n.Others, func(o NICSettings) bool { return o.UseDHCP })
	})
	switch {
	case others && !d.OtherRange.IsValid():
		return s.wrongAt("config.dhcp.otherRange", "is missing: other interfaces of nodes lease their addresses")
	case !others && d.OtherRange.IsValid():
		return s.wrongAt("config.dhcp.otherRange", "%s: no other interface of a node leases an address", d.OtherRange)
	}
	static := s.Config.IPAM
	static.NodeInterconnectDHCP = false
	if err := s.planError("config.ipam", static, s.Topology.Nodes); err != nil {
		return err
	}
	switch {
	case s.Topology.NIC == "":
		return s.wrongAt("config.ipam.nodeInterconnectDHCP", "wants an interface to lease an address on: topology.nic")
	case s.Config.IPAM.DefaultGateway.IsValid():
		return s.wrongAt("config.ipam.defaultGateway", "%s: the DHCP server names the gateway, config.dhcp.router", s.Config.IPAM.DefaultGateway)
	case d.Lease < DHCPLeaseLeast:
		return s.wrongAt("config.dhcp.lease", "%s is less than %s", FormatDuration(d.Lease), FormatDuration(DHCPLeaseLeast))
	case d.Router.IsValid() && !static.Interconnect().Contains(d.Router):
		return s.wrongAt("config.dhcp.router", "%s is not in nodeInterconnectCIDR %s", d.Router, static.Interconnect())
	}
	return s.checkFixed()
}

// checkFixed refuses addresses of single nodes that the server may lease to another one.
func (s *Scenario) checkFixed() *InputError {
	check := func(path string, fixed, from netip.Prefix) *InputError {
		if !fixed.IsValid() || !from.Contains(fixed.Addr()) {
			return nil
		}
		first := FirstLeased(from)
		if fixed.Addr().Less(first) {
			return nil
		}
		return s.wrongAt(path, "%s may be leased to another node: the DHCP server gives out %s and what is behind it", fixed.Addr(), first)
	}
	for i, n := range s.Config.Nodes {
		path := "config.nodes[" + strconv.Itoa(i) + "]"
		if err := check(path+".ip", n.IP, s.Config.IPAM.Interconnect()); err != nil {
			return err
		}
		for k, o := range n.Others {
			if err := check(path+".otherNICs["+strconv.Itoa(k)+"].ip", o.IP, s.Config.DHCP.OtherRange); err != nil {
				return err
			}
		}
	}
	return nil
}
