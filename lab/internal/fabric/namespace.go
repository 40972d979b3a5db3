package fabric

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/vppdrill/vppdrill/lab/internal/spawn"
)

// Folder is where iproute2 keeps named namespaces, so that `ip netns` shows ours.
const Folder = "/run/netns"

// Path is where a namespace of that name is.
func Path(name string) string { return filepath.Join(Folder, name) }

// check refuses what is no name of a file in Folder: what is unmounted and removed by it must be a namespace of ours.
func check(name string) error {
	if name == "" || name == "." || name == ".." || strings.ContainsRune(name, '/') {
		return fmt.Errorf("%q is no name of a network namespace", name)
	}
	return nil
}

// Create makes a named network namespace with Settings; its loopback is down. One of that name must not be there.
func Create(name string) error {
	if err := errors.Join(check(name), os.MkdirAll(Folder, 0o755)); err != nil {
		return fmt.Errorf("create network namespace: %w", err)
	}
	file, err := os.OpenFile(Path(name), os.O_CREATE|os.O_EXCL|os.O_RDONLY, 0o444)
	if err != nil {
		return fmt.Errorf("create network namespace %s: %w", name, err)
	}
	_ = file.Close() // nothing was written
	if err := spawn.Elsewhere(func() error { return populate(name) }); err != nil {
		return errors.Join(fmt.Errorf("create network namespace %s: %w", name, err), Remove(name))
	}
	return nil
}

func populate(name string) error {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return err
	}
	self := fmt.Sprintf("/proc/self/task/%d/ns/net", unix.Gettid())
	if err := unix.Mount(self, Path(name), "", unix.MS_BIND, ""); err != nil {
		return err
	}
	return Settings()
}

// Settings gives the calling thread's namespace what all namespaces of a lab have: no chatter of IPv6's own, and no
// filter that drops what comes back another way.
func Settings() error {
	for _, s := range [...]struct{ key, value string }{
		{"ipv6/conf/all/disable_ipv6", "1"}, {"ipv6/conf/default/disable_ipv6", "1"},
		{"ipv4/conf/all/rp_filter", "0"}, {"ipv4/conf/default/rp_filter", "0"},
	} {
		// A kernel without IPv6 has no such key and needs none.
		if err := Sysctl(s.key, s.value); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// enable6 lets a link of the calling thread's namespace have addresses of IPv6, and hear no router.
func enable6(link string) error {
	return errors.Join(Sysctl("ipv6/conf/"+link+"/accept_ra", "0"), Sysctl("ipv6/conf/"+link+"/disable_ipv6", "0"))
}

// Sysctl sets a key below /proc/sys/net in the calling thread's namespace.
func Sysctl(key, value string) error { return os.WriteFile("/proc/sys/net/"+key, []byte(value), 0) }

// Remove takes a namespace's name away; the namespace and its links end with the last process in it. One that is not
// there is fine.
func Remove(name string) error {
	if err := check(name); err != nil {
		return fmt.Errorf("remove network namespace: %w", err)
	}
	err := unix.Unmount(Path(name), unix.MNT_DETACH)
	// EINVAL: a file that was never mounted on
	if err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("remove network namespace %s: %w", name, err)
	}
	if err := os.Remove(Path(name)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove network namespace %s: %w", name, err)
	}
	return nil
}

// Named lists the namespaces whose names begin so, sorted.
func Named(prefix string) ([]string, error) {
	entries, err := os.ReadDir(Folder)
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
