package fact

import (
	"iter"
	"net/netip"

	"github.com/vppdrill/vppdrill/vppwire"
)

// VPP is the state of one VPP that laws and the packet walker read. The simulator reads the model's live tables, a lab
// dumps; neither copies more than is read.
type VPP interface {
	// Interfaces yields every interface in ascending index order, local0 included.
	Interfaces() iter.Seq[Interface]
	Interface(index uint32) (Interface, bool)
	// Route is the longest match for dst in a table, connected, local and default-drop entries included;
	// false where the table does not exist.
	Route(table uint32, dst netip.Addr) (Route, bool)
	// Routes yields a table's API routes in ascending prefix order.
	Routes(table uint32) iter.Seq[Route]
	// Tables yields table IDs (IPv4 and IPv6 share IDs) in ascending order.
	Tables() iter.Seq[uint32]
	// Neighbor finds the MAC of an address on an interface.
	Neighbor(index uint32, addr netip.Addr) (vppwire.MAC, bool)
	// Neighbors yields static neighbours in ascending (index, address) order, those on dead interfaces included.
	Neighbors() iter.Seq[Neighbor]
	// Admits reports whether an interface that is guarded in an address's family takes packets from the address in frames
	// from a MAC.
	Admits(index uint32, mac vppwire.MAC, addr netip.Addr) bool
	// Sources yields what a guarded interface admits, in ascending address order.
	Sources(index uint32) iter.Seq[Source]
	// ACLs are the rules for what comes in by an interface, or leaves by it, in the order in which they are asked; false
	// where everything passes. What no rule is about does not pass.
	ACLs(index uint32, leaving bool) ([]ACLRule, bool)
	// STN finds the interface by which packets for an address of VPP's own leave that nothing in VPP takes, in frames for
	// vppwire.STNMAC; false where no rule is about the address.
	STN(addr netip.Addr) (index uint32, ok bool)
	// ProxiesARP reports whether VPP answers ARP requests for an address of another by an interface.
	ProxiesARP(index uint32, addr netip.Addr) bool
	// NAT is how packets are translated; false where they are not.
	NAT() (NAT, bool)
	// Bridge returns a bridge domain with its members in ascending index order; ^0 is VPP's own, of which a view may know
	// nothing.
	Bridge(id uint32) (Bridge, bool)
	// Bridges yields bridge domain IDs in ascending order.
	Bridges() iter.Seq[uint32]
	// FIB finds what a bridge domain does with a MAC.
	FIB(bridge uint32, mac vppwire.MAC) (FIBEntry, bool)
	// FIBs yields static L2 FIB entries in ascending (bridge, MAC) order.
	FIBs() iter.Seq[FIBEntry]
	// Tunnel finds the VXLAN tunnel that decapsulates a packet from remote to local: its Src is local, its Dst remote. Of
	// several, which differ in EncapTable, it is any.
	Tunnel(local, remote netip.Addr, vni uint32) (index uint32, ok bool)
}

// Interface is one VPP interface.
type Interface struct {
	Index uint32
	// Name is VPP's name: local0, loop0, tap3, host-vd01, vxlan_tunnel4, GigabitEthernet0/8/0.
	Name, Tag string
	Type      InterfaceType
	Up        bool
	MAC       vppwire.MAC
	// MTU limits packets of every family, in bytes of the IP packet; MTU4 and MTU6 those of IPv4 and IPv6, where they are
	// not 0.
	MTU, MTU4, MTU6 uint32
	// LinkMTU is what the device itself carries, in bytes of the IP packet; 0 where it is not known.
	LinkMTU uint32
	// Table4 and Table6 are the tables it is bound to.
	Table4, Table6 uint32
	Addrs          []netip.Prefix
	// Unnumbered is the index of the interface whose addresses it borrows; only with HasUnnumbered.
	Unnumbered    uint32
	HasUnnumbered bool
	// Guarded: it takes only the IPv4 packets whose source it admits; in a bridge domain, nothing but such packets.
	// Guarded6: the same of IPv6 packets, of an interface that routes.
	Guarded, Guarded6 bool
	// NAT is what NAT does with its packets.
	NAT NATSides
	// Bridge is the bridge domain it is a member of, 0 for none, ^0 for VPP's own; BVI whether as its virtual interface;
	// SHG its split horizon group.
	Bridge uint32
	BVI    bool
	SHG    uint8
	// Unlisted: it takes frames for a bridge domain that does not list it as a member, such as its port for unknown
	// unicast.
	Unlisted bool
	// Host is the Linux end: the tap's device, the device that an AF_PACKET interface sits on or that stands in for a NIC,
	// with its namespace. Of a memif it is the link by which the view shows the stack of the program that is connected, empty
	// while there is none.
	Host, HostNetns string
	// Src, Dst, VNI and EncapTable are set for VXLAN tunnels.
	Src, Dst   netip.Addr
	VNI        uint32
	EncapTable uint32
}

