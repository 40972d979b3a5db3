package walk

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// flow is what NAT finds a session by: a packet's addresses, ports and protocol, and the table that it came into.
type flow struct {
	src, dst netip.AddrPort
	table    uint32
	proto    uint8
}

// session is what a VPP remembers of one translated connection, both ways (src/plugins/nat/nat44-ed/nat44_ed.h, snat_session_t).
type session struct {
	node *node
	// in is what comes from outside, or of a dynamic one back to it; out what comes from inside.
	in, out flow
	// inSrc and inDst, outSrc and outDst, are what they become. inTable is where the former are looked up then.
	inSrc, inDst   netip.AddrPort
	outSrc, outDst netip.AddrPort
	inTable        uint32
}

// translation is what NAT did on the way of a packet, on each node by itself.
type translation struct {
	sessions []session
	// permitted is what reflecting rules of ACLs have let through.
	permitted []permitted
	// draw chooses one of n locals for a new session.
	draw func(n int) int
}

// Exchange is a request and its answer.
type Exchange struct {
	// There is where the request ended, At the address and port that it had then; Back and From the same of the answer, which only a
	// request that was delivered to a Linux stack has. From is whom the client hears.
	There, Back Outcome
	At, From    netip.AddrPort
	// Client is from whom the request came then, To for whom the answer is at its end.
	Client, To netip.AddrPort
}

// Exchange follows the first packet of a connection and its answer. Every VPP begins without sessions and keeps those that the request
// makes. draw chooses among n locals of a mapping, in the order of NATMapping.Drawn.
func (w *Walker) Exchange(from Point, p Packet, draw func(n int) int) Exchange {
	return w.exchange(from, p, draw, func() {})
}

// ExchangeWay is the way of an Exchange as text, of the request and then of the answer.
func (w *Walker) ExchangeWay(from Point, p Packet, draw func(n int) int) string {
	var text []string
	_, paths := w.ExchangePaths(from, p, draw)
	for i := range paths {
		text = append(text, paths[i].String())
	}
	return strings.Join(text, "\n")
}

// ExchangePaths is an Exchange with the ways of the request and of the answer, which is missing where there is none.
func (w *Walker) ExchangePaths(from Point, p Packet, draw func(n int) int) (x Exchange, paths []Path) {
	x = w.exchange(from, p, draw, func() { paths = append(paths, w.Path()) })
	return x, paths
}

func (w *Walker) exchange(from Point, p Packet, draw func(n int) int, ended func()) (x Exchange) {
	w.nat = &w.translation
	w.nat.sessions, w.nat.permitted, w.nat.draw = w.nat.sessions[:0], w.nat.permitted[:0], draw
	defer func() { w.nat = nil }()
	t := w.newTrip(from, p)
	t.run()
	x.There, x.At, x.Client = t.out, netip.AddrPortFrom(t.dst, t.dport), netip.AddrPortFrom(t.src, t.sport)
	w.trail.from, w.trail.packet, w.trail.outcome = from, p, t.out
	ended()
	if t.out.Kind != Delivered || t.out.VPP {
		return x
	}
	back := Packet{Src: t.dst, SrcPort: t.dport, Dst: t.src, DstPort: t.sport, Proto: p.Proto}
	at := Point{Node: t.out.Node, Netns: t.out.Netns}
	r := w.newTrip(at, back)
	r.answers = true
	r.run()
	x.Back, x.From, x.To = r.out, netip.AddrPortFrom(r.src, r.sport), netip.AddrPortFrom(r.dst, r.dport)
	w.trail.from, w.trail.packet, w.trail.outcome = at, back, r.out
	ended()
	return x
}

// natOf is a node's NAT, nil where it has none.
func (n *node) natOf() *fact.NAT {
	if !n.natKnown {
		n.natKnown = true
		if c, on := n.VPP.NAT(); on {
			n.nat = &c
		}
	}
	return n.nat
}

func (p *packet) flow(table uint32) flow {
	return flow{netip.AddrPortFrom(p.src, p.sport), netip.AddrPortFrom(p.dst, p.dport), table, p.proto}
}

func (p *packet) rewrite(src, dst netip.AddrPort) {
	p.src, p.sport, p.dst, p.dport = src.Addr(), src.Port(), dst.Addr(), dst.Port()
}

