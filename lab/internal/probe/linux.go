package probe

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"

	"github.com/vishvananda/netlink"
	vns "github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire"
)

// Linux dumps a node's Linux side by netlink: its own namespace and its pods'. open turns a namespace as the node calls
// it ("" is its own) into a path that this process can open. A namespace that is gone is left out, but not the node's
// own. hardware are links of the node's own that are its machine's, whatever they are made of. Offload is not looked
// at: TCP probes show whether it is right.
func Linux(open func(path string) string, pods, hardware []string) (fact.Linux, error) {
	h := &host{spaces: map[string]*space{}}
	for _, p := range append([]string{""}, pods...) {
		s, err := dumpSpace(p, open(p))
		if errors.Is(err, os.ErrNotExist) && p != "" {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("dump namespace %q: %w", open(p), err)
		}
		h.spaces[p] = s
	}
	h.pair()
	for i := range h.spaces[""].Links {
		if l := &h.spaces[""].Links[i]; slices.Contains(hardware, l.Name) {
			l.Type, l.Peer, l.PeerNetns = "device", "", ""
		}
	}
	return h, nil
}

// host is one node's namespaces at one moment.
type host struct{ spaces map[string]*space }

// space is one namespace: what vppwire calls its state, and what finds the other ends of veths.
type space struct {
	vppwire.LinuxState
	ends []vethEnd
	// children are macvlans with the indexes of their parents; names are links by index.
	children []vethEnd
	names    map[int]string
}

// vethEnd is one end of a pair. There is the other end's index, and whether it is in another namespace.
type vethEnd struct {
	link, index, there int
	abroad             bool
}

