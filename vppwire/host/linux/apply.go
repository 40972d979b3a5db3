package linux

import (
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/vppdrill/vppdrill/vppwire"
)

// Apply implements vppwire.Linux.
func (h *Host) Apply(op vppwire.LinuxOp) error {
	switch op := op.(type) {
	case vppwire.VethAdd:
		return h.vethAdd(op)
	case vppwire.MacvlanAdd:
		return h.macvlanAdd(op)
	case vppwire.LinkDel:
		return h.linkDel(op)
	case vppwire.LinkSet:
		return h.on(op.Netns, op.Name, func(p *place, l netlink.Link) error { return linkSet(p, l, op) })
	case vppwire.OffloadSet:
		return h.on(op.Netns, op.Name, func(p *place, l netlink.Link) error { return p.setOffload(op.Name, !op.Off) })
	case vppwire.ARPSet:
		return h.on("", op.Link, func(p *place, _ netlink.Link) error { return p.setOwnARP(op.Link, op.Own) })
	case vppwire.AddrAdd:
		return h.on(op.Netns, op.Link, func(p *place, l netlink.Link) error {
			if err := p.enable6(op.Link, op.Addr); err != nil {
				return err
			}
			err := about(p.AddrAdd(l, address(op.Addr)), "address %s on %s in %s", op.Addr, op.Link, p)
			if op.Announce && (err == nil || errors.Is(err, vppwire.ErrLinuxExists)) {
				err = errors.Join(err, p.announce(l, op.Addr.Addr(), vppwire.MAC(l.Attrs().HardwareAddr)))
			}
			return err
		})
	case vppwire.AddrDel:
		return h.on(op.Netns, op.Link, func(p *place, l netlink.Link) error {
			err := about(p.AddrDel(l, address(op.Addr)), "address %s on %s in %s", op.Addr, op.Link, p)
			if op.Heir != (vppwire.MAC{}) && err == nil {
				_ = p.announce(l, op.Addr.Addr(), op.Heir) // the address is gone; who does not hear finds out later
			}
			return err
		})
	case vppwire.RouteSet:
		return h.route(op.Route, func(p *place, r *netlink.Route) error { return p.RouteReplace(r) })
	case vppwire.RouteDel:
		return h.route(op.Route, func(p *place, r *netlink.Route) error {
			r.Scope, r.Protocol = netlink.SCOPE_NOWHERE, unix.RTPROT_UNSPEC // any, as with ip route del
			return p.RouteDel(r)
		})
	case vppwire.NeighSet:
		return h.on(op.Netns, op.Link, func(p *place, l netlink.Link) error {
			n := neighbor(l, op.Addr)
			n.HardwareAddr = op.MAC[:]
			return about(p.NeighSet(n), "neighbor %s on %s in %s", op.Addr, op.Link, p)
		})
	case vppwire.NeighDel:
		return h.on(op.Netns, op.Link, func(p *place, l netlink.Link) error {
			return about(p.NeighDel(neighbor(l, op.Addr)), "neighbor %s on %s in %s", op.Addr, op.Link, p)
		})
	case vppwire.MemifFolderAdd:
		return h.memifFolderAdd(op)
	case vppwire.MemifFolderDel:
		return h.memifFolderDel(op)
	}
	panic(fmt.Sprintf("linux: unknown operation %T", op))
}

// about says what an error of the kernel is about.
func about(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(format+": %w", append(args, meaning(err))...)
}

// on does something with one link.
func (h *Host) on(netns, name string, do func(*place, netlink.Link) error) error {
	p, err := h.at(netns)
	if err != nil {
		return err
	}
	defer p.close()
	l, err := p.link(name)
	if err != nil {
		return err
	}
	return do(p, l)
}

// vethAdd makes both ends at once, each in its namespace, so that no crash leaves one of them in a wrong place.
func (h *Host) vethAdd(op vppwire.VethAdd) error {
	here, err := h.at(op.Netns)
	if err != nil {
		return err
	}
	defer here.close()
	there := here
	if op.PeerNetns != op.Netns {
		if there, err = h.at(op.PeerNetns); err != nil {
			return err
		}
		defer there.close()
	}
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.HardwareAddr = op.Name, hardware(op.MAC)
	veth := &netlink.Veth{LinkAttrs: attrs, PeerName: op.Peer, PeerHardwareAddr: hardware(op.PeerMAC)}
	if there != here {
		veth.PeerNamespace = netlink.NsFd(there.ns)
	}
	if err := here.LinkAdd(veth); err != nil {
		return about(err, "veth %s in %s with %s in %s", op.Name, here, op.Peer, there)
	}
	if there == here {
		return nil
	}
	note := peerNote(op.Peer, op.PeerNetns)
	if len(note) > aliasMax {
		return errors.Join(fmt.Errorf("namespace %s: the path is too long: %w", op.PeerNetns, unix.ENAMETOOLONG), here.LinkDel(veth))
	}
	l, err := here.link(op.Name)
	if err != nil {
		return err
	}
	return about(here.LinkSetAlias(l, note), "alias of %s in %s", op.Name, here)
}

