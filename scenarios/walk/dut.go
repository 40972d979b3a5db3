package walk

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire"
)

// DUT is one VPP by itself, a device under test: frames are injected into its interfaces, every copy is followed, and what
// leaves through a tap, an AF_PACKET interface or a NIC is emitted. Nobody answers VPP's ARP requests; they are emitted as
// well; what it says by ICMPv6 is not. A DUT is valid until its VPP changes, and for one goroutine.
type DUT struct {
	node   node
	walker Walker
	policy Policy
	frames []Sent
	unsure string
}

// Policy answers for what a packet's way hangs on and a view of VPP does not hold: what VPP has learned, and what its tables
// remember of their history. A nil function knows of nothing.
type Policy struct {
	// Learned reports whether a bridge domain has learned a MAC.
	Learned func(bridge uint32, mac vppwire.MAC) bool
	// Unflooded reports whether a member of a bridge domain, which is no BVI, gets no flooded frames.
	Unflooded func(index uint32) bool
	// Resolved reports whether something resolves through an address of a table: a tunnel, or a recursive next hop.
	Resolved func(table uint32, addr netip.Addr) bool
	// Carries is what the Linux devices below AF_PACKET interfaces take from VPP, in bytes of the IP packet; 0 is everything.
	Carries uint32
	// Doubtful reports whether VPP may do something else with an address than its table says. hop: the address is a next hop or
	// a tunnel's far end.
	Doubtful func(table uint32, addr netip.Addr, hop bool) bool
}

// Content is what a frame carries.
type Content uint8

// Contents of frames. The zero Content is an IPv4 packet that nothing here answers.
const (
	Plain Content = iota
	ARPRequest
	ICMPError
	VXLAN
)

// Frame is an Ethernet frame, as far as VPP looks at it.
type Frame struct {
	To, From vppwire.MAC
	Content  Content
	// Src and Dst are the packet's, Dst also the address that an ARP request asks for.
	Src, Dst netip.Addr
	// Proto (of IP) and the ports are what NAT looks at, 0 where nobody does.
	Proto            uint8
	SrcPort, DstPort uint16
	TTL              int
	// Size is the IP packet's, in bytes; Whole: nobody may fragment it. Where Uncut is not 0, VPP sends fragments of a packet of Uncut
	// bytes, the longest of them Size bytes long.
	Size, Uncut int
	Whole       bool
	// VNI and Inner belong to VXLAN.
	VNI   uint32
	Inner *Frame
}

// Sent is a frame that left through an interface.
type Sent struct {
	Index uint32
	Frame Frame
}

// Emission is what becomes of an injected frame. The zero Emission is a drop.
type Emission struct {
	// Frames are in no order that means anything.
	Frames []Sent
	// Unsure says why VPP could as well send others; empty where it could not.
	Unsure string
}

// NewDUT looks at one VPP.
func NewDUT(v fact.VPP, p Policy) *DUT {
	d := &DUT{node: node{NodeState: &fact.NodeState{Name: "dut", VPP: v}}, policy: p}
	d.node.indexBridges()
	return d
}

// Inject follows a frame that comes in through an interface, and all of its copies.
func (d *DUT) Inject(in uint32, f Frame) Emission {
	ifc, ok := d.node.VPP.Interface(in)
	if !ok {
		return Emission{}
	}
	d.frames, d.unsure = nil, ""
	d.walker.trail.reset()
	t := trip{w: &d.walker, dut: d}
	d.walker.nat = &d.walker.translation
	d.walker.nat.sessions, d.walker.nat.permitted, d.walker.nat.draw = d.walker.nat.sessions[:0], d.walker.nat.permitted[:0], t.drawn
	t.unpack(&f)
	t.finish(t.receive(&d.node, &ifc))
	return Emission{Frames: d.frames, Unsure: d.unsure}
}

// unpack makes the trip that of a frame, with what is inside on the walker's stack, the innermost first.
func (t *trip) unpack(f *Frame) {
	if f.Inner != nil {
		t.unpack(f.Inner)
		t.w.inside = append(t.w.inside[:t.depth], t.packet)
		t.depth++
	}
	t.packet = packet{kind: f.Content, to: f.To, from: f.From, src: f.Src, dst: f.Dst, ttl: f.TTL, size: f.Size, uncut: f.Uncut, whole: f.Whole, vni: f.VNI,
		proto: f.Proto, sport: f.SrcPort, dport: f.DstPort}
}

// drawn is the endpoint of a new session: which of several VPP takes hangs on its own numbers.
func (t *trip) drawn(n int) int {
	if n > 1 && t.dut.unsure == "" {
		t.dut.unsure = "NAT draws one of several endpoints"
	}
	return 0
}

// emit notes the frame as one that leaves.
func (t *trip) emit(index uint32) {
	var inner *Frame
	for i := range t.depth {
		f := t.w.inside[i].frame(inner)
		inner = &f
	}
	t.dut.frames = append(t.dut.frames, Sent{index, t.frame(inner)})
}

func (p *packet) frame(inner *Frame) Frame {
	return Frame{To: p.to, From: p.from, Content: p.kind, Src: p.src, Dst: p.dst, TTL: p.ttl, Size: p.size, Uncut: p.uncut, Whole: p.whole, VNI: p.vni, Inner: inner,
		Proto: p.proto, SrcPort: p.sport, DstPort: p.dport}
}

// finish follows the packet until it ends.
func (t *trip) finish(end Kind) {
	for end == 0 {
		end = t.lookedUp()
	}
}

// copied follows a copy of a bridged frame until it ends, from a BVI on or out of another member.
func (t *trip) copied(n *node, to *fact.Interface, bvi bool) {
	inside := slices.Clone(t.w.inside[:t.depth])
	c := *t
	if bvi {
		c.finish(c.toBVI(n, to))
	} else {
		c.finish(c.transmit(n, to, netip.Addr{}))
	}
	t.steps = c.steps
	copy(t.w.inside[:t.depth], inside)
}

// broadcast is everybody's MAC.
var broadcast = vppwire.MAC{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}

// solicit sends an ARP request for an address out of an interface: none where that has no address to ask with.
func (t *trip) solicit(n *node, ifc *fact.Interface, target netip.Addr) Kind {
	from := *ifc
	if ifc.HasUnnumbered {
		var ok bool
		if from, ok = n.VPP.Interface(ifc.Unnumbered); !ok {
			return t.drop(n, "the interface borrows the addresses of one that is gone")
		}
	}
	if !routesIPv4(&from) {
		return t.drop(n, "the interface has no address to send ARP requests from")
	}
	t.packet = packet{kind: ARPRequest, to: broadcast, from: ifc.MAC, dst: target}
	t.depth, t.own = 0, true
	return t.transmit(n, ifc, target)
}

func routesIPv4(ifc *fact.Interface) bool {
	return slices.ContainsFunc(ifc.Addrs, func(p netip.Prefix) bool { return p.Addr().Is4() })
}

// complain sends an ICMP error to where the packet came from: none where the interface that it came in through has no
// address to send it from.
func (t *trip) complain(n *node) Kind {
	in, ok := n.VPP.Interface(t.in)
	if !ok || !routes(&in, t.src) {
		return t.drop(n, "the interface has no address to send ICMP errors from")
	}
	t.packet = packet{kind: ICMPError, dst: t.src, ttl: ttlInitial, size: 20}
	t.depth = 0
	return t.route(n, tableFor(&in, t.dst))
}
