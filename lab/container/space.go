package container

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/vishvananda/netlink"
	vns "github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// folder is where named namespaces are, so that `ip netns` shows a lab's fabric.
const folder = "/run/netns"

// create makes a named network namespace.
func create(name string) error {
	if _, err := os.Lstat(filepath.Join(folder, name)); err == nil {
		return fmt.Errorf("create network namespace %s: there is one", name)
	}
	result := make(chan error, 1)
	go func() {
		// The thread comes back: a process's first one never ends, and would keep the namespace for ever.
		runtime.LockOSThread()
		own, err := vns.Get()
		if err != nil {
			result <- err
			return
		}
		ns, err := vns.NewNamed(name)
		if err == nil {
			err = ns.Close()
		}
		back := errors.Join(vns.Set(own), own.Close())
		if back == nil {
			runtime.UnlockOSThread() // otherwise it ends with this goroutine where it can
		}
		result <- errors.Join(err, back)
	}()
	if err := <-result; err != nil {
		return errors.Join(fmt.Errorf("create network namespace %s: %w", name, err), remove(name))
	}
	return nil
}

// remove takes a namespace's name away; one that is not there is fine.
func remove(name string) error {
	path := filepath.Join(folder, name)
	err := unix.Unmount(path, unix.MNT_DETACH)
	if err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOENT) { // EINVAL: a file that was never mounted on
		return fmt.Errorf("remove network namespace %s: %w", name, err)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove network namespace %s: %w", name, err)
	}
	return nil
}

// named lists the namespaces whose names begin so, sorted.
func named(prefix string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) {
			out = append(out, e.Name())
		}
	}
	slices.Sort(out)
	return out, nil
}

// space is an open namespace.
type space struct {
	path string
	ns   vns.NsHandle
	nl   *netlink.Handle
}

func open(path string) (*space, error) {
	ns, err := vns.GetFromPath(path)
	if err != nil {
		return nil, fmt.Errorf("open network namespace %s: %w", path, err)
	}
	nl, err := netlink.NewHandleAt(ns, syscall.NETLINK_ROUTE)
	if err != nil {
		_ = ns.Close()
		return nil, fmt.Errorf("open netlink in %s: %w", path, err)
	}
	return &space{path: path, ns: ns, nl: nl}, nil
}

func (s *space) close() {
	s.nl.Close()
	_ = s.ns.Close() // reading only
}

// with does something to a link.
func (s *space) with(name, what string, f func(netlink.Link) error) error {
	l, err := s.nl.LinkByName(name)
	if err == nil {
		err = f(l)
	}
	if err != nil {
		return fmt.Errorf("%s link %s in %s: %w", what, name, s.path, err)
	}
	return nil
}

// up brings a link up.
func (s *space) up(name string) error {
	return s.with(name, "bring up", func(l netlink.Link) error { return s.nl.LinkSetUp(l) })
}

// drop deletes a link; one that is not there is fine.
func (s *space) drop(name string) error {
	err := s.with(name, "delete", func(l netlink.Link) error { return s.nl.LinkDel(l) })
	if errors.As(err, &netlink.LinkNotFoundError{}) || errors.Is(err, syscall.ENODEV) {
		return nil
	}
	return err
}

// setAddresses makes a link's addresses exactly these.
func (s *space) setAddresses(name string, want []netip.Prefix) error {
	return s.with(name, "set addresses of", func(l netlink.Link) error {
		have, err := s.nl.AddrList(l, netlink.FAMILY_V4)
		if err != nil {
			return err
		}
		there := map[netip.Prefix]bool{}
		for _, a := range have {
			ones, _ := a.Mask.Size()
			ip, _ := netip.AddrFromSlice(a.IP.To4())
			if p := netip.PrefixFrom(ip, ones); slices.Contains(want, p) {
				there[p] = true
			} else if err := s.nl.AddrDel(l, &a); err != nil && !errors.Is(err, syscall.EADDRNOTAVAIL) { // went with the first of its subnet
				return err
			}
		}
		for _, p := range want {
			a := &netlink.Addr{IPNet: &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}}
			if there[p] && len(there) == len(have) {
				continue // nothing was deleted that may have taken it along
			}
			if err := s.nl.AddrAdd(l, a); err != nil && !errors.Is(err, syscall.EEXIST) {
				return err
			}
		}
		return nil
	})
}
