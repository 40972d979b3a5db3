package probe

import (
	"errors"
	"net"
	"net/netip"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"golang.org/x/sys/unix"

	"github.com/vppdrill/vppdrill/lab/internal/spawn"
)

// Claim asks for the MACs of IPv4 addresses out of a link of a namespace, by ARP, as a machine of that MAC that has an address would.
func Claim(netns, link string, mac net.HardwareAddr, has netip.Addr, asked []netip.Addr) error {
	return spawn.Inside(netns, func() error {
		l, err := net.InterfaceByName(link)
		if err != nil {
			return err
		}
		fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		for _, a := range asked {
			b := gopacket.NewSerializeBuffer()
			err = errors.Join(err, gopacket.SerializeLayers(b, gopacket.SerializeOptions{},
				&layers.Ethernet{SrcMAC: mac, DstMAC: net.HardwareAddr{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, EthernetType: layers.EthernetTypeARP},
				&layers.ARP{AddrType: layers.LinkTypeEthernet, Protocol: layers.EthernetTypeIPv4, HwAddressSize: 6, ProtAddressSize: 4, Operation: layers.ARPRequest,
					SourceHwAddress: mac, SourceProtAddress: has.AsSlice(), DstHwAddress: make([]byte, 6), DstProtAddress: a.AsSlice()}),
				unix.Sendto(fd, b.Bytes(), 0, &unix.SockaddrLinklayer{Ifindex: l.Index}))
		}
		return errors.Join(err, unix.Close(fd))
	})
}
