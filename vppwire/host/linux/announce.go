package linux

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// announce tells everybody on a link that it has an IPv4 address: by an ARP request for the sender's own address, as RFC 5227, 2.3 has it. Who
// knows another MAC for the address would send there until the entry ages. Linux announces no address by itself.
func (p *place) announce(l netlink.Link, addr netip.Addr) error {
	mac, to := l.Attrs().HardwareAddr, unix.SockaddrLinklayer{Protocol: networkOrder(unix.ETH_P_ARP), Ifindex: l.Attrs().Index, Halen: 6}
	if !addr.Is4() || len(mac) != 6 {
		return nil // nobody asks for it by ARP
	}
	for i := range to.Halen {
		to.Addr[i] = 0xff
	}
	const ethernet, request = 1, 1
	packet := binary.BigEndian.AppendUint16(nil, ethernet)
	packet = binary.BigEndian.AppendUint16(packet, unix.ETH_P_IP)
	packet = append(packet, 6, 4)
	packet = binary.BigEndian.AppendUint16(packet, request)
	packet = append(append(packet, mac...), addr.AsSlice()...)
	packet = append(append(packet, make([]byte, 6)...), addr.AsSlice()...)
	err := p.within(func() error {
		fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0) // nothing is received
		if err != nil {
			return err
		}
		return errors.Join(unix.Sendto(fd, packet, 0, &to), unix.Close(fd))
	})
	if err != nil {
		return fmt.Errorf("announce %s on %s in %s: %w", addr, l.Attrs().Name, p, err)
	}
	return nil
}

func networkOrder(v uint16) uint16 {
	var b [2]byte
	binary.BigEndian.PutUint16(b[:], v)
	return binary.NativeEndian.Uint16(b[:])
}
