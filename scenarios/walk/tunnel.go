package walk

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire"
)

// Sizes of VXLAN (RFC 7348), and the TTL and hop limit that VPP gives its packets (src/plugins/vxlan/vxlan.c, vxlan_rewrite).
const (
	ethernetLen = 14
	wrapperLen  = ip4Len + 8 + 8 // IPv4, UDP, VXLAN
	ip6More     = 40 - ip4Len    // what an IPv6 header is longer
	vxlanTTL    = 254
	vxlanHops   = 255 // over IPv6
)

// Overhead is what a VXLAN tunnel to an address adds to the packets that it carries, in bytes: 50 over IPv4, 70 over IPv6.
func Overhead(to netip.Addr) int {
	if to.Is4() {
		return wrapperLen + ethernetLen
	}
	return wrapperLen + ip6More + ethernetLen
}

// protoICMP is IP's number of it.
const protoICMP = 1

// wrapped is a frame that goes into a tunnel: the packet around it is looked up in the encap table.
func (t *trip) wrapped(n *node, tun *fact.Interface) Kind {
	if t.dut == nil && t.depth == wrapsMax {
		return t.drop(n, "the tunnel's own packets go into a tunnel")
	}
	t.w.trail.add(note{node: n, kind: ActWrapped, name: tun.Name, src: tun.Src, addr: tun.Dst, table: tun.VNI})
	t.w.inside = append(t.w.inside[:t.depth], t.packet)
	t.depth++
	outer := packet{kind: VXLAN, src: tun.Src, dst: tun.Dst, ttl: vxlanTTL, vni: tun.VNI}
	if !tun.Dst.Is4() {
		outer.ttl = vxlanHops
	}
	if t.own {
		outer.ttl++
	}
	if t.size > 0 {
		outer.size = t.size + Overhead(tun.Dst)
	}
	t.packet = outer
	t.in, t.inTable = tun.Index, tableFor(tun, tun.Dst)
	if t.dut != nil && t.dut.policy.Doubtful != nil && t.dut.policy.Doubtful(tun.EncapTable, tun.Dst, true) {
		return t.unsure(n, "VPP may not send to the tunnel's far end")
	}
	return t.route(n, tun.EncapTable)
}

// arrived is a packet for VPP itself: it has been delivered, or it is a tunnel's and what is inside goes on. VPP takes a
// tunnel's packets only from a source that it has a way back to and that is not its own (src/vnet/ip/ip4_forward.c,
// ip4_local_check_src).
func (t *trip) arrived(n *node, table uint32) Kind {
	if t.depth == 0 {
		if index, ok := n.VPP.STN(t.dst); ok && t.proto != protoICMP {
			return t.punted(n, table, index)
		}
	}
	if t.dut == nil && t.depth == 0 {
		t.out = Outcome{Kind: Delivered, Node: n.Name, VPP: true}
		return Delivered
	}
	if t.kind == ICMPError {
		return t.drop(n, "VPP gets its own ICMP error")
	}
	if t.dut != nil && !t.dst.Is4() && t.depth == 0 {
		return t.drop(n, "VPP answers by ICMPv6, which is not followed")
	}
	back, why := t.follow(n, table, t.src, false)
	switch {
	case why != "":
		return t.drop(n, why)
	case back.doubtful:
		return t.unsure(n, "VPP may not have a way back to the packet's source")
	case back.Action == fact.ActionLocal:
		return t.drop(n, "the packet comes from an address of VPP's own")
	case back.Action == fact.ActionDrop:
		return t.drop(n, "VPP has no way back to the packet's source")
	case t.dut != nil && t.dst.Is4() && (t.depth == 0 || !n.hasTunnels()):
		return t.complain(n)
	}
	return t.unwrapped(n)
}

// punted is a packet for VPP itself that nothing in VPP takes, and that an STN rule hands to the host. VPP answers pings itself; what
// nobody says the protocol of is taken for a connection of the host's. The rule's frame goes to the interface's output as it is
// (src/plugins/stn/stn.c, stn_ip46_punt_fn), behind the question whether there is a way back to the source.
func (t *trip) punted(n *node, table, index uint32) Kind {
	if t.dut != nil {
		return t.unsure(n, "a rule of the STN plugin may take the packet")
	}
	ifc, ok := n.VPP.Interface(index)
	if !ok {
		return t.drop(n, "the interface of the address' STN rule does not exist")
	}
	if t.src.IsValid() {
		switch back, why := t.follow(n, table, t.src, false); {
		case why != "":
			return t.drop(n, why)
		case back.Action == fact.ActionLocal:
			return t.drop(n, "the packet comes from an address of VPP's own")
		case back.Action == fact.ActionDrop:
			return t.drop(n, "VPP has no way back to the packet's source")
		}
	}
	t.to = vppwire.STNMAC
	t.w.trail.add(note{node: n, kind: ActSTN, name: ifc.Name, addr: t.dst, mac: t.to})
	return t.transmit(n, &ifc, t.dst)
}

// unwrapped takes the frame out of a tunnel's packet. What takes it must be the same tunnel the other way round, which
// listens in the table of the interface that the packet came in through.
func (t *trip) unwrapped(n *node) Kind {
	index, ok := n.VPP.Tunnel(t.dst, t.src, t.vni)
	if !ok {
		return t.drop(n, "the node has no tunnel back to the sender")
	}
	tun, ok := n.VPP.Interface(index)
	if ok && tun.EncapTable != t.inTable {
		tun, ok = t.tunnelIn(n)
	}
	switch {
	case !ok:
		return t.drop(n, "the node's end of the tunnel listens in another table")
	case tun.Bridge == 0 && !tun.Unlisted:
		return t.drop(n, "the node's end of the tunnel is in no bridge domain")
	}
	t.w.trail.add(note{node: n, kind: ActUnwrapped, name: tun.Name, addr: t.src})
	t.depth--
	t.packet = t.w.inside[t.depth]
	return t.receive(n, &tun)
}

// tunnelIn finds the tunnel among those that differ in their encap table.
func (t *trip) tunnelIn(n *node) (fact.Interface, bool) {
	p, table := t.packet, t.inTable
	for i := range n.VPP.Interfaces() {
		if i.Type == fact.TypeVXLAN && i.EncapTable == table && i.Src == p.dst && i.Dst == p.src && i.VNI == p.vni {
			return i, true
		}
	}
	return fact.Interface{}, false
}

func (n *node) hasTunnels() bool {
	for i := range n.VPP.Interfaces() {
		if i.Type == fact.TypeVXLAN && i.Src.Is4() {
			return true
		}
	}
	return false
}
