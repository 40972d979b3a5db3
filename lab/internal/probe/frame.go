package probe

import (
	"net"

	"golang.org/x/sys/unix"

	"github.com/vppdrill/vppdrill/lab/internal/spawn"
)

// SendFrames sends Ethernet frames as they are out of a link of a namespace.
func SendFrames(netns, link string, frames ...[]byte) error {
	return spawn.Inside(netns, func() error {
		l, err := net.InterfaceByName(link)
		if err != nil {
			return err
		}
		fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer func() { _ = unix.Close(fd) }() // each frame is on its way, or an error said that it is not
		for _, f := range frames {
			if err := unix.Sendto(fd, f, 0, &unix.SockaddrLinklayer{Ifindex: l.Index}); err != nil {
				return err
			}
		}
		return nil
	})
}
