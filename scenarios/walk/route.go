package walk

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire"
)

// recursive marks a route whose next hop is looked up again.
const recursive = ^uint32(0)

// route is VPP with a packet to be looked up in a table.
func (t *trip) route(n *node, table uint32) Kind {
	switch {
	case n.VPP == nil:
		return t.drop(n, "VPP is down")
	case t.spent():
		return t.loop(n, "interfaces hand the packet to each other")
	case t.dut != nil && n.serves(t.dst):
		return t.unsure(n, "NAT may have made the address VPP's own")
	}
	for made := range lookupsMax {
		t.lookups = max(t.lookups, made+1)
		h, why := t.follow(n, table, t.dst, true)
		if why != "" {
			return t.drop(n, why)
		}
		if h.doubtful {
			return t.unsure(n, "VPP may treat the packet otherwise than its table says")
		}
		switch h.Action {
		case fact.ActionDrop:
			return t.drop(n, "a route drops it")
		case fact.ActionLocal:
			return t.arrived(n, table)
		case fact.ActionLookup:
			table = h.Lookup
		case fact.ActionForward:
			return t.outwards(n, table, &h)
		default:
			return t.drop(n, "the route does nothing known")
		}
	}
	return t.loop(n, "VPP's tables hand the packet to each other")
}

// followed is the route that a packet takes, behind all recursive next hops.
type followed struct {
	fact.Route
	// hop is the neighbor to send to; recursed: it is a recursive next hop.
	hop      netip.Addr
	recursed bool
	// doubtful: VPP may do otherwise than its table says.
	doubtful bool
}

// follow is the longest match with its recursive next hops followed. Each takes over what its own route does, except
// that the next hop stays where that is attached. It answers why there is none.
func (t *trip) follow(n *node, table uint32, dst netip.Addr, told bool) (followed, string) {
	r, ok := n.VPP.Route(table, dst)
	if !ok {
		return followed{}, "the table does not exist"
	}
	if told {
		t.w.trail.route(note{node: n, kind: ActRoute, table: table}, r)
	}
	h := followed{Route: r, hop: r.Via, doubtful: t.doubtful(table, dst, false)}
	for i := 0; h.Action == fact.ActionForward && h.Index == recursive; i++ {
		if i == recursionsMax || !h.hop.IsValid() {
			return h, "the route's next hop does not resolve"
		}
		table, dst = h.Lookup, h.hop
		if h.Route, ok = n.VPP.Route(table, dst); !ok {
			return h, "the table does not exist"
		}
		if told {
			t.w.trail.route(note{node: n, kind: ActNextHop, table: table, addr: dst}, h.Route)
		}
		h.recursed, h.doubtful = true, h.doubtful || t.doubtful(table, dst, true)
		if h.Action == fact.ActionForward && h.Via.IsValid() {
			h.hop = h.Via
		}
	}
	return h, ""
}

func (t *trip) doubtful(table uint32, dst netip.Addr, hop bool) bool {
	return t.dut != nil && t.dut.policy.Doubtful != nil && t.dut.policy.Doubtful(table, dst, hop)
}

// outwards sends the packet out of a route's interface. An attached route asks for the packet's own destination by ARP:
// a neighbor that is known has a host route of its own, unless the table does not use it. Where something resolves through
// the address, VPP keeps a host route for that (src/vnet/fib/fib_entry_src_rr.c).
func (t *trip) outwards(n *node, table uint32, h *followed) Kind {
	if h.Via.IsValid() {
		return t.adjacent(n, h.Index, h.hop)
	}
	resolved := h.recursed
	if !resolved {
		h.hop = t.dst
		t.looksAtDestination()
		resolved = t.dut != nil && t.dut.policy.Resolved != nil && t.dut.policy.Resolved(table, t.dst)
	}
	switch {
	case !resolved:
		return t.ask(n, h.Index, h.hop)
	case t.dut != nil && h.API:
		return t.unsure(n, "the next hop resolves through a client's attached route")
	}
	return t.adjacent(n, h.Index, h.hop)
}

// adjacent sends the packet to a neighbor. VPP looks at TTL and size only where the neighbor is known
// (src/vnet/ip/ip4_forward.c).
func (t *trip) adjacent(n *node, index uint32, hop netip.Addr) Kind {
	ifc, ok := n.VPP.Interface(index)
	if !ok {
		return t.drop(n, "the route's interface does not exist")
	}
	mac, known := n.VPP.Neighbor(index, hop)
	if !known {
		return t.asked(n, &ifc, hop)
	}
	t.to, t.from = mac, ifc.MAC
	return t.sent(n, &ifc, hop)
}

// ask sends the packet to an address whose MAC VPP does not know.
func (t *trip) ask(n *node, index uint32, hop netip.Addr) Kind {
	ifc, ok := n.VPP.Interface(index)
	if !ok {
		return t.drop(n, "the route's interface does not exist")
	}
	return t.asked(n, &ifc, hop)
}

