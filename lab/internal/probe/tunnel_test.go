package probe

import (
	"bytes"
	"net"
	"net/netip"
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
)

// Goal: a tunnel's frame comes out of its carrier whole, with who sent it to whom and the VNI, and what carries none is none.
// Method: frames that are made and taken apart.
func TestUnwrap(t *testing.T) {
	frame := func(port layers.UDPPort, of ...gopacket.SerializableLayer) []byte {
		ip := &layers.IPv4{Version: 4, TTL: 9, Protocol: layers.IPProtocolUDP, SrcIP: net.IP{192, 168, 16, 1}, DstIP: net.IP{192, 168, 16, 2}}
		udp := &layers.UDP{SrcPort: 4000, DstPort: port}
		if err := udp.SetNetworkLayerForChecksum(ip); err != nil {
			t.Fatal(err)
		}
		b := gopacket.NewSerializeBuffer()
		all := append([]gopacket.SerializableLayer{&layers.Ethernet{SrcMAC: make([]byte, 6), DstMAC: make([]byte, 6), EthernetType: layers.EthernetTypeIPv4}, ip, udp}, of...)
		if err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{FixLengths: true}, all...); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	inner := frame(53, gopacket.Payload("what is inside"))
	ends, vni, got, ok := unwrap(frame(4789, &layers.VXLAN{ValidIDFlag: true, VNI: 10}, gopacket.Payload(inner)))
	if want := [2]netip.Addr{netip.MustParseAddr("192.168.16.1"), netip.MustParseAddr("192.168.16.2")}; !ok || vni != 10 || ends != want || !bytes.Equal(got, inner) {
		t.Errorf("%v vni %d, %d bytes, %v", ends, vni, len(got), ok)
	}
	for _, other := range [][]byte{inner, nil, frame(4789)} {
		if _, _, _, ok := unwrap(other); ok {
			t.Errorf("%x carries a frame", other)
		}
	}
}

// Goal: a datagram of one byte, the shortest that is knocked with, is seen at a link. Method: its frame, 43 bytes long, and ever
// shorter ones.
func TestFlowOfShortest(t *testing.T) {
	ip := &layers.IPv4{Version: 4, TTL: 9, Protocol: layers.IPProtocolUDP, SrcIP: net.IP{10, 1, 1, 2}, DstIP: net.IP{10, 1, 2, 3}}
	b := gopacket.NewSerializeBuffer()
	if err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{FixLengths: true}, &layers.Ethernet{SrcMAC: make([]byte, 6), DstMAC: make([]byte, 6),
		EthernetType: layers.EthernetTypeIPv4}, ip, &layers.UDP{SrcPort: 20001, DstPort: 7}, gopacket.Payload("?")); err != nil {
		t.Fatal(err)
	}
	want := flow{netip.MustParseAddr("10.1.1.2"), netip.MustParseAddr("10.1.2.3"), ProtoUDP, 20001, 7}
	if f, ok := flowOf(b.Bytes()); !ok || f != want {
		t.Errorf("%+v %v, want %+v", f, ok, want)
	}
	for n := range 38 {
		if f, ok := flowOf(b.Bytes()[:n]); ok {
			t.Errorf("%d bytes are %+v", n, f)
		}
	}
}
