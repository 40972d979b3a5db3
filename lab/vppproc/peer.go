package vppproc

import (
	"fmt"
	"net"

	"github.com/vppdrill/vppdrill/vppwire/peercred"
)

// PID is the process of the VPP that listens in dir, as this program's PID namespace counts it: a VPP in a container has
// another one for itself.
func PID(dir string) (int, error) {
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: dir + "/" + APISocketFile, Net: "unix"})
	if err != nil {
		return 0, fmt.Errorf("find VPP's process: %w", err)
	}
	defer func() { _ = c.Close() }() // nothing was said
	peer, err := peercred.Of(c)
	if err != nil {
		return 0, fmt.Errorf("find VPP's process: %w", err)
	}
	return int(peer.Pid), nil
}
