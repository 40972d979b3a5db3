package gen

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/scenarios"
)

// nicMTUs are those of the network between nodes: Ethernet's, what tunnels of a cloud leave of it, jumbo frames.
var nicMTUs = []uint32{1500, 1400, 9000}

// headroom is what pods' packets leave for a tunnel: VXLAN over IPv4 exactly, or over IPv6 too.
var headroom = []uint32{50, 70}

// drawLinks draws how large packets may be, and how many addresses a node's Linux side has.
func (d drawer) drawLinks(s *scenarios.Scenario) {
	s.Topology.NICMTU = one(d, "MTU of NICs", nicMTUs...)
	s.Config.Wiring.MTU = s.Topology.NICMTU
	if s.Config.Wiring.Node == scenarios.NodeVXLAN {
		s.Config.Wiring.MTU -= one(d, "room for a tunnel", headroom...)
	}
	s.Topology.HostIPs = 1 + d.c.Pick("management addresses", 3)
}

// drawGateway has some clusters lead the nodes' default route to a machine whose address lies among those of the nodes.
func (d drawer) drawGateway(c *scenarios.Config) {
	if !c.HasDHCP() && !c.IPAM.DefaultGateway.IsValid() && d.coin("default gateway", 4) {
		c.IPAM.DefaultGateway = netip.AddrFrom4([4]byte{192, 168, 16, byte(1 + d.c.Pick("gateway", 8))})
	}
}
