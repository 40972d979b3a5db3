package lab_test

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/internal/probe"
	"github.com/vppdrill/vppdrill/lab/internal/spawn"
	"github.com/vppdrill/vppdrill/lab/vppproc"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire"
)

// forgedPort is where the victim listens.
const forgedPort = 9999

// frame is a datagram in an Ethernet frame as a pod that may send raw frames makes it; text is what the victim reads.
func frame(t *testing.T, from, gateway vppwire.MAC, src, dst netip.Addr, text string) []byte {
	t.Helper()
	eth := &layers.Ethernet{SrcMAC: from[:], DstMAC: gateway[:], EthernetType: layers.EthernetTypeIPv4}
	udp := &layers.UDP{SrcPort: 40000, DstPort: forgedPort}
	var ip interface {
		gopacket.NetworkLayer
		gopacket.SerializableLayer
	} = &layers.IPv4{Version: 4, TTL: 64, Protocol: layers.IPProtocolUDP, SrcIP: src.AsSlice(), DstIP: dst.AsSlice()}
	if dst.Is6() {
		eth.EthernetType = layers.EthernetTypeIPv6
		ip = &layers.IPv6{Version: 6, HopLimit: 64, NextHeader: layers.IPProtocolUDP, SrcIP: src.AsSlice(), DstIP: dst.AsSlice()}
	}
	if err := udp.SetNetworkLayerForChecksum(ip); err != nil {
		t.Fatal(err)
	}
	b := gopacket.NewSerializeBuffer()
	if err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}, eth, ip, udp, gopacket.Payload(text)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// sendRaw sends frames as they are from a link in a namespace.
func sendRaw(t *testing.T, netns, link string, frames ...[]byte) {
	t.Helper()
	if err := probe.SendFrames(netns, link, frames...); err != nil {
		t.Fatal(err)
	}
}

// usurpers are the messages by which a pod claims an address for its MAC: ARP of IPv4; solicitations and advertisements
// of IPv6, the latter asked for or not, from its own address, which it may send from, and from the one that it claims.
func usurpers(t *testing.T, own, gateway vppwire.MAC, liar, claimed, asked netip.Addr) (out [][]byte) {
	t.Helper()
	all := vppwire.MAC{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
	add := func(to vppwire.MAC, kind layers.EthernetType, content ...gopacket.SerializableLayer) {
		b := gopacket.NewSerializeBuffer()
		if err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true},
			append([]gopacket.SerializableLayer{&layers.Ethernet{SrcMAC: own[:], DstMAC: to[:], EthernetType: kind}}, content...)...); err != nil {
			t.Fatal(err)
		}
		out = append(out, b.Bytes())
	}
	if !claimed.Is6() {
		for _, operation := range []uint16{layers.ARPRequest, layers.ARPReply} {
			for _, to := range []vppwire.MAC{gateway, all} {
				add(to, layers.EthernetTypeARP, &layers.ARP{AddrType: layers.LinkTypeEthernet, Protocol: layers.EthernetTypeIPv4, HwAddressSize: 6, ProtAddressSize: 4, Operation: operation,
					SourceHwAddress: own[:], SourceProtAddress: claimed.AsSlice(), DstHwAddress: gateway[:], DstProtAddress: asked.AsSlice()})
			}
		}
		return out
	}
	everyone := netip.MustParseAddr("ff02::1")
	for _, src := range []netip.Addr{liar, claimed} {
		for to, dst := range map[vppwire.MAC]netip.Addr{gateway: asked, {0x33, 0x33, 0, 0, 0, 1}: everyone} {
			ip := &layers.IPv6{Version: 6, HopLimit: 255, NextHeader: layers.IPProtocolICMPv6, SrcIP: src.AsSlice(), DstIP: dst.AsSlice()}
			for _, flags := range []uint8{0x20, 0x60} { // override; solicited as well: RFC 4861, 4.4
				icmp := &layers.ICMPv6{TypeCode: layers.CreateICMPv6TypeCode(layers.ICMPv6TypeNeighborAdvertisement, 0)}
				_ = icmp.SetNetworkLayerForChecksum(ip) // an IPv6 header always serves
				add(to, layers.EthernetTypeIPv6, ip, icmp, &layers.ICMPv6NeighborAdvertisement{Flags: flags, TargetAddress: claimed.AsSlice(),
					Options: layers.ICMPv6Options{{Type: layers.ICMPv6OptTargetAddress, Data: own[:]}}})
			}
			icmp := &layers.ICMPv6{TypeCode: layers.CreateICMPv6TypeCode(layers.ICMPv6TypeNeighborSolicitation, 0)}
			_ = icmp.SetNetworkLayerForChecksum(ip)
			add(to, layers.EthernetTypeIPv6, ip, icmp, &layers.ICMPv6NeighborSolicitation{TargetAddress: asked.AsSlice(),
				Options: layers.ICMPv6Options{{Type: layers.ICMPv6OptSourceAddress, Data: own[:]}}})
		}
	}
	return out
}

