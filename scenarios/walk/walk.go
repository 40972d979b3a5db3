package walk

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire"
)

// Limits of one walk.
const (
	// ttlInitial is the TTL of a pod's packets (Linux' net.ipv4.ip_default_ttl).
	ttlInitial = 64
	// lookupsMax is how often VPP looks one packet up on one pass before it drops it
	// (MAX_LUKPS_PER_PACKET, vnet/dpo/lookup_dpo.c, VPP 25.10).
	lookupsMax = 4
	// recursionsMax bounds how many routes a recursive next hop may take to resolve; VPP finds such loops when a route
	// is added.
	recursionsMax = 8
	// stepsMax bounds how many interfaces, bridge domains and lookups a packet meets until the next lookup that counts, and
	// on its whole way through a device under test: bridging has no TTL, and loopbacks hand frames back.
	stepsMax = 64
	// wrapsMax bounds tunnels inside tunnels.
	wrapsMax = 2
)

// Point is a place where a packet's destination is looked up next. The zero Point is invalid; see FromPod, FromHost,
// FromTable.
type Point struct {
	Node string
	// VPP: in table Table of the node's VPP; else in the Linux namespace Netns.
	VPP   bool
	Table uint32
	Netns string
	// wire: the packet comes into the node's NIC.
	wire bool
	// arrived: the packet came into the namespace, rather than from one of its processes.
	arrived bool
	// at is the node where that has been found already.
	at *node
}

// FromPod is the namespace of a pod, netns as PodState names it.
func FromPod(node, netns string) Point { return Point{Node: node, Netns: netns} }

// FromHost is the host's own namespace.
func FromHost(node string) Point { return Point{Node: node} }

// FromTable is a VPP table, as for a packet that came in on an interface bound to it.
func FromTable(node string, table uint32) Point { return Point{Node: node, VPP: true, Table: table} }

// FromWire is the NIC of a node, which somebody on the wire between the nodes who is none of them sends to: Packet.Src.
func FromWire(node string) Point { return Point{Node: node, wire: true} }

// FromWireToVPP is the same where both the node's host and its VPP have the address, and it was VPP that answered the sender's ARP request.
func FromWireToVPP(node string) Point { return Point{Node: node, VPP: true, wire: true} }

// Kind is how a walk ended. The zero Kind means that it has not.
type Kind uint8

// Ends of a walk.
const (
	Delivered Kind = iota + 1
	Dropped
	Looped
	// Left: it went to somebody on the wire who is no node, came out of a device under test, or copies of it go on.
	Left
)

func (k Kind) String() string {
	switch k {
	case Delivered:
		return "delivered"
	case Dropped:
		return "dropped"
	case Looped:
		return "looped"
	case Left:
		return "left"
	}
	return "under way"
}

// Outcome is where a packet ended up.
type Outcome struct {
	Kind Kind
	// Node is the node where it ended.
	Node string
	// VPP: delivered to VPP itself, else to the stack of namespace Netns, which is empty for the host's own.
	VPP   bool
	Netns string
	// Why says why it was dropped or looped, and who nobody is where it left.
	Why string
	// Hops counts how often it was forwarded, 0 to 64. Packets that carry it do not count.
	Hops int
	// Lookups is the largest number of lookups that one VPP made in a row, 0 to 4.
	Lookups int
	// Fragmented: it was cut on the way, or a packet that carried it.
	Fragmented bool
}

// To reports whether the packet was delivered to the stack of a namespace; netns is empty for the host's own.
func (o Outcome) To(node, netns string) bool {
	return o.Kind == Delivered && !o.VPP && o.Node == node && o.Netns == netns
}

// Hop is one line of a Path.
type Hop struct {
	Node string
	// Place is where on the node: "netns /run/netns/web-0", "table 1", "loop0".
	Place string
	// Decision is what happened there.
	Decision string

	// The same for programs: what is meant by the rest depends on the Act.
	Act Act
	// Interface is VPP's interface that takes, sends, wraps or unwraps, that a bridge domain or a route sends to.
	Interface string
	// Table is the table, the bridge domain, or a tunnel's VNI.
	Table uint32
	// Route is what a table has for the packet.
	Route fact.Route
	// To is the next hop on the wire, or a tunnel's far end.
	To netip.Addr
	// MAC is the frame's destination.
	MAC vppwire.MAC
	// Netns is the namespace of a hop of Linux', and the one that VPP sends to.
	Netns string
}

// Path is a walk with every hop.
type Path struct {
	From    Point
	Packet  Packet
	Hops    []Hop
	Outcome Outcome
}

// Walk follows a packet from a point to dst and keeps its hops. For more than a few walks over one snapshot use New.
func Walk(s fact.Snapshot, from Point, dst netip.Addr) Path { return New(s).Walk(from, dst) }

// Walk follows a packet and keeps its hops.
func (w *Walker) Walk(from Point, dst netip.Addr) Path {
	w.Outcome(from, Packet{Dst: dst})
	return w.Path()
}

// Outcome follows a packet and says where it ended; Path tells its way. It does not allocate, but for the words about a packet
// that is too long.
func (w *Walker) Outcome(from Point, p Packet) Outcome {
	t := w.newTrip(from, p)
	t.run()
	w.trail.from, w.trail.packet, w.trail.outcome = from, p, t.out
	return t.out
}

// Forged follows a packet whose sender, in a namespace, gives an address and a MAC as its own; zero ones are the truth. It reports
// whether VPP turned it away for that; otherwise Path tells its way.
func (w *Walker) Forged(from Point, src netip.Addr, mac vppwire.MAC, dst netip.Addr) (Outcome, bool) {
	p := Packet{Dst: dst}
	t := w.newTrip(from, p)
	t.forged, t.forgedMAC = src, mac
	t.run()
	w.trail.from, w.trail.packet, w.trail.outcome = from, p, t.out
	return t.out, t.out.Kind == Dropped && t.out.Why == guarded
}

// Path is the way of the packet that Outcome or Step followed last.
func (w *Walker) Path() Path { return w.trail.path() }

// Step is what one lookup does with a packet.
type Step struct {
	// Next is where the packet is looked up next, while Outcome.Kind is zero.
	Next    Point
	Outcome Outcome
	// Exact: something beside table lookups looked at the destination (a neighbor entry of its own, a router outside),
	// so that another address on the same routes may fare differently.
	Exact bool
}

// Step takes a packet from one lookup to the next. Lookups that one VPP does in a row count as one. It does not
// allocate. Two destinations that meet the same route in every table of from's node, or in from's namespace and are
// both not local there, get the same Step, unless it is Exact.
func (w *Walker) Step(from Point, p Packet) Step {
	t := w.newTrip(from, p)
	t.step()
	t.out.Fragmented, t.out.Lookups = t.fragmented, t.lookups
	w.trail.from, w.trail.packet, w.trail.outcome = from, p, t.out
	if t.out.Kind != 0 {
		t.next = Point{}
	}
	return Step{Next: t.next, Outcome: t.out, Exact: t.exact}
}
