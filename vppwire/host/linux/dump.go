package linux

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/vppdrill/vppdrill/vppwire"
)

// Dump implements vppwire.Linux. The kernel's own link-local addresses and routes, and routes that are not unicast over
// one link, are left out.
func (h *Host) Dump(netns string) (vppwire.LinuxState, error) {
	p, err := h.at(netns)
	if err != nil {
		return vppwire.LinuxState{}, err
	}
	defer p.close()
	var s vppwire.LinuxState
	if p.own {
		if s.MemifFolders, err = h.memifFolders(); err != nil {
			return s, err
		}
	}
	names := map[int]string{}
	if err := h.dumpLinks(p, &s, names); err != nil {
		return s, fmt.Errorf("links of %s: %w", p, err)
	}
	for _, family := range [...]int{netlink.FAMILY_V4, netlink.FAMILY_V6} {
		if err := p.dumpRoutes(&s, names, family); err != nil {
			return s, fmt.Errorf("routes of %s: %w", p, err)
		}
		if err := p.dumpNeighbors(&s, names, family); err != nil {
			return s, fmt.Errorf("neighbors of %s: %w", p, err)
		}
	}
	slices.SortStableFunc(s.Routes, func(a, b vppwire.HostRoute) int {
		return cmp.Or(cmp.Compare(a.Link, b.Link), comparePrefixes(a.Dst, b.Dst), a.Via.Compare(b.Via))
	})
	slices.SortFunc(s.Neighbors, func(a, b vppwire.LinuxNeighbor) int {
		return cmp.Or(cmp.Compare(a.Link, b.Link), a.Addr.Compare(b.Addr))
	})
	return s, nil
}

// dumpTries is how often a dump that a change has interrupted is begun anew. Each try needs a change at the very
// moment.
const dumpTries = 20

// whole repeats a dump until it was not interrupted.
func whole[T any](dump func() ([]T, error)) (list []T, err error) {
	for range dumpTries {
		if list, err = dump(); !errors.Is(err, netlink.ErrDumpInterrupted) {
			return list, err
		}
	}
	return nil, err
}

func (h *Host) dumpLinks(p *place, s *vppwire.LinuxState, names map[int]string) error {
	links, err := whole(p.LinkList)
	if err != nil {
		return err
	}
	addrs, err := whole(func() ([]netlink.Addr, error) { return p.AddrList(nil, netlink.FAMILY_ALL) })
	if err != nil {
		return err
	}
	byIndex := map[int][]netip.Prefix{}
	for _, a := range addrs {
		if prefix, ok := fromIPNet(a.IPNet); ok && !prefix.Addr().IsLinkLocalUnicast() {
			byIndex[a.LinkIndex] = append(byIndex[a.LinkIndex], prefix)
		}
	}
	var veths []string
	for _, l := range links {
		a := l.Attrs()
		if a.Flags&net.FlagLoopback != 0 {
			continue
		}
		names[a.Index] = a.Name
		if l.Type() == "veth" {
			veths = append(veths, a.Name)
		}
	}
	off, err := p.offloadOff(veths)
	if err != nil {
		return err
	}
	own, err := p.ownARP(names)
	if err != nil {
		return err
	}
	for _, l := range links {
		a := l.Attrs()
		if names[a.Index] == "" {
			continue
		}
		link := vppwire.LinuxLink{Name: a.Name, Type: l.Type(), MTU: uint32(a.MTU), Up: a.Flags&net.FlagUp != 0,
			OffloadOff: off[a.Name], OwnARP: own[a.Name], Addrs: byIndex[a.Index]}
		copy(link.MAC[:], a.HardwareAddr)
		switch link.Type {
		case "tuntap":
			link.Type = "tun"
		case "veth":
			link.Peer, link.PeerNetns = p.peer(a, names)
		case "macvlan":
			link.Parent = h.parent(p, a)
		}
		slices.SortFunc(link.Addrs, comparePrefixes)
		s.Links = append(s.Links, link)
	}
	slices.SortFunc(s.Links, func(a, b vppwire.LinuxLink) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

func (p *place) dumpRoutes(s *vppwire.LinuxState, names map[int]string, family int) error {
	routes, err := whole(func() ([]netlink.Route, error) {
		return p.RouteListFiltered(family, &netlink.Route{Table: unix.RT_TABLE_MAIN}, netlink.RT_FILTER_TABLE)
	})
	if err != nil {
		return err
	}
	for _, r := range routes {
		link, known := names[r.LinkIndex]
		if r.Type != unix.RTN_UNICAST || !known {
			continue
		}
		dst, ok := fromIPNet(r.Dst)
		if r.Dst == nil {
			dst, ok = netip.PrefixFrom(netip.IPv4Unspecified(), 0), true
			if family == netlink.FAMILY_V6 {
				dst = netip.PrefixFrom(netip.IPv6Unspecified(), 0)
			}
		}
		if !ok || dst.Addr().Is6() && (dst.Addr().IsLinkLocalUnicast() || dst.Addr().IsMulticast()) {
			continue
		}
		via, _ := netip.AddrFromSlice(r.Gw)
		s.Routes = append(s.Routes, vppwire.HostRoute{Netns: p.path, Dst: dst, Via: via.Unmap(), Link: link, Metric: metric(r.Priority, family)})
	}
	return nil
}

// metric is what a route's priority was given as: of IPv6 the kernel makes its default of 0 (IP6_RT_PRIO_USER).
func metric(priority, family int) uint32 {
	if family == netlink.FAMILY_V6 && priority == 1024 {
		return 0
	}
	return uint32(priority)
}

func (p *place) dumpNeighbors(s *vppwire.LinuxState, names map[int]string, family int) error {
	neighbors, err := whole(func() ([]netlink.Neigh, error) { return p.NeighList(0, family) })
	if err != nil {
		return err
	}
	for _, n := range neighbors {
		link, known := names[n.LinkIndex]
		addr, ok := netip.AddrFromSlice(n.IP)
		if !known || !ok || n.State&netlink.NUD_PERMANENT == 0 || len(n.HardwareAddr) != 6 {
			continue
		}
		s.Neighbors = append(s.Neighbors, vppwire.LinuxNeighbor{Link: link, Addr: addr.Unmap(), MAC: vppwire.MAC(n.HardwareAddr)})
	}
	return nil
}

// fromIPNet reads an address with its length; false for what has none.
func fromIPNet(n *net.IPNet) (netip.Prefix, bool) {
	if n == nil {
		return netip.Prefix{}, false
	}
	addr, ok := netip.AddrFromSlice(n.IP)
	ones, bits := n.Mask.Size()
	if !ok || bits == 0 {
		return netip.Prefix{}, false
	}
	if addr = addr.Unmap(); addr.Is4() && bits == 128 {
		ones -= 96
	}
	return netip.PrefixFrom(addr, ones), true
}

func comparePrefixes(a, b netip.Prefix) int {
	return cmp.Or(a.Addr().Compare(b.Addr()), cmp.Compare(a.Bits(), b.Bits()))
}