// neighbors is whom a node's VPP knows by which MAC, told or learned, in order and without ages.
func neighbors(ctx context.Context, t *testing.T, w *lab.World, node string) (out []string) {
	t.Helper()
	c, err := vppproc.Dial(w.VPPDirOf(node))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	text, err := c.CLI(ctx, "show ip neighbors") // of both families
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) > 1 && !strings.HasPrefix(f[1], "fe80:") {
			out = append(out, strings.Join(f[1:], " "))
		}
	}
	slices.Sort(out)
	return out
}

// Goal: on the interface that pods share nothing arrives that a pod sends with another address or MAC than its own,
// whether the trunk routes or is bridged for services, or routes IPv6, to a pod of the same node and of another one;
// and no ARP and no neighbor discovery of a pod's takes another's packets away. Method: raw frames from a pod's
// namespace; honest ones before and after them arrive, the liar's and others', and VPP knows whom it knew. It may learn
// whom it did not know: no route goes by that.
func TestForgers(t *testing.T) {
	for name, wiring := range map[string]string{"routed": "wiring: {host: veth, pod: macvlan}", "bridged": "wiring: {host: veth, pod: macvlan, services: vpp}",
		"ipv6": "wiring: {host: veth, pod: macvlan, mtu: 1430}, ipam: {podSubnetCIDR: 'fd01::/48', podSubnetOneNodePrefixLen: 64, vppHostSubnetCIDR: 'fd02::/96', vppHostSubnetOneNodePrefixLen: 112, " +
			"nodeInterconnectCIDR: 'fd03::/112', vxlanCIDR: 'fd04::/112', serviceCIDR: 'fd05::/108'}"} {
		t.Run(name, func(t *testing.T) {
			w, ctx := standing(t, "# A pod that lies.\nname: forgers\ntopology: {nodes: 2, podsPerNode: 2}\nconfig: {"+wiring+"}\n")
			s, err := w.Snapshot(ctx)
			if err != nil {
				t.Fatal(err)
			}
			n := s.Nodes[0]
			liar, other := n.Pods[0], n.Pods[1]
			mac := func(p fact.PodState) vppwire.MAC {
				l, ok := n.Linux.Link(p.Netns, p.Owner.IfName)
				if !ok || l.Parent == "" {
					t.Fatalf("%s has no macvlan", p.Pod)
				}
				return l.MAC
			}
			var gateway vppwire.MAC
			for nb := range n.VPP.Neighbors() {
				if i, ok := n.VPP.Interface(nb.Index); ok && nb.Addr == liar.Addr {
					gateway = i.MAC
				}
			}
			was := neighbors(ctx, t, w, "node-1")
			for _, victim := range []fact.PodState{other, s.Nodes[1].Pods[0]} {
				at := w.NetnsOf("node-1", victim)
				if victim.Addr != other.Addr {
					at = w.NetnsOf("node-2", victim)
				}
				forge(t, w.NetnsOf("node-1", liar), at, liar, victim, mac(liar), mac(other), gateway, s.Nodes[1].Pods[1].Addr)
				if victim.Addr != other.Addr { // whose packets would go to the liar
					reached(t, w.NetnsOf("node-1", other), at, victim.Addr)
				}
			}
			if err := w.Settle(ctx, time.Hour); err != nil {
				t.Error(err)
			}
			is := neighbors(ctx, t, w, "node-1")
			for _, known := range was {
				if !slices.Contains(is, known) {
					t.Errorf("%s is no neighbor any more, but\n%s", known, strings.Join(is, "\n"))
				}
			}
		})
	}
}

