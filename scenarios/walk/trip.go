package walk

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire"
)

// trip is one packet under way: the one that is looked up, and in the walker's stack the frames inside it, where it is a
// tunnel's.
type trip struct {
	w *Walker
	packet
	// in is the VPP interface that the packet came in through, inTable the one that it is bound to.
	in, inTable uint32
	// depth counts the frames on the walker's stack, steps the interfaces, bridge domains and lookups since the last count.
	depth, steps int
	exact        bool
	// lookups is the most that one VPP has made in a row.
	lookups int
	// fragmented: the packet, or one around it, was cut on the way.
	fragmented bool
	// forged and forgedMAC are what the sender says it is, where that is not what it is.
	forged    netip.Addr
	forgedMAC vppwire.MAC
	// answers: the packet is an answer; NAT begins no session with it.
	answers bool
	// own: VPP itself has made the packet. What wraps it then leaves the TTL alone, as VPP's own packets are not forwarded ones
	// (VNET_BUFFER_F_LOCALLY_ORIGINATED, src/vnet/ip/ip4_forward.c, 25.10).
	own bool
	// asks: whoever has the next hop on the wire takes the frame.
	asks bool
	// dut is nil in a cluster.
	dut *DUT
	// next is where the packet is looked up next, out how it ended. Every method that moves the packet answers out's Kind, 0
	// while it is under way, and has set one of them.
	next Point
	out  Outcome
}

// packet is an IP packet or an ARP request with the frame that it is in.
type packet struct {
	kind     Content
	to, from vppwire.MAC
	src, dst netip.Addr
	// proto, sport and dport are 0 where nobody looks at them.
	proto        uint8
	sport, dport uint16
	ttl          int
	// size is the IP packet's, or that of its longest fragment, in bytes; 0 where it does not matter. whole: nobody may fragment it.
	size  int
	whole bool
	// uncut is its size before it was fragmented, 0 where it was not.
	uncut int
	vni   uint32
}

// newTrip is a pod's packet at its start.
func (w *Walker) newTrip(from Point, p Packet) trip {
	w.trail.reset()
	return trip{w: w, packet: packet{dst: p.Dst, proto: p.Proto, sport: p.SrcPort, dport: p.DstPort, ttl: ttlInitial, size: p.Size, whole: p.Whole}, next: from, forged: p.Src}
}

// run follows the packet to its end.
func (t *trip) run() {
	for t.step() == 0 {
	}
	t.out.Hops = ttlInitial - t.ttl
	if t.depth > 0 {
		t.out.Hops = ttlInitial - t.w.inside[0].ttl
	}
	t.out.Fragmented, t.out.Lookups = t.fragmented, t.lookups
}

// step takes the packet to where it is looked up next, through all tunnels between.
func (t *trip) step() Kind {
	t.steps = 0
	end := t.lookedUp()
	for end == 0 && t.depth > 0 {
		end = t.lookedUp()
	}
	return end
}

// lookedUp is the packet where it is looked up next.
func (t *trip) lookedUp() Kind {
	n := t.next.at
	if n == nil {
		n = t.w.byName[t.next.Node]
	}
	switch {
	case n == nil:
		t.out = Outcome{Kind: Dropped, Node: t.next.Node, Why: "the node is not in the cluster"}
		return Dropped
	case t.next.wire:
		return t.outsider(n, t.next.VPP)
	case t.next.VPP:
		return t.route(n, t.next.Table)
	}
	return t.host(n, t.next.Netns, t.next.arrived)
}

// forwarded takes one from the TTL; false when that was the last.
func (t *trip) forwarded() bool {
	t.ttl--
	return t.ttl > 0
}

// looksAtDestination notes that something beside table lookups looks at the packet's destination. That of a tunnel's packet
// is the tunnel's, whatever is inside.
func (t *trip) looksAtDestination() { t.exact = t.exact || t.depth == 0 }

// spent counts a step; true when the packet has made too many of them.
func (t *trip) spent() bool {
	t.steps++
	return t.steps > stepsMax
}

func (t *trip) drop(n *node, why string) Kind {
	t.out = Outcome{Kind: Dropped, Node: n.Name, Why: why}
	return Dropped
}

func (t *trip) loop(n *node, why string) Kind {
	t.out = Outcome{Kind: Looped, Node: n.Name, Why: why}
	return Looped
}

// unsure ends a way that hangs on what a snapshot does not hold: laws take it for a drop, a device under test notes it.
func (t *trip) unsure(n *node, why string) Kind {
	if t.dut != nil && t.dut.unsure == "" {
		t.dut.unsure = why
	}
	return t.drop(n, why)
}

// left ends a way at a port of a device under test, or where copies of the packet go on.
func (t *trip) left(n *node) Kind {
	t.out = Outcome{Kind: Left, Node: n.Name}
	return Left
}

// guarded is why a packet is dropped whose sender is not who it says.
const guarded = "the VPP interface does not admit the packet's source"

// l3 is a packet that an interface of VPP hands to its table.
func (t *trip) l3(n *node, ifc *fact.Interface) Kind {
	if !routes(ifc, t.dst) {
		if c := n.natOf(); t.dut != nil && ifc.NAT != 0 && c != nil && t.dst.Is4() && !plainNAT(ifc, c) {
			return t.unsure(n, "NAT, which comes before VPP asks whether the interface routes, may remember the packet")
		}
		return t.drop(n, "the VPP interface has no address and so does not route")
	}
	if end := t.filtered(n, ifc, false); end != 0 {
		return end
	}
	table, end := t.translated(n, ifc, tableFor(ifc, t.dst))
	if end != 0 {
		return end
	}
	// VPP 25.10 looks at who sends behind NAT: seen in a trace of ip4-unicast.
	if (ifc.Guarded && t.dst.Is4() || ifc.Guarded6 && t.dst.Is6()) && ifc.Bridge == 0 && !n.VPP.Admits(ifc.Index, t.from, t.src) {
		return t.drop(n, guarded)
	}
	t.in, t.inTable = ifc.Index, tableFor(ifc, t.dst)
	t.w.trail.add(note{node: n, kind: ActTaken, name: ifc.Name, mac: t.to})
	t.next = Point{Node: n.Name, VPP: true, Table: table, at: n}
	return 0
}