func dumpSpace(name, path string) (*space, error) {
	ns, err := vns.GetFromPath(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = ns.Close() }() // reading only
	nl, err := netlink.NewHandleAt(ns, unix.NETLINK_ROUTE)
	if err != nil {
		return nil, err
	}
	defer nl.Close()
	s := &space{}
	names, err := s.links(nl)
	if err != nil {
		return nil, err
	}
	s.names = names
	for _, family := range [...]int{netlink.FAMILY_V4, netlink.FAMILY_V6} {
		if err := s.paths(nl, name, family); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// paths are the routes and permanent neighbors of one family.
func (s *space) paths(nl *netlink.Handle, name string, family int) error {
	routes, err := again(func() ([]netlink.Route, error) {
		return nl.RouteListFiltered(family, &netlink.Route{Table: unix.RT_TABLE_MAIN}, netlink.RT_FILTER_TABLE)
	})
	if err != nil {
		return err
	}
	for _, r := range routes {
		everything := netip.IPv4Unspecified()
		if family == netlink.FAMILY_V6 {
			everything = netip.IPv6Unspecified()
		}
		out := vppwire.HostRoute{Netns: name, Dst: netip.PrefixFrom(everything, 0), Link: s.names[r.LinkIndex]}
		if r.Dst != nil {
			out.Dst = fromNet(r.Dst)
		}
		if a := out.Dst.Addr(); a.Is6() && (a.IsLinkLocalUnicast() || a.IsMulticast()) {
			continue // the kernel's own; 169.254.1.1 is the gateway of pods on AWS
		}
		if r.Gw != nil {
			via, _ := netip.AddrFromSlice(r.Gw)
			out.Via = via.Unmap()
		}
		if r.Type == unix.RTN_UNICAST && out.Link != "" {
			s.Routes = append(s.Routes, out)
		}
	}
	neighbors, err := again(func() ([]netlink.Neigh, error) { return nl.NeighList(0, family) })
	if err != nil {
		return err
	}
	for _, n := range neighbors {
		if n.State&netlink.NUD_PERMANENT == 0 || len(n.HardwareAddr) != 6 || s.names[n.LinkIndex] == "" {
			continue
		}
		addr, _ := netip.AddrFromSlice(n.IP)
		s.Neighbors = append(s.Neighbors, vppwire.LinuxNeighbor{Link: s.names[n.LinkIndex], Addr: addr.Unmap(), MAC: vppwire.MAC(n.HardwareAddr)})
	}
	return nil
}

// again repeats a dump that a change has interrupted.
func again[T any](dump func() ([]T, error)) (list []T, err error) {
	for range 20 {
		if list, err = dump(); !errors.Is(err, netlink.ErrDumpInterrupted) {
			break
		}
	}
	return list, err
}

func fromNet(n *net.IPNet) netip.Prefix {
	a, _ := netip.AddrFromSlice(n.IP)
	ones, _ := n.Mask.Size()
	return netip.PrefixFrom(a.Unmap(), ones)
}

func (s *space) links(nl *netlink.Handle) (map[int]string, error) {
	links, err := again(nl.LinkList)
	if err != nil {
		return nil, err
	}
	addrs, err := again(func() ([]netlink.Addr, error) { return nl.AddrList(nil, netlink.FAMILY_ALL) })
	if err != nil {
		return nil, err
	}
	names := map[int]string{}
	slices.SortFunc(links, func(a, b netlink.Link) int { return strings.Compare(a.Attrs().Name, b.Attrs().Name) })
	for _, l := range links {
		a := l.Attrs()
		if a.Flags&net.FlagLoopback != 0 {
			continue
		}
		names[a.Index] = a.Name
		out := vppwire.LinuxLink{Name: a.Name, Type: l.Type(), MTU: uint32(a.MTU), Up: a.Flags&net.FlagUp != 0}
		copy(out.MAC[:], a.HardwareAddr)
		if out.Type == "tuntap" {
			out.Type = "tun"
		}
		for _, addr := range addrs {
			if addr.LinkIndex == a.Index && !addr.IP.IsLinkLocalUnicast() {
				out.Addrs = append(out.Addrs, fromNet(addr.IPNet))
			}
		}
		slices.SortFunc(out.Addrs, func(a, b netip.Prefix) int { return cmp.Or(a.Addr().Compare(b.Addr()), a.Bits()-b.Bits()) })
		if out.Type == "veth" {
			s.ends = append(s.ends, vethEnd{link: len(s.Links), index: a.Index, there: a.ParentIndex, abroad: a.NetNsID >= 0})
		}
		if out.Type == "macvlan" {
			s.children = append(s.children, vethEnd{link: len(s.Links), there: a.ParentIndex, abroad: a.NetNsID >= 0})
		}
		s.Links = append(s.Links, out)
	}
	return names, nil
}

// pair finds the other end of each veth: in the same namespace, or between the node's own and a pod's. Indexes are
// unique within one namespace, so a pod's end names exactly one of the node's.
func (h *host) pair() {
	own := h.spaces[""]
	for path, s := range h.spaces { //vppdrill:unordered each namespace by itself
		for _, c := range s.children {
			if c.abroad == (path != "") { // a parent is looked for in the node's own namespace
				s.Links[c.link].Parent = own.names[c.there]
			}
		}
		for _, e := range s.ends {
			in, peerPath := s, path
			switch {
			case !e.abroad:
			case path != "":
				in, peerPath = own, ""
			default:
				continue // found from the pod's side
			}
			for _, p := range in.ends {
				if p.index != e.there || p.there != e.index || p.abroad != e.abroad {
					continue
				}
				s.Links[e.link].Peer, s.Links[e.link].PeerNetns = in.Links[p.link].Name, peerPath
				in.Links[p.link].Peer, in.Links[p.link].PeerNetns = s.Links[e.link].Name, path
			}
		}
	}
}

// at is a namespace's state; an unknown one is empty.
func (h *host) at(netns string) *space {
	if s := h.spaces[netns]; s != nil {
		return s
	}
	return &space{}
}

// Link implements fact.Linux.
func (h *host) Link(netns, name string) (vppwire.LinuxLink, bool) {
	for _, l := range h.at(netns).Links {
		if l.Name == name {
			return l, true
		}
	}
	return vppwire.LinuxLink{}, false
}

// Links implements fact.Linux.
func (h *host) Links(netns string) iter.Seq[vppwire.LinuxLink] {
	return slices.Values(h.at(netns).Links)
}

// Route implements fact.Linux: the kernel lists connected routes, so nothing is derived from addresses.
func (h *host) Route(netns string, dst netip.Addr) (vppwire.HostRoute, bool) {
	best, found := vppwire.HostRoute{}, false
	for _, r := range h.at(netns).Routes {
		if r.Dst.Contains(dst) && (!found || r.Dst.Bits() > best.Dst.Bits()) {
			best, found = r, true
		}
	}
	return best, found
}

// Routes yields a namespace's routes, connected ones included.
func (h *host) Routes(netns string) iter.Seq[vppwire.HostRoute] {
	return slices.Values(h.at(netns).Routes)
}

// Neighbor implements fact.Linux.
func (h *host) Neighbor(netns, link string, addr netip.Addr) (vppwire.MAC, bool) {
	for _, n := range h.at(netns).Neighbors {
		if n.Link == link && n.Addr == addr {
			return n.MAC, true
		}
	}
	return vppwire.MAC{}, false
}

// Local implements fact.Linux.
func (h *host) Local(netns string, addr netip.Addr) (string, bool) {
	for _, l := range h.at(netns).Links {
		for _, a := range l.Addrs {
			if a.Addr() == addr {
				return l.Name, true
			}
		}
	}
	return "", false
}

// Namespaces implements fact.Linux.
func (h *host) Namespaces() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, path := range slices.Sorted(maps.Keys(h.spaces)) {
			if path != "" && !yield(path) {
				return
			}
		}
	}
}

// MemifFolders implements fact.Linux.
func (h *host) MemifFolders() []string { return h.at("").MemifFolders }