// InterfaceType is a kind of VPP interface.
type InterfaceType uint8

// Kinds of interfaces. TypeNIC is any physical or hypervisor interface.
const (
	TypeLocal InterfaceType = iota + 1
	TypeNIC
	TypeLoopback
	TypeTap
	TypeAFPacket
	TypeVXLAN
	TypeMemif
)

// Route is one entry of a VPP table, reduced to one path.
type Route struct {
	Table  uint32
	Prefix netip.Prefix
	Action RouteAction
	// Via is the next hop of ActionForward; the zero Addr is an attached (glean) route.
	Via netip.Addr
	// Index is the interface of ActionForward and ActionLocal; ^0 for a recursive next hop.
	Index uint32
	// Lookup is the table of ActionLookup, and the one that a recursive next hop is looked up in.
	Lookup uint32
	// API reports whether the route came through the API, else from an interface address or a neighbour.
	API bool
}

// RouteAction is what a route does with a packet.
type RouteAction uint8

// What a route does.
const (
	ActionDrop RouteAction = iota + 1
	ActionForward
	ActionLocal
	ActionLookup
)

// Neighbor is one static neighbour entry.
type Neighbor struct {
	Index uint32
	Addr  netip.Addr
	MAC   vppwire.MAC
}

// Source is who may send through a guarded interface as whom.
type Source struct {
	Addr netip.Addr
	MAC  vppwire.MAC
}

// Bridge is one bridge domain.
type Bridge struct {
	ID                                      uint32
	Learn, Flood, UUFlood, Forward, ARPTerm bool
	// ARPUnknown: ARP requests go to the port for unknown unicast instead of being flooded.
	ARPUnknown bool
	// Unknown is the interface that gets unknown unicast instead of all members; only with HasUnknown.
	Unknown    uint32
	HasUnknown bool
	Members    []BridgeMember
}

// BridgeMember is one interface of a bridge domain.
type BridgeMember struct {
	Index uint32
	BVI   bool
	SHG   uint8
}

// FIBEntry is one L2 FIB entry.
type FIBEntry struct {
	Bridge uint32
	MAC    vppwire.MAC
	// Index is the interface that frames go to.
	Index uint32
	BVI   bool
	// Static: it does not age and does not move when the MAC is heard elsewhere. Filter: frames to the MAC are dropped.
	Static, Filter bool
}

// Linux is what laws and the packet walker may ask of one machine's Linux side. The empty namespace is the host's own.
type Linux interface {
	Link(netns, name string) (vppwire.LinuxLink, bool)
	Links(netns string) iter.Seq[vppwire.LinuxLink]
	// Route is the longest match in a namespace's main table, connected routes included.
	Route(netns string, dst netip.Addr) (vppwire.HostRoute, bool)
	// Routes yields a namespace's routes in any order, connected ones perhaps left out; none where the namespace is not
	// there.
	Routes(netns string) iter.Seq[vppwire.HostRoute]
	// Neighbor finds a permanent neighbour entry.
	Neighbor(netns, link string, addr netip.Addr) (vppwire.MAC, bool)
	// Local finds the link that holds addr itself.
	Local(netns string, addr netip.Addr) (link string, ok bool)
	// Namespaces yields existing namespaces except the host's, in ascending order.
	Namespaces() iter.Seq[string]
	// MemifFolders are the paths of folders with memif sockets that the agent has made, in ascending order.
	MemifFolders() []string
}
