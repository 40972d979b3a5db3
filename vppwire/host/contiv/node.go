package contiv

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/mode"
)

// Node is what API says of the node, all of one moment. Zero values stand for what is not known or not there.
type Node struct {
	// NodeIP has its subnet's length.
	NodeIP      netip.Prefix `json:"nodeIP,omitzero"`
	PodSubnet   netip.Prefix `json:"podSubnet,omitzero"`
	PodNetwork  netip.Prefix `json:"podNetwork,omitzero"`
	NatLoopback netip.Addr   `json:"natLoopbackIP,omitzero"`
	HostIPs     []netip.Addr `json:"hostIPs"`

	MainPhysicalIf     string     `json:"mainPhysicalIfName"`
	OtherPhysicalIfs   []string   `json:"otherPhysicalIfNames"`
	HostInterconnectIf string     `json:"hostInterconnectIfName"`
	VxlanBVIIf         string     `json:"vxlanBVIIfName"`
	DefaultIf          string     `json:"defaultInterface"`
	DefaultIfAddress   netip.Addr `json:"defaultInterfaceAddress,omitzero"`
	MainVrfID          uint32     `json:"mainVrfID"`
	PodVrfID           uint32     `json:"podVrfID"`

	TCPstackDisabled       bool `json:"tcpStackDisabled"`
	STNMode                bool `json:"stnMode"`
	NatExternalTraffic     bool `json:"natExternalTraffic"`
	CleanupIdleNATSessions bool `json:"cleanupIdleNATSessions"`
	// Timeouts are in minutes.
	TCPNATSessionTimeout       uint32 `json:"tcpNATSessionTimeout"`
	OtherNATSessionTimeout     uint32 `json:"otherNATSessionTimeout"`
	ServiceLocalEndpointWeight uint8  `json:"serviceLocalEndpointWeight"`
}

// NodeOf is what an agent says of its node. It runs between two of the agent's steps.
func NodeOf(a *agent.Agent) Node {
	facts, wiring, cfg := a.Node(), a.Mode(), a.Config()
	n := Node{
		NodeIP: facts.Address, HostIPs: append([]netip.Addr{}, a.HostAddrs()...), OtherPhysicalIfs: []string{}, // JSON has lists, not null
		MainPhysicalIf: facts.NIC, HostInterconnectIf: wiring.InterconnectName(), MainVrfID: wiring.MainTable, PodVrfID: wiring.PodTable,
		TCPstackDisabled: cfg.TCPstackDisabled, STNMode: facts.Stolen.Has(), NatExternalTraffic: wiring.NAT.External,
		CleanupIdleNATSessions: cfg.CleanupIdleNATSessions, TCPNATSessionTimeout: cfg.TCPNATSessionTimeout,
		OtherNATSessionTimeout: cfg.OtherNATSessionTimeout, ServiceLocalEndpointWeight: cfg.ServiceLocalEndpointWeight,
	}
	if plan, known := a.Ranges(); known {
		n.PodSubnet = plan.PodSubnet
		n.PodNetwork = PodNetwork(a.Blocks(), plan.PodSubnet.Addr().Is6())
	}
	if n.PodNetwork.IsValid() {
		n.NatLoopback = agent.LoopbackOf(n.PodNetwork)
	}
	if wiring.Overlay() {
		n.VxlanBVIIf = mode.BVIName
	}
	for _, o := range facts.Others {
		n.OtherPhysicalIfs = append(n.OtherPhysicalIfs, o.Name)
	}
	if name, addr := facts.DefaultInterface(); addr.IsValid() {
		n.DefaultIf, n.DefaultIfAddress = name, addr
	}
	return n
}

// PodNetwork is the block of a family that a node gives addresses from, zero without one. Active blocks come first in
// what an agent lists.
func PodNetwork(blocks []ipam.Block, ip6 bool) netip.Prefix {
	for _, b := range blocks {
		if !b.Draining && b.Prefix.Addr().Is6() == ip6 {
			return b.Prefix
		}
	}
	return netip.Prefix{}
}
