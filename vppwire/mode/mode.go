package mode

import "net/netip"

// Config chooses the modes, Pod and Node always. The same on every node of a cluster.
type Config struct {
	Pod  PodMode
	Node NodeMode
	Host HostMode
	// MTU in bytes of pods' and the interconnect's links, 0 leaves the defaults.
	MTU uint32
	// MainTable and PodTable are VRF IDs; they differ.
	MainTable, PodTable uint32
	// RxRing and TxRing are tap ring sizes, powers of two up to 32768, 0 for VPP's default (256).
	RxRing, TxRing uint16
	// OutsideByHost sends what nothing else leads to, services, the outside and other nodes' hosts, to the host's Linux,
	// where no gateway is.
	OutsideByHost bool
	// KeepOffload leaves TX checksum offload of pods' veths on.
	KeepOffload bool
	// ScanNeighbors makes VPP age out neighbors after StaleMinutes; otherwise they do not age.
	ScanNeighbors bool
	StaleMinutes  uint8
	// MemifFolder is the absolute path of the folder that has a folder for each pod with memifs; empty: no pod may have any.
	MemifFolder string
	// NAT is needed where VPP serves services; it takes a host interconnect.
	NAT NAT
}

// Node is what is known about this node.
type Node struct {
	ID uint32
	// Address is the interconnect address with its subnet's length; VXLAN the BVI's.
	Address netip.Prefix
	VXLAN   netip.Prefix
	// DHCP: VPP leases the address on the NIC, and tells the server Hostname.
	DHCP     bool
	Hostname string
	// NIC is VPP's name of the main physical interface; empty: the address goes on a loopback.
	NIC string
	// Others are its further physical interfaces, as far as VPP has them.
	Others []OtherNIC
	// Stolen is what the host had on the NIC, where VPP has the host's only one. HostSubnet, HostVPP and HostLinux are zero
	// then.
	Stolen Stolen
	// Gateway of the main VRF's default route; zero for none.
	Gateway netip.Addr
	// PodSubnets and HostSubnets are the cluster-wide ranges, the current one first, draining ones behind.
	PodSubnets, HostSubnets []netip.Prefix
	// HostSubnet is this node's part of the VPP-host range; HostVPP and HostLinux its two ends.
	HostSubnet         netip.Prefix
	HostVPP, HostLinux netip.Addr
	// Gateways are this node's pod blocks, each written as its gateway with the block's length (10.1.1.1/24), draining
	// ones behind.
	Gateways []netip.Prefix
	// Blocks are those of this node's pod blocks whose gateway lies outside of them (AWS' 169.254.1.1).
	Blocks []netip.Prefix
	// PodIf, where valid, is the range from which each pod interface of VPP has an address of its own (Pod.VPPEnd), as
	// upstream first did. Otherwise pod interfaces borrow the gateway's address, which is then real and answers.
	PodIf netip.Prefix
	// Services is the range of the cluster's services where VPP serves them; else the zero Prefix.
	Services netip.Prefix
	// HostAddrs are the addresses of the host's own links, of the node's family.
	HostAddrs []netip.Addr
	// Second is the node with what it has of the second family, in clusters of two; else nil. Tunnels are made of the
	// first one's addresses and carry both.
	Second *Node
}

// Peer is another node.
type Peer struct {
	ID uint32
	// Address is its interconnect address, VXLAN its BVI address.
	Address, VXLAN netip.Addr
	PodNetworks    []netip.Prefix
	HostSubnet     netip.Prefix
	Management     []netip.Addr
	// Second is the same of the second family, nil where the peer has none.
	Second *Peer
}

// Pod is one attachment.
type Pod struct {
	Container, IfName, Netns string
	// Namespace and Name are the pod's, for the interface tag.
	Namespace, Name string
	Addr, Gateway   netip.Addr
	// SecondAddr and SecondGateway are of the second family; zero where the pod has one address.
	SecondAddr, SecondGateway netip.Addr
	// VPPEnd is the address of VPP's end of the pod's interface where Node.PodIf is valid, unlike any other pod's of the
	// node.
	VPPEnd netip.Addr
	// Number is unique among the node's attachments, 1 to PodNumberMax; taps are numbered by it.
	Number uint32
	// Memif: the pod has a program of its own at the end of a memif instead of a Linux link.
	Memif Memif
	// UID is the pod's in Kubernetes; only with Memif.
	UID string
	// Filter is nil where everything passes. Pods that share an interface have none.
	Filter *Filter
}

// PodNumberMax is VPP's highest tap number (25.10, src/vnet/devices/tap/tap.c); 0 is the host interconnect's.
const PodNumberMax = 8192
