package linux

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/vppdrill/vppdrill/vppwire"
)

// announce tells everybody on a link that an IPv4 address has this MAC: by an ARP request for the sender's own address, as RFC 5227, 2.3 has
// it. Who knows another MAC for the address would send there until the entry ages, which VPP's never do by themselves. Linux announces no
// address by itself, and neither does VPP.
func (p *place) announce(l netlink.Link, addr netip.Addr, mac vppwire.MAC) error {
	if !addr.Is4() || len(l.Attrs().HardwareAddr) != len(mac) {
		return nil // nobody asks for it by ARP
	}
	const ethernet, request = 1, 1
	packet := append(bytes.Repeat([]byte{0xff}, len(mac)), mac[:]...)
	packet = binary.BigEndian.AppendUint16(packet, unix.ETH_P_ARP)
	packet = binary.BigEndian.AppendUint16(packet, ethernet)
	packet = binary.BigEndian.AppendUint16(packet, unix.ETH_P_IP)
	packet = append(packet, byte(len(mac)), byte(addr.BitLen()/8))
	packet = binary.BigEndian.AppendUint16(packet, request)
	packet = append(append(packet, mac[:]...), addr.AsSlice()...)
	packet = append(append(packet, make([]byte, len(mac))...), addr.AsSlice()...)
	err := p.within(func() error {
		fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0) // nothing is received
		if err != nil {
			return err
		}
		return errors.Join(unix.Sendto(fd, packet, 0, &unix.SockaddrLinklayer{Ifindex: l.Attrs().Index}), unix.Close(fd))
	})
	if err != nil {
		return fmt.Errorf("announce %s on %s in %s: %w", addr, l.Attrs().Name, p, err)
	}
	return nil
}