// macvlanAdd makes the child in its namespace at once, so that no crash leaves it in the host's.
func (h *Host) macvlanAdd(op vppwire.MacvlanAdd) error {
	there, err := h.at(op.Netns)
	if err != nil {
		return err
	}
	defer there.close()
	here, err := h.at("")
	if err != nil {
		return err
	}
	parent, err := here.link(op.Parent)
	if err != nil {
		return err
	}
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.HardwareAddr, attrs.ParentIndex = op.Name, hardware(op.MAC), parent.Attrs().Index
	if !there.own {
		attrs.Namespace = netlink.NsFd(there.ns)
	}
	child := &netlink.Macvlan{LinkAttrs: attrs, Mode: netlink.MACVLAN_MODE_PRIVATE}
	return about(here.LinkAdd(child), "macvlan %s on %s in %s", op.Name, op.Parent, there)
}

func (h *Host) linkDel(op vppwire.LinkDel) error {
	err := h.on(op.Netns, op.Name, func(p *place, l netlink.Link) error {
		return about(p.LinkDel(l), "link %s in %s", op.Name, p)
	})
	if errors.Is(err, vppwire.ErrNoNamespace) {
		return nil // its links went with it
	}
	return err
}

func linkSet(p *place, l netlink.Link, op vppwire.LinkSet) error {
	if op.MTU != 0 && int(op.MTU) != l.Attrs().MTU {
		if err := p.LinkSetMTU(l, int(op.MTU)); err != nil {
			return about(err, "link %s in %s: MTU %d", op.Name, p, op.MTU)
		}
	}
	if op.MAC != (vppwire.MAC{}) {
		if err := p.LinkSetHardwareAddr(l, hardware(op.MAC)); err != nil {
			return about(err, "link %s in %s: MAC %s", op.Name, p, op.MAC)
		}
	}
	if op.Up {
		return about(p.LinkSetUp(l), "link %s in %s up", op.Name, p)
	}
	return about(p.LinkSetDown(l), "link %s in %s down", op.Name, p)
}

// route changes one route of the main table.
func (h *Host) route(r vppwire.HostRoute, do func(*place, *netlink.Route) error) error {
	p, err := h.at(r.Netns)
	if err != nil {
		return err
	}
	defer p.close()
	dst := r.Dst
	if dst.Addr().Is6() {
		dst = dst.Masked()
	}
	// Protocol and scopes are those of iproute2, so that people see what they know.
	route := &netlink.Route{Dst: ipNet(dst), Table: unix.RT_TABLE_MAIN, Protocol: unix.RTPROT_BOOT, Priority: int(r.Metric)}
	if r.Via.IsValid() {
		route.Gw = r.Via.AsSlice()
	} else if dst.Addr().Is4() {
		route.Scope = netlink.SCOPE_LINK
	}
	if r.Link != "" {
		l, err := p.link(r.Link)
		if err != nil {
			return err
		}
		route.LinkIndex = l.Attrs().Index
	}
	return about(do(p, route), "route %s via %s link %q in %s", r.Dst, r.Via, r.Link, p)
}

func neighbor(l netlink.Link, a netip.Addr) *netlink.Neigh {
	n := &netlink.Neigh{LinkIndex: l.Attrs().Index, Family: netlink.FAMILY_V4, State: netlink.NUD_PERMANENT, IP: a.AsSlice()}
	if a.Is6() {
		n.Family = netlink.FAMILY_V6
	}
	return n
}

// address is an IPv6 one without duplicate detection: a pod's address is the allocator's business, and waiting for
// nobody's objection would delay its first packet by a second.
func address(p netip.Prefix) *netlink.Addr {
	a := &netlink.Addr{IPNet: ipNet(p)}
	if p.Addr().Is6() {
		a.Flags = unix.IFA_F_NODAD
	}
	return a
}

func ipNet(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}

// hardware is nil for the zero MAC: the kernel chooses.
func hardware(m vppwire.MAC) net.HardwareAddr {
	if m == (vppwire.MAC{}) {
		return nil
	}
	return net.HardwareAddr(m[:])
}
