package contiv

import (
	"net"

	"github.com/vppdrill/vppdrill/vppwire/host/contiv/containeridx"
)

// API is contiv/vpp's API for other plugins to query network-related information.
type API interface {
	// GetIfName is VPP's name of the interface of a pod's newest sandbox; false for a pod that is not wired here. Pods wired by
	// macvlan share one.
	GetIfName(podNamespace string, podName string) (name string, exists bool)
	// GetNsIndex is false always: a pod has no VPP session namespace.
	GetNsIndex(podNamespace string, podName string) (nsIndex uint32, exists bool)
	// GetPodByIf is the pod behind a VPP interface; false unless there is exactly one.
	GetPodByIf(ifname string) (podNamespace string, podName string, exists bool)
	// GetPodByAppNsIndex is false always, as GetNsIndex.
	GetPodByAppNsIndex(nsIndex uint32) (podNamespace string, podName string, exists bool)
	// GetPodSubnet is the range of all nodes' pods, nil while none is known.
	GetPodSubnet() *net.IPNet
	// GetPodNetwork is the block that this node gives addresses from, nil while there is none. Of several it is the first.
	GetPodNetwork() *net.IPNet
	// GetContainerIndex is the index of wired containers.
	GetContainerIndex() containeridx.Reader
	// IsTCPstackDisabled is true always.
	IsTCPstackDisabled() bool
	// InSTNMode is whether VPP has the node's only NIC, which it took from the host.
	InSTNMode() bool
	// NatExternalTraffic is whether what pods send to the outside gets the node's address.
	NatExternalTraffic() bool
	// CleanupIdleNATSessions is whether idle NAT sessions end.
	CleanupIdleNATSessions() bool
	// GetTCPNATSessionTimeout and GetOtherNATSessionTimeout are in minutes; they count with CleanupIdleNATSessions.
	GetTCPNATSessionTimeout() uint32
	GetOtherNATSessionTimeout() uint32
	// GetServiceLocalEndpointWeight is the weight of a node's own endpoints against 1 of others.
	GetServiceLocalEndpointWeight() uint8
	// GetNatLoopbackIP is the address of the node's block that is kept for NAT, nil while there is no block.
	GetNatLoopbackIP() net.IP
	// GetNodeIP is the node's address with its subnet, nil while unknown. It may change: see WatchNodeIP.
	GetNodeIP() (ip net.IP, network *net.IPNet)
	// GetHostIPs are the addresses of the host's own links.
	GetHostIPs() []net.IP
	// WatchNodeIP has each change of the node's address sent to subscriber as ADDRESS/LENGTH, until UnwatchNodeIP. What a channel
	// is not ready to take is dropped. The present address is not sent.
	WatchNodeIP(subscriber chan string)
	// GetMainPhysicalIfName is VPP's name of the NIC that has the node's address; empty where a loopback has it.
	GetMainPhysicalIfName() string
	// GetOtherPhysicalIfNames are VPP's names of further NICs that are wired.
	GetOtherPhysicalIfNames() []string
	// GetHostInterconnectIfName is VPP's name of the interface towards the host; empty without one.
	GetHostInterconnectIfName() string
	// GetVxlanBVIIfName is VPP's name of the interface towards the tunnels; empty where nodes share a layer 2 segment.
	GetVxlanBVIIfName() string
	// GetDefaultInterface is the interface of the default route and its address; zero without a gateway, or while it is leased.
	GetDefaultInterface() (ifName string, ifAddress net.IP)
	// RegisterPodPreRemovalHook has hook run for each pod before anything of it is removed, in the order of registration, at
	// least once whatever restarts. It may block, and holds the DEL up meanwhile; its error is logged and changes nothing.
	RegisterPodPreRemovalHook(hook PodActionHook)
	// RegisterPodPostAddHook has hook run for each pod that is wired, before its ADD is answered, likewise.
	RegisterPodPostAddHook(hook PodActionHook)
	// GetMainVrfID is the VRF of the node's own interfaces, GetPodVrfID that of its pods.
	GetMainVrfID() uint32
	GetPodVrfID() uint32
}

// PodActionHook is called when something happens to a pod, on a goroutine of its own.
type PodActionHook func(podNamespace string, podName string) error
