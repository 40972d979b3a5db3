package vppwire

import (
	"errors"
	"net/netip"
)

// Linux is what a Session needs from a Linux host. The real one speaks netlink (vppwire/host); the modelled one is
// sim/hostmodel. Namespaces are named by absolute path as CNI passes them; the empty name is the host's own.
type Linux interface {
	// Apply performs one operation. Its error wraps one of the sentinels below where one fits.
	Apply(op LinuxOp) error
	// Dump lists what a namespace holds, loopback left out. Ordered by name, then address.
	Dump(netns string) (LinuxState, error)
}

// Errors of Linux, after the kernel's EEXIST, ENOENT/ENODEV/ESRCH, and a namespace that cannot be opened.
var (
	ErrLinuxExists  = errors.New("already exists")
	ErrLinuxMissing = errors.New("does not exist")
	ErrNoNamespace  = errors.New("no such network namespace")
)

// LinuxOp is one change of a Linux host: one of the types below, passed by value.
type LinuxOp interface{ linuxOp() }

// VethAdd creates a veth pair, both ends down. Name lives in Netns, Peer in PeerNetns. A zero MAC lets the kernel choose.
// Exists already (either end): ErrLinuxExists. Deleting either end deletes both.
type VethAdd struct {
	Netns, Name     string
	PeerNetns, Peer string
	MAC, PeerMAC    MAC
}

// LinkDel deletes a link. A namespace that is gone is success: its links went with it.
type LinkDel struct{ Netns, Name string }

// LinkSet changes a link: Up always, MTU where not 0 (bytes), MAC where not zero.
type LinkSet struct {
	Netns, Name string
	Up          bool
	MTU         uint32
	MAC         MAC
}

// OffloadSet switches TX checksum and segmentation offload of a link.
type OffloadSet struct {
	Netns, Name string
	Off         bool
}

// AddrAdd puts an address on a link; AddrDel takes it away.
type (
	AddrAdd struct {
		Netns, Link string
		Addr        netip.Prefix
	}
	AddrDel struct {
		Netns, Link string
		Addr        netip.Prefix
	}
)

// HostRoute is a route of a Linux namespace's main table. A zero Via is a link-scope route.
type HostRoute struct {
	Netns string
	Dst   netip.Prefix
	Via   netip.Addr
	Link  string
}

// RouteSet adds or replaces the route to Dst; RouteDel removes it. Via must be reachable by a route that exists
// (else ErrLinuxMissing, as the kernel's ENETUNREACH).
type (
	RouteSet struct{ Route HostRoute }
	RouteDel struct{ Route HostRoute }
)

// NeighSet adds or replaces a permanent neighbour entry; NeighDel removes it.
type (
	NeighSet struct {
		Netns, Link string
		Addr        netip.Addr
		MAC         MAC
	}
	NeighDel struct {
		Netns, Link string
		Addr        netip.Addr
	}
)

func (VethAdd) linuxOp()    {}
func (LinkDel) linuxOp()    {}
func (LinkSet) linuxOp()    {}
func (OffloadSet) linuxOp() {}
func (AddrAdd) linuxOp()    {}
func (AddrDel) linuxOp()    {}
func (RouteSet) linuxOp()   {}
func (RouteDel) linuxOp()   {}
func (NeighSet) linuxOp()   {}
func (NeighDel) linuxOp()   {}

// LinuxState is what one namespace holds.
type LinuxState struct {
	Links     []LinuxLink
	Routes    []HostRoute
	Neighbors []LinuxNeighbor
}

// LinuxLink is one link of a namespace with its addresses.
type LinuxLink struct {
	Name string
	// Type is the kernel's kind: "veth", "tun" (a tap of VPP's), "device".
	Type string
	// Peer is the other end of a veth pair; PeerNetns its namespace, where known.
	Peer, PeerNetns string
	MAC             MAC
	MTU             uint32
	Up              bool
	OffloadOff      bool
	Addrs           []netip.Prefix
}

// LinuxNeighbor is one permanent neighbour entry.
type LinuxNeighbor struct {
	Link string
	Addr netip.Addr
	MAC  MAC
}
