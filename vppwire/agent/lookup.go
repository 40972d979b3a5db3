package agent

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/mode"
)

// API is what other parts of a program may ask the agent; the names are contiv/vpp's, the types netip's. All calls are made
// on the driver's goroutine, between Steps or from hooks.
type API interface {
	GetIfName(podNamespace, podName string) (name string, exists bool)
	GetNsIndex(podNamespace, podName string) (nsIndex uint32, exists bool)
	GetPodByIf(ifname string) (podNamespace, podName string, exists bool)
	GetPodByAppNsIndex(nsIndex uint32) (podNamespace, podName string, exists bool)
	GetPodSubnet() netip.Prefix
	GetPodNetwork() netip.Prefix
	GetContainerIndex() ContainerIndex
	IsTCPstackDisabled() bool
	InSTNMode() bool
	NatExternalTraffic() bool
	CleanupIdleNATSessions() bool
	GetTCPNATSessionTimeout() uint32
	GetOtherNATSessionTimeout() uint32
	GetServiceLocalEndpointWeight() uint8
	GetNatLoopbackIP() netip.Addr
	GetNodeIP() netip.Prefix
	GetHostIPs() []netip.Addr
	WatchNodeIP(subscriber func(netip.Prefix))
	GetMainPhysicalIfName() string
	GetOtherPhysicalIfNames() []string
	GetHostInterconnectIfName() string
	GetVxlanBVIIfName() string
	GetDefaultInterface() (ifName string, ifAddress netip.Addr)
	RegisterPodPreRemovalHook(hook PodActionHook)
	RegisterPodPostAddHook(hook PodActionHook)
	GetMainVrfID() uint32
	GetPodVrfID() uint32
}

var _ API = (*Agent)(nil)

// GetIfName is the VPP name of the interface of the pod's newest sandbox; false for a pod that is not wired here.
func (a *Agent) GetIfName(podNamespace, podName string) (name string, exists bool) {
	for _, t := range a.GetContainerIndex().of(func(t *attachment) bool {
		return t.sandbox.PodNamespace == podNamespace && t.sandbox.PodName == podName && t.iface != ""
	}) {
		if !exists || !t.removing() {
			name, exists = t.iface, true
		}
	}
	return name, exists
}

// GetNsIndex always says false: pods are not wired to VPP's TCP stack, so they have no application namespace.
func (a *Agent) GetNsIndex(string, string) (nsIndex uint32, exists bool) { return 0, false }

// GetPodByIf is the pod behind a VPP interface name; false unless there is exactly one.
func (a *Agent) GetPodByIf(ifname string) (podNamespace, podName string, exists bool) {
	found := a.GetContainerIndex().of(func(t *attachment) bool { return t.iface == ifname && ifname != "" })
	if len(found) != 1 {
		return "", "", false
	}
	return found[0].sandbox.PodNamespace, found[0].sandbox.PodName, true
}

// GetPodByAppNsIndex always says false, as GetNsIndex.
func (a *Agent) GetPodByAppNsIndex(uint32) (podNamespace, podName string, exists bool) {
	return "", "", false
}

// GetPodSubnet is the range that all nodes' pods get addresses from; zero while unknown.
func (a *Agent) GetPodSubnet() netip.Prefix { return a.ranges.plan.PodSubnet }

// GetPodNetwork is the block that this node gives addresses from; zero while there is none. With several, the first.
func (a *Agent) GetPodNetwork() netip.Prefix {
	if active := a.activeBlocks(); len(active) > 0 {
		return active[0]
	}
	return netip.Prefix{}
}

// IsTCPstackDisabled is always true here: Validate refuses anything else.
func (a *Agent) IsTCPstackDisabled() bool { return a.cfg.TCPstackDisabled }

// InSTNMode is always false here: Validate refuses the mode.
func (a *Agent) InSTNMode() bool { return false }

// NatExternalTraffic is always false here: Validate refuses it.
func (a *Agent) NatExternalTraffic() bool { return a.cfg.NatExternalTraffic }

// CleanupIdleNATSessions is always false here: Validate refuses it.
func (a *Agent) CleanupIdleNATSessions() bool { return a.cfg.CleanupIdleNATSessions }

// GetTCPNATSessionTimeout is the configured timeout in minutes.
func (a *Agent) GetTCPNATSessionTimeout() uint32 { return a.cfg.TCPNATSessionTimeout }

// GetOtherNATSessionTimeout is the configured timeout in minutes.
func (a *Agent) GetOtherNATSessionTimeout() uint32 { return a.cfg.OtherNATSessionTimeout }

// GetServiceLocalEndpointWeight is the configured weight.
func (a *Agent) GetServiceLocalEndpointWeight() uint8 { return a.cfg.ServiceLocalEndpointWeight }

