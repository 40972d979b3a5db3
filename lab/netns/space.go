package netns

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/vppdrill/vppdrill/lab/spawn"
)

// folder is where iproute2 keeps named namespaces, so that `ip netns` shows ours.
const folder = "/run/netns"

// path is where a namespace of that name is.
func path(name string) string { return filepath.Join(folder, name) }

// NodePath is where the namespace of a lab's node is.
func NodePath(id, node string) string { return path(prefix(id) + node) }

// create makes a named namespace with its loopback up and without IPv6's own chatter.
func create(name string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	file, err := os.OpenFile(path(name), os.O_CREATE|os.O_EXCL|os.O_RDONLY, 0o444)
	if err != nil {
		return fmt.Errorf("create network namespace %s: %w", name, err)
	}
	_ = file.Close() // nothing was written
	result := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // for good: the thread ends in the new namespace
		result <- populate(name)
	}()
	if err := <-result; err != nil {
		return errors.Join(fmt.Errorf("create network namespace %s: %w", name, err), remove(name))
	}
	return nil
}

func populate(name string) error {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return err
	}
	self := fmt.Sprintf("/proc/self/task/%d/ns/net", unix.Gettid())
	if err := unix.Mount(self, path(name), "", unix.MS_BIND, ""); err != nil {
		return err
	}
	for _, s := range [...]struct{ key, value string }{
		{"ipv6/conf/all/disable_ipv6", "1"}, {"ipv6/conf/default/disable_ipv6", "1"},
		{"ipv4/conf/all/rp_filter", "0"}, {"ipv4/conf/default/rp_filter", "0"},
	} {
		// A kernel without IPv6 has no such key and needs none.
		if err := os.WriteFile("/proc/sys/net/"+s.key, []byte(s.value), 0); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// sysctl sets a key below /proc/sys/net in a namespace.
func sysctl(name, key, value string) error {
	return spawn.Inside(path(name), func() error { return os.WriteFile("/proc/sys/net/"+key, []byte(value), 0) })
}

// remove takes a namespace's name away; the namespace and its links end with the last process in it. One that is not
// there is fine.
func remove(name string) error {
	err := unix.Unmount(path(name), unix.MNT_DETACH)
	if err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOENT) { // EINVAL: a file that was never mounted on
		return fmt.Errorf("remove network namespace %s: %w", name, err)
	}
	if err := os.Remove(path(name)); err != nil && !errors.Is(err, os.ErrNotExist) {
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

// TryNetem reports whether this kernel can make links late and lossy: nil when it can. Nothing stays.
func TryNetem() error {
	name := fmt.Sprintf("vd-check-%d-netem", os.Getpid())
	if err := create(name); err != nil {
		return err
	}
	defer func() { _ = remove(name) }() // the next census finds it
	s, err := open(name)
	if err != nil {
		return err
	}
	defer s.close()
	return s.with("lo", "make late", func(l netlink.Link) error {
		return s.nl.QdiscAdd(netlink.NewNetem(netlink.QdiscAttrs{LinkIndex: l.Attrs().Index, Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT},
			netlink.NetemQdiscAttrs{Latency: 1000}))
	})
}
