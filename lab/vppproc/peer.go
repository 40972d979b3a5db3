package vppproc

import (
	"errors"
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// PID is the process of the VPP that listens in dir, as this program's PID namespace counts it: a VPP in a container has
// another one for itself.
func PID(dir string) (int, error) {
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: dir + "/" + APISocketFile, Net: "unix"})
	if err != nil {
		return 0, fmt.Errorf("find VPP's process: %w", err)
	}
	defer func() { _ = c.Close() }() // nothing was said
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, fmt.Errorf("find VPP's process: %w", err)
	}
	var peer *unix.Ucred
	var failed error
	err = raw.Control(func(fd uintptr) { peer, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err = errors.Join(err, failed); err != nil {
		return 0, fmt.Errorf("find VPP's process: %w", err)
	}
	return int(peer.Pid), nil
}
