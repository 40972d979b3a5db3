// Package peercred says who is at the other end of a unix connection, as Linux knows it.
//
// It decides only how Linux is asked; who may do what is decided by who asks. Start at Of. The process is the one that
// connected or began to listen, as this program's PID namespace counts it.
package peercred

import (
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// Of are the process, user and group of a connection's other end.
func Of(c *net.UnixConn) (*unix.Ucred, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	var peer *unix.Ucred
	var failed error
	if err := raw.Control(func(fd uintptr) {
		peer, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return nil, err
	}
	if failed != nil {
		return nil, fmt.Errorf("who is at the other end: %w", failed)
	}
	return peer, nil
}
