package scenarios

import (
	"net/netip"
	"strconv"
)

// HostLink is Linux' name of a machine's NIC, in every world where VPP takes it from the host, and of the link that administrators reach
// a machine by elsewhere.
const HostLink = "eth0"

// HostGateway is the router of hosts whose NIC VPP takes, in the k-th management network: its last address, which no machine has (see
// Management). That in the first is the next hop of each host's default route, and HostMetric the route's metric, as a network manager sets
// it.
func (s *Scenario) HostGateway(k int) netip.Addr {
	network := ManagementNetwork(s.Management(1, k).Addr())
	b := network.Addr().As4()
	b[2], b[3] = 0xff, 0xfe
	return netip.AddrFrom4(b)
}

// Stranger is an address that hosts have only their default route to (RFC 5737).
var Stranger = netip.AddrFrom4([4]byte{198, 51, 100, 7})

// HostMetric is NetworkManager's metric of a default route over Ethernet.
const HostMetric = 100

// checkSteal refuses what cannot be where VPP takes each node's NIC from its host.
func (s *Scenario) checkSteal() *InputError {
	const with = ", with config.wiring.stealNIC"
	w, ipam := s.Config.Wiring, s.Config.IPAM
	if !w.StealNIC {
		return nil
	}
	for i, n := range s.Config.Nodes {
		path := "config.nodes[" + strconv.Itoa(i) + "]."
		switch {
		case n.IP.IsValid():
			return s.wrongAt(path+"ip", "%s: the node's address is its host's"+with, n.IP)
		case n.UseDHCP:
			return s.wrongAt(path+"useDHCP", "true: the node's address is its host's"+with)
		case n.Gateway.IsValid():
			return s.wrongAt(path+"gateway", "%s: the node's gateway is its host's"+with, n.Gateway)
		}
	}
	switch {
	case w.Pod == PodNone:
		return s.wrongAt("config.wiring.stealNIC", "true: agents that wire nothing take no NIC (config.wiring.pod none)")
	case s.Topology.NIC == "":
		return s.wrongAt("config.wiring.stealNIC", "true: VPP has no interface on a NIC that it could take (topology.nic false)")
	case s.Topology.HostIPs == 0:
		return s.wrongAt("config.wiring.stealNIC", "true: hosts have no address that VPP could take over (topology.hostIPs 0)")
	case w.Host == HostNone:
		return s.wrongAt("config.wiring.stealNIC", "true: the host keeps its address at the interconnect; config.wiring.host none has none")
	case w.Services == ServedByVPP:
		return s.wrongAt("config.wiring.stealNIC", "true: VPP does not serve services on a NIC that it has taken (config.wiring.services vpp)")
	case ipam.IP6() || ipam.Dual():
		return s.wrongAt("config.wiring.stealNIC", "true: NICs are taken with IPv4 only, and config.ipam.podSubnetCIDR has IPv6")
	case ipam.NodeInterconnectDHCP:
		return s.wrongAt("config.ipam.nodeInterconnectDHCP", "true: the node's address is its host's"+with)
	case ipam.DefaultGateway.IsValid():
		return s.wrongAt("config.ipam.defaultGateway", "%s: the node's gateway is its host's"+with, ipam.DefaultGateway)
	}
	return nil
}