// translated is a packet that comes into an interface of NAT's, and the table that it is looked up in then. Packets without a protocol
// are not translated: they are no connection's.
func (t *trip) translated(n *node, ifc *fact.Interface, table uint32) (uint32, Kind) {
	if ifc.NAT == 0 || t.w.nat == nil || !t.dst.Is4() {
		return table, 0
	}
	if c := n.natOf(); t.dut != nil && c != nil && (!plainNAT(ifc, c) || t.depth > 0 && !c.Forwarding) {
		return table, t.unsure(n, "NAT does what the wiring never asks of it")
	}
	if t.proto == 0 || t.depth > 0 {
		return table, 0
	}
	c := n.natOf()
	if c == nil {
		return table, 0
	}
	f := t.flow(table)
	for i := range t.w.nat.sessions {
		s := &t.w.nat.sessions[i]
		if s.node != n {
			continue
		}
		switch f {
		case s.out:
			if ifc.NAT&fact.NATInside != 0 {
				t.rewrite(s.outSrc, s.outDst)
				t.noteNAT(n, ifc)
				return table, 0
			}
		case s.in:
			if ifc.NAT&(fact.NATOutside|fact.NATOutput) != 0 {
				t.rewrite(s.inSrc, s.inDst)
				t.noteNAT(n, ifc)
				return s.inTable, 0
			}
		}
	}
	if ifc.NAT&(fact.NATOutside|fact.NATOutput) == 0 {
		return table, t.passes(n, c)
	}
	m := c.Find(t.dst, t.dport, t.proto)
	if m == nil || m.Identity || ifc.NAT&(fact.NATInside|fact.NATOutside) == (fact.NATInside|fact.NATOutside) && c.Leaves(t.dst) {
		return table, t.passes(n, c)
	}
	if t.answers {
		return table, t.drop(n, "NAT has no session for the answer")
	}
	return t.balance(n, ifc, c, m, f)
}

// plainNAT reports whether an interface is on both sides of a NAT that gives what leaves no address of its own, as the wiring has it: of others a device
// under test says nothing.
func plainNAT(ifc *fact.Interface, c *fact.NAT) bool {
	return ifc.NAT == fact.NATInside|fact.NATOutside && len(c.Addrs)+len(c.Bound) == 0
}

// serves reports whether an address is one that NAT makes VPP's own in the tables of outside interfaces.
func (n *node) serves(addr netip.Addr) bool {
	c := n.natOf()
	return c != nil && (slices.Contains(c.Addrs, addr) || slices.Contains(c.Twice, addr) ||
		slices.ContainsFunc(c.Mappings, func(m fact.NATMapping) bool { return m.Addr == addr }))
}

// passes is a packet that nothing translates.
func (t *trip) passes(n *node, c *fact.NAT) Kind {
	if !c.Forwarding {
		return t.drop(n, "NAT forwards only what it translates")
	}
	return 0
}

// balance begins a session of a mapping (create_session_for_static_mapping_ed).
func (t *trip) balance(n *node, ifc *fact.Interface, c *fact.NAT, m *fact.NATMapping, f flow) (uint32, Kind) {
	of := m.Draws()
	if of == 0 {
		return f.table, t.drop(n, "NAT has no local for the mapping")
	}
	l := m.Drawn(t.w.nat.draw(of))
	s := session{node: n, in: f, inSrc: f.src, inDst: l.Addr, inTable: l.Table}
	if m.Twice || m.Self && f.src.Addr() == l.Addr.Addr() {
		if len(c.Twice) == 0 {
			return f.table, t.drop(n, "NAT has no address for a client that is translated too")
		}
		s.inSrc = netip.AddrPortFrom(c.Twice[0], f.src.Port())
	}
	s.out = flow{s.inDst, s.inSrc, l.Table, f.proto}
	s.outSrc, s.outDst = f.dst, f.src
	t.w.nat.sessions = append(t.w.nat.sessions, s)
	t.rewrite(s.inSrc, s.inDst)
	t.noteNAT(n, ifc)
	return l.Table, 0
}

// leaving is a packet that goes out of an output interface: it gets an address of NAT's, unless an identity keeps its own
// (nat44_ed_in2out_output_node).
func (t *trip) leaving(n *node, ifc *fact.Interface) {
	if ifc.NAT&fact.NATOutput == 0 || t.w.nat == nil || t.proto == 0 || t.depth > 0 || !t.dst.Is4() {
		return
	}
	c := n.natOf()
	if c == nil || len(c.Addrs) == 0 || c.Keeps(t.src, t.sport, t.proto, t.inTable) {
		return
	}
	f := t.flow(t.inTable)
	outside := netip.AddrPortFrom(c.Addrs[0], t.sport)
	s := session{node: n, out: f, outSrc: outside, outDst: f.dst, in: flow{f.dst, outside, ifc.Table4, f.proto}, inSrc: f.dst, inDst: f.src, inTable: t.inTable}
	t.w.nat.sessions = append(t.w.nat.sessions, s)
	t.rewrite(s.outSrc, s.outDst)
	t.noteNAT(n, ifc)
}

func (t *trip) noteNAT(n *node, ifc *fact.Interface) {
	t.w.trail.add(note{node: n, kind: ActNAT, name: ifc.Name, src: t.src, addr: t.dst, table: uint32(t.sport), at: int(t.dport)})
}
