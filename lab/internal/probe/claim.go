package probe

import (
	"net"
	"net/netip"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
)

// Claim asks for the MACs of IPv4 addresses out of a link of a namespace, by ARP, as a machine of that MAC that has an address would.
func Claim(netns, link string, mac net.HardwareAddr, has netip.Addr, asked []netip.Addr) error {
	var frames [][]byte
	for _, a := range asked {
		b := gopacket.NewSerializeBuffer()
		err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{},
			&layers.Ethernet{SrcMAC: mac, DstMAC: net.HardwareAddr{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, EthernetType: layers.EthernetTypeARP},
			&layers.ARP{AddrType: layers.LinkTypeEthernet, Protocol: layers.EthernetTypeIPv4, HwAddressSize: 6, ProtAddressSize: 4, Operation: layers.ARPRequest,
				SourceHwAddress: mac, SourceProtAddress: has.AsSlice(), DstHwAddress: make([]byte, 6), DstProtAddress: a.AsSlice()})
		if err != nil {
			return err
		}
		frames = append(frames, b.Bytes())
	}
	return SendFrames(netns, link, frames...)
}
