package fabric

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"syscall"

	"github.com/vishvananda/netlink"
	vns "github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"github.com/vppdrill/vppdrill/lab/internal/spawn"
)

// Space is an open namespace. The netlink.Handle speaks to it.
type Space struct {
	*netlink.Handle
	path string
	ns   vns.NsHandle
}

// Open opens the namespace at path.
func Open(path string) (*Space, error) {
	ns, err := vns.GetFromPath(path)
	if err != nil {
		return nil, fmt.Errorf("open network namespace %s: %w", path, err)
	}
	nl, err := netlink.NewHandleAt(ns, syscall.NETLINK_ROUTE)
	if err != nil {
		_ = ns.Close()
		return nil, fmt.Errorf("open netlink in %s: %w", path, err)
	}
	return &Space{Handle: nl, path: path, ns: ns}, nil
}

// Close lets it go; the namespace stays.
func (s *Space) Close() {
	s.Handle.Close()
	_ = s.ns.Close() // reading only
}

// With does something to a link; what is for the error.
func (s *Space) With(name, what string, f func(netlink.Link) error) error {
	l, err := s.LinkByName(name)
	if err == nil {
		err = f(l)
	}
	if err != nil {
		return fmt.Errorf("%s link %s in %s: %w", what, name, s.path, err)
	}
	return nil
}

// Up brings a link up.
func (s *Space) Up(name string) error {
	return s.With(name, "bring up", func(l netlink.Link) error { return s.LinkSetUp(l) })
}

// Loopback brings up the loopback of the namespace at path.
func Loopback(path string) error {
	s, err := Open(path)
	if err != nil {
		return err
	}
	defer s.Close()
	return s.Up("lo")
}

// Drop deletes a link; one that is not there is fine.
func (s *Space) Drop(name string) error {
	err := s.With(name, "delete", func(l netlink.Link) error { return s.LinkDel(l) })
	if errors.As(err, &netlink.LinkNotFoundError{}) || errors.Is(err, syscall.ENODEV) {
		return nil
	}
	return err
}

// SetAddresses makes a link's addresses exactly these.
func (s *Space) SetAddresses(name string, want []netip.Prefix) error {
	return s.With(name, "set addresses of", func(l netlink.Link) error {
		have, err := s.AddrList(l, netlink.FAMILY_ALL)
		if err != nil {
			return err
		}
		have = slices.DeleteFunc(have, func(a netlink.Addr) bool { return a.IP.IsLinkLocalUnicast() })
		if slices.ContainsFunc(want, func(p netip.Prefix) bool { return p.Addr().Is6() }) {
			if err := spawn.Inside(s.path, func() error { return enable6(name) }); err != nil {
				return err
			}
		}
		there := map[netip.Prefix]bool{}
		for _, a := range have {
			ones, _ := a.Mask.Size()
			ip, _ := netip.AddrFromSlice(a.IP)
			if p := netip.PrefixFrom(ip.Unmap(), ones); slices.Contains(want, p) {
				there[p] = true
			} else if err := s.AddrDel(l, &a); err != nil && !errors.Is(err, syscall.EADDRNOTAVAIL) {
				// went with the first of its subnet
				return err
			}
		}
		for _, p := range want {
			a := &netlink.Addr{IPNet: &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}}
			if p.Addr().Is6() {
				a.Flags = unix.IFA_F_NODAD
			}
			if there[p] && len(there) == len(have) {
				continue // nothing was deleted that may have taken it along
			}
			if err := s.AddrAdd(l, a); err != nil && !errors.Is(err, syscall.EEXIST) {
				return err
			}
		}
		return nil
	})
}