// reached sends a datagram from a namespace to an address in another.
func reached(t *testing.T, from, at string, to netip.Addr) {
	t.Helper()
	dst := net.UDPAddrFromAddrPort(netip.AddrPortFrom(to, forgedPort))
	var c, sender *net.UDPConn
	for place, open := range map[string]func() error{
		at:   func() (err error) { c, err = net.ListenUDP("udp", dst); return err },
		from: func() (err error) { sender, err = net.DialUDP("udp", nil, dst); return err },
	} {
		if err := spawn.Inside(place, open); err != nil {
			t.Fatal(err)
		}
	}
	defer func() { _, _ = c.Close(), sender.Close() }() // everything has been read
	if _, err := sender.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	_ = c.SetReadDeadline(time.Now().Add(5 * time.Second)) // a socket that cannot have one times out never
	if _, err := c.Read(make([]byte, 100)); err != nil {
		t.Errorf("%s is not reached by another pod of the liar's node: %v", to, err)
	}
}

// unused is an address of a pod's block that nobody has yet.
func unused(p fact.PodState) netip.Addr {
	b := p.Addr.AsSlice()
	b[len(b)-1] |= 0x60
	a, _ := netip.AddrFromSlice(b) // as long as it was
	return a
}

func forge(t *testing.T, from, at string, liar, victim fact.PodState, own, others, gateway vppwire.MAC, third netip.Addr) {
	t.Helper()
	var c *net.UDPConn
	if err := spawn.Inside(at, func() (err error) {
		c, err = net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(victim.Addr, forgedPort)))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }() // everything has been read
	send := func(mac vppwire.MAC, src netip.Addr, text string) {
		sendRaw(t, from, liar.Owner.IfName, frame(t, mac, gateway, src, victim.Addr, text))
	}
	nobody := netip.MustParseAddr("192.0.2.1")
	if victim.Addr.Is6() {
		nobody = netip.MustParseAddr("2001:db8::1")
	}
	send(own, liar.Addr, "honest")
	for range 3 {
		send(own, third, "with another pod's address")
		send(own, nobody, "with nobody's address")
		send(others, liar.Addr, "with another pod's MAC")
		send(vppwire.MAC{2, 9, 9, 9, 9, 9}, liar.Addr, "with nobody's MAC")
		send(gateway, liar.Addr, "with the gateway's MAC")
		send(own, liar.Gateway, "with the gateway's address")
		for claimed, asked := range map[netip.Addr]netip.Addr{victim.Addr: liar.Gateway, liar.Gateway: victim.Addr, unused(liar): liar.Gateway} {
			sendRaw(t, from, liar.Owner.IfName, usurpers(t, own, gateway, liar.Addr, claimed, asked)...)
		}
	}
	send(own, liar.Addr, "honest again")
	var got []string
	b := make([]byte, 100)
	for !slices.Contains(got, "honest again") {
		_ = c.SetReadDeadline(time.Now().Add(5 * time.Second)) // a socket that cannot have one times out never
		k, err := c.Read(b)
		if err != nil {
			t.Fatalf("honest datagrams do not arrive: %v, got %q", err, got)
		}
		got = append(got, string(b[:k]))
	}
	if !slices.Equal(got, []string{"honest", "honest again"}) {
		t.Errorf("%s got %q", victim.Pod, got)
	}
}
