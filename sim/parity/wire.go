package parity

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// wire is the far end of one device: what is written to it comes in to VPP, and what VPP sends can be read from it.
type wire struct {
	device string
	fd     int
}

// frameMax is more than any frame that probes cause, in bytes.
const frameMax = 2048

// openWires opens the far ends of all devices. It runs in their namespace; what it returns works everywhere.
func openWires() ([]wire, error) {
	var all []wire
	for _, d := range devices {
		w, err := openWire(d + "p")
		if err != nil {
			closeWires(all)
			return nil, fmt.Errorf("listen on %sp: %w", d, err)
		}
		all = append(all, w)
	}
	return all, nil
}

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

func closeWires(all []wire) {
	for _, w := range all {
		unix.Close(w.fd)
	}
}

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
