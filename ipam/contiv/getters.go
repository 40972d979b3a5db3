package contiv

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// NodeIPAddress is the interconnect address of a node, and the interconnect's range. A default gateway in the range is
// skipped. The error wraps ErrNodeIDRange or ErrNoNodeAddress. As Contiv does, it lets the highest ID have the
// broadcast address when no gateway moves it; Plan.Node does not.
func (i *IPAM) NodeIPAddress(nodeID uint32) (netip.Addr, netip.Prefix, error) {
	defer i.lock()()
	p := &i.state.plan
	return hostAddress("nodeInterconnectCIDR", p.NodeInterconnect, p.gateways(), nodeID)
}

// VxlanIPAddress is the VXLAN address of a node and the VXLAN range; no gateway is skipped there.
func (i *IPAM) VxlanIPAddress(nodeID uint32) (netip.Addr, netip.Prefix, error) {
	defer i.lock()()
	return hostAddress("vxlanCIDR", i.state.plan.VXLAN, nil, nodeID)
}

func hostAddress(field string, all netip.Prefix, gateways []netip.Addr, id uint32) (netip.Addr, netip.Prefix, error) {
	if !all.IsValid() {
		return netip.Addr{}, netip.Prefix{}, undefinedError(field)
	}
	a, err := hostOf(field, all, gateways, id, true)
	if err != nil {
		return netip.Addr{}, netip.Prefix{}, err
	}
	return a.Addr(), all, nil
}

// undefinedError names a range that the configuration has no value for.
type undefinedError string

func (e undefinedError) Error() string { return string(e) + " is undefined" }

// HostInterconnectIPInVPP is VPP's end of this node's link to the host.
func (i *IPAM) HostInterconnectIPInVPP() netip.Addr {
	defer i.lock()()
	return nth(i.state.hostLink, vppEndIndex)
}

// HostInterconnectIPInLinux is the host's end of this node's link to VPP.
func (i *IPAM) HostInterconnectIPInLinux() netip.Addr {
	defer i.lock()()
	return nth(i.state.hostLink, linuxEndIndex)
}

// HostInterconnectSubnetThisNode is the range of this node's link between VPP and host.
func (i *IPAM) HostInterconnectSubnetThisNode() netip.Prefix {
	defer i.lock()()
	return i.state.hostLink
}

// HostInterconnectSubnetAllNodes is the range that every node's link to its host is cut from.
func (i *IPAM) HostInterconnectSubnetAllNodes() netip.Prefix {
	defer i.lock()()
	return i.state.plan.VPPHostSubnet
}

// HostInterconnectSubnetOtherNode is the range of another node's link between VPP and host.
func (i *IPAM) HostInterconnectSubnetOtherNode(nodeID uint32) (netip.Prefix, error) {
	defer i.lock()()
	p := &i.state.plan
	return blockOf("vppHostSubnetCIDR", p.VPPHostSubnet, p.VPPHostSubnetOneNodeLen, nodeID)
}

// PodSubnetAllNodes is the range that every node's pod block is cut from.
func (i *IPAM) PodSubnetAllNodes() netip.Prefix {
	defer i.lock()()
	return i.state.plan.PodSubnet
}

// PodSubnetThisNode is this node's pod block.
func (i *IPAM) PodSubnetThisNode() netip.Prefix {
	defer i.lock()()
	return i.state.pods
}

// PodSubnetOtherNode is another node's pod block by its ID. With external IPAM blocks do not follow from IDs, and
// nobody should ask.
func (i *IPAM) PodSubnetOtherNode(nodeID uint32) (netip.Prefix, error) {
	defer i.lock()()
	p := &i.state.plan
	return blockOf("podSubnetCIDR", p.PodSubnet, p.PodSubnetOneNodePrefixLen, nodeID)
}

// ServiceNetwork is the range of cluster IPs.
func (i *IPAM) ServiceNetwork() netip.Prefix {
	defer i.lock()()
	return i.state.plan.Service
}

// PodGatewayIP is what this node's pods use as gateway: index 1 of the block.
func (i *IPAM) PodGatewayIP() netip.Addr {
	defer i.lock()()
	return nth(i.state.pods, podGatewayIndex)
}

// NatLoopbackIP is the address that service traffic of a pod to itself is sent from: the block's last unicast address.
func (i *IPAM) NatLoopbackIP() netip.Addr {
	defer i.lock()()
	a, err := space.NthLast(i.state.pods, 1)
	if err != nil {
		return netip.Addr{}
	}
	return a
}

// NodeIDFromPodIP is the ID of the node whose block podIP lies in.
func (i *IPAM) NodeIDFromPodIP(podIP netip.Addr) (uint32, error) {
	defer i.lock()()
	return i.state.plan.NodeID(podIP)
}

// nth is the zero Addr for the zero Prefix, which stands for "not resynchronised yet".
func nth(p netip.Prefix, n uint64) netip.Addr {
	a, err := space.Nth(p, n)
	if err != nil {
		return netip.Addr{}
	}
	return a
}
