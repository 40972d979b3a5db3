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
	// ErrForeignFile: a folder or socket of somebody else is where ours should be.
	ErrForeignFile = errors.New("somebody else's file is in the way")
)

// LinuxOp is one change of a Linux host, passed by value. Each is beside the kind of object that it changes.
type LinuxOp interface{ linuxOp() }

// HostRoute is a route of a Linux namespace's main table. A zero Via is a link-scope route.
type HostRoute struct {
	Netns string
	Dst   netip.Prefix
	Via   netip.Addr
	Link  string
	// Metric is the route's priority, lower ones first; a destination may have one route of each. Of IPv6 the kernel
	// makes 1024 of 0, and a dump tells 0.
	Metric uint32
}

// LinuxState is what one namespace holds.
type LinuxState struct {
	Links     []LinuxLink
	Routes    []HostRoute
	Neighbors []LinuxNeighbor
	// MemifFolders are the paths of folders with memif sockets, of the host's own namespace alone.
	MemifFolders []string
}

// Source is the first address of the link of a route without a next hop, by which the host speaks to what it leads to; invalid for none.
func (s LinuxState) Source(r HostRoute) netip.Addr {
	for _, l := range s.Links {
		if l.Name == r.Link && len(l.Addrs) > 0 && !r.Via.IsValid() {
			return l.Addrs[0].Addr()
		}
	}
	return netip.Addr{}
}

// LinuxLink is one link of a namespace with its addresses.
type LinuxLink struct {
	Name string
	// Type is the kernel's kind: "veth", "tun" (a tap of VPP's), "macvlan", "device".
	Type string
	// Peer is the other end of a veth pair; PeerNetns its namespace, where known.
	Peer, PeerNetns string
	// Parent is the link of the host's own namespace that a macvlan sits on, where known.
	Parent     string
	MAC        MAC
	MTU        uint32
	Up         bool
	OffloadOff bool
	// OwnARP: the link answers ARP requests for its own addresses only, not for those of the host's other links.
	OwnARP bool
	Addrs  []netip.Prefix
}

// LinuxNeighbor is one permanent neighbour entry.
type LinuxNeighbor struct {
	Link string
	Addr netip.Addr
	MAC  MAC
}
