package nodeinit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// folder is where pods' namespaces are, as in any container runtime.
const folder = "/run/netns"

// NodeNetns is where the node's own namespace is: that of the init's first thread, which /proc shows, is a pod's now and then.
const NodeNetns = "/run/node-netns"

// settings of every namespace of a node: without IPv6's own chatter, and without the filter that drops what comes back
// another way.
var settings = []struct{ key, value string }{
	{"ipv6/conf/all/disable_ipv6", "1"}, {"ipv6/conf/default/disable_ipv6", "1"},
	{"ipv4/conf/all/rp_filter", "0"}, {"ipv4/conf/default/rp_filter", "0"},
}

// prepare makes the container's own namespace a node's: it forwards.
func prepare() error {
	if err := set("ipv4/ip_forward", "1"); err != nil {
		return err
	}
	if err := dress(); err != nil {
		return err
	}
	if os.Getenv(inContainer) == "" {
		return nil
	}
	if err := os.WriteFile(NodeNetns, nil, 0o444); err != nil {
		return err
	}
	return unix.Mount("/proc/self/ns/net", NodeNetns, "", unix.MS_BIND, "")
}

// inContainer is set where /run is the node's own, by Environment.
const inContainer = "VPPDRILL_NODE"

// Environment is that of a container whose first process is Main.
func Environment() map[string]string { return map[string]string{inContainer: "1"} }

// dress gives the calling thread's namespace the settings of a node and brings its loopback up.
func dress() error {
	for _, s := range settings {
		if err := set(s.key, s.value); err != nil {
			return err
		}
	}
	lo, err := netlink.LinkByName("lo")
	if err == nil {
		err = netlink.LinkSetUp(lo)
	}
	if err != nil {
		return fmt.Errorf("bring up lo: %w", err)
	}
	return nil
}

// set writes a key below /proc/sys/net; a kernel without IPv6 has no such key and needs none.
func set(key, value string) error {
	err := os.WriteFile("/proc/sys/net/"+key, []byte(value), 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// createPod makes a namespace and returns its path.
func createPod(name string) (string, error) {
	if name == "" || name == "." || name == ".." || strings.ContainsRune(name, '/') {
		return "", fmt.Errorf("create pod %q: no name of a file", name)
	}
	path := filepath.Join(folder, name)
	if _, err := os.Lstat(path); err == nil {
		return "", fmt.Errorf("create pod %s: there is one already", name)
	}
	if err := elsewhere(func() error {
		ns, err := netns.NewNamed(name)
		if err != nil {
			return err
		}
		return errors.Join(dress(), ns.Close())
	}); err != nil {
		return "", errors.Join(fmt.Errorf("create pod %s: %w", name, err), removePod(path))
	}
	return path, nil
}

// elsewhere calls f on a thread that may change its namespace. The thread comes back: the process's first one never ends,
// and would keep a pod's namespace and all links in it for ever.
func elsewhere(f func() error) error {
	result := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		own, err := netns.Get()
		if err != nil {
			result <- err
			return
		}
		err = f()
		back := errors.Join(netns.Set(own), own.Close())
		if back == nil {
			runtime.UnlockOSThread() // otherwise it ends with this goroutine where it can
		}
		result <- errors.Join(err, back)
	}()
	return <-result
}

// removePod takes a namespace's name away; one that is not there is fine.
func removePod(path string) error {
	if filepath.Dir(path) != folder {
		return fmt.Errorf("remove pod %s: it is none", path)
	}
	err := unix.Unmount(path, unix.MNT_DETACH)
	if err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOENT) { // EINVAL: a file that was never mounted on
		return fmt.Errorf("remove pod %s: %w", path, err)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove pod %s: %w", path, err)
	}
	return nil
}
