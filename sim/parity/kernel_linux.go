package parity

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownNamespace moves this thread into a new network namespace.
func ownNamespace() error {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("a network namespace needs root: %w", err)
	}
	return nil
}

// diesWithUs lets a process be killed when this one ends.
func diesWithUs() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

// ended reports whether there is no such process.
func ended(pid int) bool { return errors.Is(unix.Kill(pid, 0), unix.ESRCH) }

// openWire opens a link of the namespace that it runs in.
func openWire(link string) (wire, error) {
	at, err := net.InterfaceByName(link)
	if err != nil {
		return wire{}, err
	}
	const everything = unix.ETH_P_ALL&0xff<<8 | unix.ETH_P_ALL>>8 // in network order
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, everything)
	if err != nil {
		return wire{}, err
	}
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: everything, Ifindex: at.Index}); err != nil {
		unix.Close(fd)
		return wire{}, err
	}
	return wire{strings.TrimSuffix(link, "p"), fd}, nil
}

func (w wire) close() { unix.Close(w.fd) }

// send writes a frame. A device that is down loses it, as a cable would.
func (w wire) send(frame []byte) error {
	_, err := unix.Write(w.fd, frame)
	if errors.Is(err, unix.ENETDOWN) || errors.Is(err, unix.ENXIO) || errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.ENOBUFS) {
		return nil
	}
	return err
}

// read returns the frames that have come since the last time.
func (w wire) read() [][]byte {
	var all [][]byte
	b := make([]byte, frameMax)
	for {
		n, err := unix.Read(w.fd, b)
		switch {
		case errors.Is(err, unix.ENETDOWN): // reported once; what came before may follow
			continue
		case err != nil:
			return all
		}
		all = append(all, slices.Clone(b[:n]))
	}
}