// GetNatLoopbackIP is the last unicast address of the node's first block, which no pod gets; zero while there is none.
func (a *Agent) GetNatLoopbackIP() netip.Addr {
	block := a.GetPodNetwork()
	if !block.IsValid() {
		return netip.Addr{}
	}
	return loopbackOf(block)
}

// GetNodeIP is the node's interconnect address with its subnet's length; zero while unknown.
func (a *Agent) GetNodeIP() netip.Prefix { return a.node.Address }

// GetHostIPs are the addresses of the host's own links as last told. The slice is the caller's.
func (a *Agent) GetHostIPs() []netip.Addr { return slices.Clone(a.hosts) }

// GetMainPhysicalIfName is VPP's name of the NIC that carries the node's address; empty where a loopback does.
func (a *Agent) GetMainPhysicalIfName() string { return a.node.NIC }

// GetOtherPhysicalIfNames is empty: only the main interface is wired.
func (a *Agent) GetOtherPhysicalIfNames() []string { return nil }

// GetHostInterconnectIfName is VPP's name of the interface towards the host; empty without one.
func (a *Agent) GetHostInterconnectIfName() string { return a.wires.InterconnectName() }

// GetVxlanBVIIfName is VPP's name of the interface towards the tunnels; empty with a layer 2 interconnect.
func (a *Agent) GetVxlanBVIIfName() string {
	if a.wires.Node == mode.NodeL2 {
		return ""
	}
	return mode.BVIName
}

// GetDefaultInterface is the interface of the default route and its address: the main NIC where the default gateway is in
// its subnet, else nothing.
func (a *Agent) GetDefaultInterface() (ifName string, ifAddress netip.Addr) {
	n := &a.node
	if n.NIC == "" || !n.Gateway.IsValid() || !n.Address.Masked().Contains(n.Gateway) {
		return "", netip.Addr{}
	}
	return n.NIC, n.Address.Addr()
}

// GetMainVrfID is the table of the node's own interfaces.
func (a *Agent) GetMainVrfID() uint32 { return a.wires.MainTable }

// GetPodVrfID is the table of the pods.
func (a *Agent) GetPodVrfID() uint32 { return a.wires.PodTable }

// Container is one attachment as the container index shows it.
type Container struct {
	// ID is the container ID.
	ID                    string
	PodNamespace, PodName string
	IfName, Netns         string
	// VPPIfName is empty until the attachment is wired.
	VPPIfName string
	Addr      netip.Addr
	MAC       vppwire.MAC
}

// ContainerIndex reads the node's attachments; lists are in owner order and the caller's. It shows the present state, not
// that of when it was asked for.
type ContainerIndex struct{ a *Agent }

// GetContainerIndex exposes what is attached.
func (a *Agent) GetContainerIndex() ContainerIndex { return ContainerIndex{a} }

// of lists the attachments that hold an address and that fit.
func (x ContainerIndex) of(fits func(*attachment) bool) []*attachment {
	return slices.DeleteFunc(x.a.pods.inBooks(), func(t *attachment) bool { return !fits(t) })
}

func (x ContainerIndex) list(fits func(*attachment) bool) []Container {
	var out []Container
	for _, t := range x.of(fits) {
		s := &t.sandbox
		mac, _ := mode.PodMACs(s.Owner.ContainerID, s.Owner.IfName)
		out = append(out, Container{ID: s.Owner.ContainerID, PodNamespace: s.PodNamespace, PodName: s.PodName,
			IfName: s.Owner.IfName, Netns: s.Netns, VPPIfName: t.iface, Addr: t.lease.Addr, MAC: mac})
	}
	return out
}

// LookupContainer finds the attachments of one container, usually one.
func (x ContainerIndex) LookupContainer(id string) []Container {
	return x.list(func(t *attachment) bool { return t.sandbox.Owner.ContainerID == id })
}

// LookupPodName finds the containers of pods of that name in any namespace.
func (x ContainerIndex) LookupPodName(name string) []Container {
	return x.list(func(t *attachment) bool { return t.sandbox.PodName == name })
}

// LookupPodNamespace finds the containers of a namespace's pods.
func (x ContainerIndex) LookupPodNamespace(namespace string) []Container {
	return x.list(func(t *attachment) bool { return t.sandbox.PodNamespace == namespace })
}

// LookupPodIf finds the containers behind a VPP interface name.
func (x ContainerIndex) LookupPodIf(ifname string) []Container {
	return x.list(func(t *attachment) bool { return t.iface == ifname && ifname != "" })
}

// ListAll lists everything.
func (x ContainerIndex) ListAll() []Container { return x.list(func(*attachment) bool { return true }) }
