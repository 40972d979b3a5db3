package walk

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/scenarios"
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
	// framesMax bounds how many tunnels one frame may cross without being routed: bridging has no TTL.
	framesMax = 8
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

// Kind is how a walk ended. The zero Kind means that it has not.
type Kind uint8

// Ends of a walk.
const (
	Delivered Kind = iota + 1
	Dropped
	Looped
)

func (k Kind) String() string {
	switch k {
	case Delivered:
		return "delivered"
	case Dropped:
		return "dropped"
	case Looped:
		return "looped"
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
	// Why says why it was dropped or looped.
	Why string
	// Hops counts how often it was forwarded, 0 to 64. Packets that carry it do not count.
	Hops int
	// at and table are where VPP found the address to be its own.
	at    *node
	table uint32
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
}

// Path is a walk with every hop.
type Path struct {
	From    Point
	Dst     netip.Addr
	Hops    []Hop
	Outcome Outcome
}

// Walk follows a packet from a point to dst and keeps its hops. For more than a few walks over one snapshot use New.
func Walk(s scenarios.Snapshot, from Point, dst netip.Addr) Path { return New(s).Walk(from, dst) }

// Walk follows a packet and keeps its hops.
func (w *Walker) Walk(from Point, dst netip.Addr) Path {
	p := Path{From: from, Dst: dst}
	t := trip{w: w, dst: dst, ttl: ttlInitial, hops: &p.Hops}
	p.Outcome = t.run(from)
	return p
}

// Outcome follows a packet and keeps only where it ended. It does not allocate.
func (w *Walker) Outcome(from Point, dst netip.Addr) Outcome {
	t := trip{w: w, dst: dst, ttl: ttlInitial}
	return t.run(from)
}

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
func (w *Walker) Step(from Point, dst netip.Addr) Step {
	t := trip{w: w, dst: dst, ttl: ttlInitial}
	next, out := t.step(from)
	return Step{Next: next, Outcome: out, Exact: t.exact}
}

// trip is one packet under way.
type trip struct {
	w     *Walker
	dst   netip.Addr
	ttl   int
	wraps int
	exact bool
	// hops is nil when nobody wants to read them.
	hops *[]Hop
}

func (t *trip) run(at Point) Outcome {
	for {
		next, out := t.step(at)
		if out.Kind != 0 {
			out.Hops = ttlInitial - t.ttl
			return out
		}
		at = next
	}
}

func (t *trip) step(at Point) (Point, Outcome) {
	n := at.at
	if n == nil {
		n = t.w.byName[at.Node]
	}
	if n == nil {
		return Point{}, Outcome{Kind: Dropped, Node: at.Node, Why: "the node is not in the cluster"}
	}
	if at.VPP {
		return t.route(n, at.Table)
	}
	return t.host(n, at.Netns, at.arrived)
}

// forwarded takes one from the TTL; false when that was the last.
func (t *trip) forwarded() bool {
	t.ttl--
	return t.ttl > 0
}

func (t *trip) drop(n *node, why string) (Point, Outcome) {
	return Point{}, Outcome{Kind: Dropped, Node: n.Name, Why: why}
}

func (t *trip) loop(n *node, why string) (Point, Outcome) {
	return Point{}, Outcome{Kind: Looped, Node: n.Name, Why: why}
}
