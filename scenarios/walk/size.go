package walk

import (
	"net/netip"
	"strconv"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire"
)

// Sizes that VPP and Linux know without being told, in bytes.
const (
	// mtuUnset is the MTU of a VPP interface that has none (src/vnet/interface_funcs.h, vnet_sw_interface_get_mtu, VPP 25.10).
	mtuUnset = 9000
	// ip6Least is the smallest MTU that IPv6 knows (RFC 8200); VPP fits no IPv6 packets to a smaller one (src/vnet/ip/ip6_forward.c,
	// ip6_mtu_check).
	ip6Least = 1280
	// vlanLen is how much longer than its device's MTU a frame between the ends of a veth may be: Linux leaves room for a VLAN tag
	// whether there is one or not (include/linux/netdevice.h, __is_skb_forwardable).
	vlanLen = 4
	// bufferLen is the longest fragment that VPP makes: one buffer's worth, by default (src/vnet/ip/ip_frag.c, ip4_frag_do_fragment).
	bufferLen = 2048
	// ip4Len is the header of an IPv4 packet without options; what a fragment carries behind it is a multiple of fragmentUnit (RFC 791).
	ip4Len, fragmentUnit = 20, 8
)

// Packet is what a walk follows.
type Packet struct {
	Dst netip.Addr
	// Src is the sender's address where it has several; the zero Addr is the first of the link that it leaves by.
	Src netip.Addr
	// Proto (of IP), SrcPort and DstPort are what NAT looks at; a packet without them is nobody's connection, and not translated.
	Proto            uint8
	SrcPort, DstPort uint16
	// Size is the IP packet's with its header, in bytes; 0 is one that fits everywhere.
	Size int
	// Whole: nobody may fragment it (IPv4's DF). On its way nobody fragments a packet of IPv6 in any case.
	Whole bool
}

// MTU is what VPP sends of a family out of an interface in one piece, in bytes of the IP packet.
func MTU(ifc *fact.Interface, v6 bool) uint32 {
	own := ifc.MTU4
	if v6 {
		own = ifc.MTU6
	}
	switch {
	case own != 0:
		return own
	case ifc.MTU != 0:
		return ifc.MTU
	}
	return mtuUnset
}

// exceeds reports whether the packet is longer than an MTU; one of 0 is not known.
func (t *trip) exceeds(mtu uint32) bool { return mtu != 0 && t.size > int(mtu) }

// frameExceeds is exceeds for a frame that a device of Linux gets from the other end of a veth.
func (t *trip) frameExceeds(mtu uint32) bool { return mtu != 0 && t.size > int(mtu)+vlanLen }

// fitsVPP makes the packet fit the VPP interface that it is routed to, or ends its way. Tunnels set no DF in IPv4 packets of
// their own.
func (t *trip) fitsVPP(n *node, ifc *fact.Interface) Kind {
	v6 := !t.dst.Is4()
	limit := MTU(ifc, v6)
	switch {
	case !t.exceeds(limit) || v6 && limit < ip6Least:
		return 0
	case t.dut != nil && (t.uncut != 0 || t.depth > 0 && t.w.inside[t.depth-1].uncut != 0):
		return t.unsure(n, "fragments are cut again")
	case t.dut != nil && t.whole:
		return t.complain(n)
	case v6:
		return t.drop(n, t.tooLong(ifc.Name, limit)+": VPP answers ICMPv6 packet too big")
	case t.whole:
		return t.drop(n, t.tooLong(ifc.Name, limit)+" and must not be fragmented: VPP answers ICMP fragmentation needed")
	}
	t.fragment(n, "", ifc.Name, min(limit, bufferLen))
	return 0
}

// fitsLinux is fitsVPP for a link that Linux sends out of, on behalf of a process or of somebody else.
func (t *trip) fitsLinux(n *node, netns string, l *vppwire.LinuxLink, forwards bool) Kind {
	switch {
	case !t.exceeds(l.MTU):
		return 0
	case forwards && !t.dst.Is4():
		return t.drop(n, t.tooLong(l.Name, l.MTU)+": Linux answers ICMPv6 packet too big")
	case forwards && t.whole:
		return t.drop(n, t.tooLong(l.Name, l.MTU)+" and must not be fragmented: Linux answers ICMP fragmentation needed")
	case t.whole:
		return t.drop(n, t.tooLong(l.Name, l.MTU)+" and must not be fragmented: Linux refuses to send it")
	}
	t.fragment(n, netns, l.Name, l.MTU)
	return 0
}

// tooLong says that the packet does not fit.
func (t *trip) tooLong(name string, mtu uint32) string {
	return name + " has an MTU of " + itoa(mtu) + " bytes, the packet has " + strconv.Itoa(t.size)
}

// fragment cuts the packet. All fragments take the same way, so the longest of them is followed.
func (t *trip) fragment(n *node, netns, name string, limit uint32) {
	if t.uncut == 0 {
		t.uncut = t.size
	}
	t.size = int(limit)
	if t.dst.Is4() {
		t.size = ip4Len + (int(limit)-ip4Len)/fragmentUnit*fragmentUnit
	}
	t.fragmented = true
	t.w.trail.add(note{node: n, kind: ActFragments, netns: netns, name: name, table: limit})
}

// nicMTU is what a NIC carries, 0 where that is not known: what the hardware takes, or the Linux device that stands in for it.
func (n *node) nicMTU(ifc *fact.Interface) uint32 {
	limit := ifc.LinkMTU
	if ifc.Host == "" || n.Linux == nil {
		return limit
	}
	if l, ok := n.Linux.Link(ifc.HostNetns, ifc.Host); ok && (limit == 0 || l.MTU < limit) {
		limit = l.MTU
	}
	return limit
}
