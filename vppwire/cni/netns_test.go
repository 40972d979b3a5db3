//go:build linux

package cni_test

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// newNetns makes a network namespace with a path in dir, and runs inside in it. It needs root; it goes with the test.
func newNetns(t testing.TB, dir, name string, inside func() error) (path string) {
	t.Helper()
	path = filepath.Join(dir, name)
	made := make(chan error)
	go inThread(func() {
		made <- func() error {
			if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
				return err
			}
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				return err
			}
			if err := unix.Mount("/proc/thread-self/ns/net", path, "", unix.MS_BIND, ""); err != nil {
				return err
			}
			if inside == nil {
				return nil
			}
			return inside()
		}()
	})
	err := <-made
	t.Cleanup(func() { removeNetns(path) })
	if errors.Is(err, unix.EPERM) {
		t.Skipf("may not make network namespaces: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// inThread runs do in a thread of its own, which ends with it. The process's first thread cannot end, and is what /proc
// shows.
func inThread(do func()) {
	runtime.LockOSThread() // never unlocked
	if unix.Gettid() != unix.Getpid() {
		do()
		return
	}
	done := make(chan struct{})
	go func() { defer close(done); inThread(do) }()
	<-done
	runtime.UnlockOSThread()
}

// removeNetns takes a namespace and its file away, as runtimes do.
func removeNetns(path string) {
	_ = unix.Unmount(path, unix.MNT_DETACH) // it may be gone already
	_ = os.Remove(path)
}

// attachment is what the fake agent says it has made.
type attachment struct {
	ifName string
	mac    string
	addr   string
	down   bool
	bare   bool // no routes
}

// make makes it in the present namespace.
func (a attachment) make() error {
	la := netlink.NewLinkAttrs()
	la.Name = a.ifName
	if err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: la, PeerName: "other-end"}); err != nil {
		return err
	}
	link, err := netlink.LinkByName(a.ifName)
	if err != nil {
		return err
	}
	mac, err := parseMAC(a.mac)
	if err != nil {
		return err
	}
	addr, err := netlink.ParseAddr(a.addr)
	if err != nil {
		return err
	}
	err = errors.Join(netlink.LinkSetHardwareAddr(link, mac), netlink.AddrAdd(link, addr))
	if a.down || err != nil {
		return err
	}
	if err := netlink.LinkSetUp(link); err != nil || a.bare {
		return err
	}
	gw := netip.MustParseAddr("10.1.1.1").AsSlice()
	host, err := netlink.ParseIPNet("10.1.1.1/32")
	if err != nil {
		return err
	}
	return errors.Join(
		netlink.RouteAdd(&netlink.Route{LinkIndex: link.Attrs().Index, Dst: host, Scope: netlink.SCOPE_LINK}),
		netlink.RouteAdd(&netlink.Route{LinkIndex: link.Attrs().Index, Gw: gw}))
}