func (t *trip) asked(n *node, ifc *fact.Interface, hop netip.Addr) Kind {
	if t.dut != nil && ifc.MAC == (vppwire.MAC{}) { // 25.10: ip4_glean_node_fn, ip4_neighbor_probe
		return t.unsure(n, "VPP dies of asking out of an interface without Ethernet")
	}
	if t.dut != nil && !hop.Is4() {
		return t.drop(n, "VPP asks for the next hop by ICMPv6, which is not followed")
	}
	if t.dut != nil {
		return t.solicit(n, ifc, hop)
	}
	if !ifc.Up && ifc.Type != fact.TypeVXLAN {
		return t.drop(n, "the route's interface is down")
	}
	why := ""
	if t.asks = ifc.Type == fact.TypeNIC; !t.asks {
		if t.to, why = t.answer(n, ifc, hop); why != "" {
			return t.drop(n, why)
		}
	}
	return t.sent(n, ifc, hop)
}

// sent is a packet that has got its frame.
func (t *trip) sent(n *node, ifc *fact.Interface, hop netip.Addr) Kind {
	if !t.forwarded() {
		if t.dut != nil {
			return t.unsure(n, "the TTL ran out, and VPP may answer with an ICMP error")
		}
		return t.loop(n, "the TTL ran out")
	}
	if t.size > 0 {
		if end := t.fitsVPP(n, ifc); end != 0 {
			return end
		}
	}
	if end := t.filtered(n, ifc, true); end != 0 {
		return end
	}
	return t.transmit(n, ifc, hop)
}

// transmit is a frame that VPP sends out of an interface; hop is the zero Addr for one that was bridged. Tunnels have an
// output node of their own, which does not ask whether they are up, and neither does the one where their packets come in
// (src/plugins/vxlan/encap.c and decap.c).
func (t *trip) transmit(n *node, ifc *fact.Interface, hop netip.Addr) Kind {
	switch {
	case t.spent():
		return t.loop(n, "interfaces hand the frame to each other")
	case t.dut != nil && !hop.IsValid() && n.rulesOf(side{ifc.Index, true}).filtered:
		return t.unsure(n, "a bridge domain's interface has ACLs")
	case ifc.Up || ifc.Type == fact.TypeVXLAN:
	case hop.IsValid():
		return t.drop(n, "the route's interface is down")
	default:
		return t.drop(n, "the bridge member is down")
	}
	switch ifc.Type {
	case fact.TypeTap, fact.TypeAFPacket, fact.TypeMemif, fact.TypeNIC:
		switch {
		case t.dut != nil && ifc.Type == fact.TypeAFPacket && t.exceeds(t.dut.policy.Carries):
			return t.drop(n, "the Linux device below the interface does not take it")
		case t.dut != nil && ifc.NAT&fact.NATOutput != 0:
			return t.unsure(n, "NAT gives addresses to what leaves")
		case t.dut != nil:
			t.emit(ifc.Index)
			return t.left(n)
		case ifc.Type == fact.TypeNIC:
			t.leaving(n, ifc)
			return t.wire(n, ifc, hop)
		}
		return t.toLinux(n, ifc)
	case fact.TypeVXLAN:
		return t.wrapped(n, ifc)
	case fact.TypeLoopback:
		if ifc.BVI { // VPP clears the split horizon group of what comes from the BVI (src/vnet/l2/l2_input.c)
			return t.bridged(n, ifc.Bridge, ifc.Index, 0)
		}
		return t.receive(n, ifc) // a loopback hears what it sends
	}
	return t.drop(n, "the interface sends nothing")
}

// receive is a frame that comes into a VPP interface (src/vnet/ethernet/node.c).
func (t *trip) receive(n *node, ifc *fact.Interface) Kind {
	switch {
	case t.spent():
		return t.loop(n, "interfaces hand the frame to each other")
	case !ifc.Up && ifc.Type != fact.TypeVXLAN:
		return t.drop(n, "the VPP interface that the frame comes to is down")
	case ifc.Unlisted:
		// VPP does not tell such an interface what its bridge domain does, nor that it is gone.
		return t.unsure(n, "the frame comes to an interface for unknown unicast")
	case ifc.Bridge != 0 && ifc.Guarded && (t.kind == ARPRequest || !n.VPP.Admits(ifc.Index, t.from, t.src)):
		return t.drop(n, guarded)
	case ifc.Bridge != 0 && t.dut != nil && n.rulesOf(side{ifc.Index, false}).filtered:
		return t.unsure(n, "a bridge domain's interface has ACLs")
	case ifc.Bridge != 0:
		return t.bridged(n, ifc.Bridge, ifc.Index, ifc.SHG)
	case !isGroup(t.to) && t.to != ifc.MAC:
		return t.drop(n, "the VPP interface does not accept the frame's MAC")
	case t.kind == ARPRequest:
		return t.drop(n, "an ARP request goes no further")
	}
	return t.l3(n, ifc)
}
