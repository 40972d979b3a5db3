package linux

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"github.com/vppdrill/vppdrill/vppwire"
)

// Host is one Linux, seen from the namespace that is the host's own. Its methods may be called from any goroutine.
type Host struct {
	own  netns.NsHandle
	base *netlink.Handle
	// MemifFolder is the absolute path of the folder that memif sockets are in, each in a folder of its interface in one of
	// its pod; empty: there are none.
	MemifFolder string
}

var _ vppwire.Linux = (*Host)(nil)

// New returns the Linux whose host namespace is at path; empty: the one that this process runs in. Close it after use.
func New(path string) (*Host, error) {
	if path == "" {
		path = "/proc/self/ns/net" // the first thread's: whatever this one is up to
	}
	own, err := openNamespace(path)
	if err != nil {
		return nil, err
	}
	base, err := netlink.NewHandleAt(own, unix.NETLINK_ROUTE)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("netlink in %s: %w", path, err), own.Close())
	}
	return &Host{own: own, base: base}, nil
}

// Close lets the host's namespace go.
func (h *Host) Close() error {
	h.base.Close()
	return h.own.Close()
}

// openNamespace opens a namespace by path. vppwire.ErrNoNamespace where there is none: no file, or a file that a
// namespace was mounted on once.
func openNamespace(path string) (netns.NsHandle, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
		return netns.None(), fmt.Errorf("namespace %s: %w", path, vppwire.ErrNoNamespace)
	}
	if err != nil {
		return netns.None(), fmt.Errorf("namespace %s: %w", path, err)
	}
	var stat unix.Statfs_t
	if err := unix.Fstatfs(fd, &stat); err != nil {
		return netns.None(), errors.Join(fmt.Errorf("namespace %s: %w", path, err), unix.Close(fd))
	}
	if kind, err := unix.IoctlRetInt(fd, unix.NS_GET_NSTYPE); stat.Type != unix.NSFS_MAGIC || err != nil || kind != unix.CLONE_NEWNET {
		return netns.None(), errors.Join(fmt.Errorf("%s is no network namespace: %w", path, vppwire.ErrNoNamespace), unix.Close(fd))
	}
	return netns.NsHandle(fd), nil
}

// place is one namespace for the time of one operation.
type place struct {
	*netlink.Handle
	path string
	ns   netns.NsHandle
	own  bool
}

// at opens the namespace at path; empty is the host's own.
func (h *Host) at(path string) (*place, error) {
	if path == "" {
		return &place{Handle: h.base, ns: h.own, own: true}, nil
	}
	ns, err := openNamespace(path)
	if err != nil {
		return nil, err
	}
	handle, err := netlink.NewHandleAt(ns, unix.NETLINK_ROUTE)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("netlink in %s: %w", path, err), ns.Close())
	}
	return &place{Handle: handle, path: path, ns: ns}, nil
}

func (p *place) close() {
	if p.own {
		return
	}
	p.Close()
	_ = p.ns.Close() // nothing was written to it
}

func (p *place) String() string {
	if p.own {
		return "the host"
	}
	return p.path
}

// within runs do on a thread that is in the namespace: for what the kernel ties to the calling thread's.
func (p *place) within(do func() error) error {
	runtime.LockOSThread()
	was, err := netns.Get()
	if err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("the thread's own namespace: %w", err)
	}
	defer func() { _ = was.Close() }()
	if err := netns.Set(p.ns); err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("enter %s: %w", p, err)
	}
	err = do()
	if back := netns.Set(was); back != nil {
		return errors.Join(err, fmt.Errorf("leave %s: %w", p, back)) // still locked: the thread ends with its goroutine
	}
	runtime.UnlockOSThread()
	return err
}

// link finds a link by name; vppwire.ErrLinuxMissing where there is none.
func (p *place) link(name string) (netlink.Link, error) {
	l, err := p.LinkByName(name)
	if err != nil {
		return nil, fmt.Errorf("link %s in %s: %w", name, p, meaning(err))
	}
	return l, nil
}

// meaning adds vppwire's sentinel to what the kernel says, where one fits.
func meaning(err error) error {
	var notFound netlink.LinkNotFoundError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EEXIST), errors.Is(err, unix.EADDRINUSE):
		return fmt.Errorf("%w (%w)", vppwire.ErrLinuxExists, err)
	case errors.As(err, &notFound):
		return vppwire.ErrLinuxMissing
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENODEV), errors.Is(err, unix.ESRCH), errors.Is(err, unix.EADDRNOTAVAIL),
		errors.Is(err, unix.ENETUNREACH), errors.Is(err, unix.EHOSTUNREACH):
		return fmt.Errorf("%w (%w)", vppwire.ErrLinuxMissing, err)
	}
	return err
}
