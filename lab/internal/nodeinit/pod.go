package nodeinit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/vppdrill/vppdrill/lab/internal/fabric"
)

// NodeNetns is where the node's own namespace is: that of the init's first thread, which /proc shows, is a pod's now
// and then.
const NodeNetns = "/run/node-netns"

// prepare makes the container's own namespace a node's: it forwards.
func prepare() error {
	if err := errors.Join(fabric.Sysctl("ipv4/ip_forward", "1"), fabric.Settings()); err != nil {
		return err
	}
	if err := fabric.Loopback("/proc/self/ns/net"); err != nil {
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

// createPod makes a namespace and returns its path.
func createPod(name string) (string, error) {
	if err := fabric.Create(name); err != nil {
		return "", fmt.Errorf("create pod: %w", err)
	}
	path := fabric.Path(name)
	if err := fabric.Loopback(path); err != nil {
		return "", errors.Join(fmt.Errorf("create pod: %w", err), fabric.Remove(name))
	}
	return path, nil
}

// removePod takes a namespace's name away; one that is not there is fine.
func removePod(path string) error {
	name := filepath.Base(path)
	if path != fabric.Path(name) {
		return fmt.Errorf("remove pod %s: it is none", path)
	}
	return fabric.Remove(name)
}
