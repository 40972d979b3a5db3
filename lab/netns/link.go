package netns

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"github.com/vishvananda/netlink"
	vns "github.com/vishvananda/netns"
)

// space is an open namespace.
type space struct {
	name string
	ns   vns.NsHandle
	nl   *netlink.Handle
}

func open(name string) (*space, error) {
	ns, err := vns.GetFromPath(path(name))
	if err != nil {
		return nil, fmt.Errorf("open network namespace %s: %w", name, err)
	}
	nl, err := netlink.NewHandleAt(ns, syscall.NETLINK_ROUTE)
	if err != nil {
		_ = ns.Close()
		return nil, fmt.Errorf("open netlink in %s: %w", name, err)
	}
	return &space{name: name, ns: ns, nl: nl}, nil
}

func (s *space) close() {
	s.nl.Close()
	_ = s.ns.Close() // reading only
}

// end is one end of a veth pair.
type end struct {
	in   *space
	name string
	mac  net.HardwareAddr
}

// veth makes a pair with both ends in place and down.
func veth(a, b end, mtu int) error {
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.MTU, attrs.HardwareAddr = a.name, mtu, a.mac
	attrs.Namespace = netlink.NsFd(a.in.ns)
	v := &netlink.Veth{LinkAttrs: attrs, PeerName: b.name, PeerHardwareAddr: b.mac, PeerNamespace: netlink.NsFd(b.in.ns), PeerMTU: uint32(mtu)}
	if err := a.in.nl.LinkAdd(v); err != nil {
		return fmt.Errorf("create link %s in %s: %w", a.name, a.in.name, err)
	}
	return nil
}

// up brings a link up.
func (s *space) up(name string) error {
	return s.with(name, "bring up", func(l netlink.Link) error { return s.nl.LinkSetUp(l) })
}

func (s *space) with(name, what string, f func(netlink.Link) error) error {
	l, err := s.nl.LinkByName(name)
	if err == nil {
		err = f(l)
	}
	if err != nil {
		return fmt.Errorf("%s link %s in %s: %w", what, name, s.name, err)
	}
	return nil
}

// drop deletes a link; one that is not there is fine.
func (s *space) drop(name string) error {
	l, err := s.nl.LinkByName(name)
	if errors.As(err, &netlink.LinkNotFoundError{}) {
		return nil
	}
	if err == nil {
		err = s.nl.LinkDel(l)
	}
	if err != nil {
		return fmt.Errorf("delete link %s in %s: %w", name, s.name, err)
	}
	return nil
}

// setAddresses makes a link's addresses exactly these.
func (s *space) setAddresses(name string, want []netip.Prefix) error {
	return s.with(name, "set addresses of", func(l netlink.Link) error {
		have, err := s.nl.AddrList(l, netlink.FAMILY_V4)
		if err != nil {
			return err
		}
		keep := map[netip.Prefix]bool{}
		for _, p := range want {
			keep[p] = true
		}
		for _, a := range have {
			ones, _ := a.Mask.Size()
			ip, _ := netip.AddrFromSlice(a.IP.To4())
			if p := netip.PrefixFrom(ip, ones); keep[p] {
				delete(keep, p)
			} else if err := s.nl.AddrDel(l, &a); err != nil && !errors.Is(err, syscall.EADDRNOTAVAIL) { // went with the first of its subnet
				return err
			}
		}
		for _, p := range want {
			if !keep[p] {
				continue
			}
			a := &netlink.Addr{IPNet: &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}}
			if err := s.nl.AddrAdd(l, a); err != nil && !errors.Is(err, syscall.EEXIST) {
				return err
			}
		}
		return nil
	})
}
