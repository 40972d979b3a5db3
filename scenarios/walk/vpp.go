package walk

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/scenarios"
)

// recursive marks a route whose next hop is looked up again.
const recursive = ^uint32(0)

// route is VPP with a packet to be looked up in a table.
func (t *trip) route(n *node, table uint32) (Point, Outcome) {
	if n.VPP == nil {
		return t.drop(n, "VPP is down")
	}
	for range lookupsMax {
		r, ok := n.VPP.Route(table, t.dst)
		if !ok {
			return t.drop(n, "the table does not exist")
		}
		if t.hops != nil {
			t.note(n, placeTable(table), describeRoute(n, r))
		}
		hop := r.Via
		// A recursive next hop takes over what its own route does, except that the next hop stays where that is
		// attached.
		for i := 0; r.Action == scenarios.ActionForward && r.Index == recursive; i++ {
			if i == recursionsMax || !hop.IsValid() {
				return t.drop(n, "the route's next hop does not resolve")
			}
			if r, ok = n.VPP.Route(r.Table, hop); !ok {
				return t.drop(n, "the table does not exist")
			}
			if t.hops != nil {
				t.note(n, placeTable(r.Table), "next hop "+hop.String()+": "+describeRoute(n, r))
			}
			if r.Action == scenarios.ActionForward && r.Via.IsValid() {
				hop = r.Via
			}
			if r.Action == scenarios.ActionLocal {
				return t.drop(n, "the route's next hop is VPP itself")
			}
		}
		switch r.Action {
		case scenarios.ActionDrop:
			return t.drop(n, "a route drops it")
		case scenarios.ActionLocal:
			return Point{}, Outcome{Kind: Delivered, Node: n.Name, VPP: true, at: n, table: table}
		case scenarios.ActionLookup:
			table = r.Lookup
		case scenarios.ActionForward:
			if !hop.IsValid() {
				hop, t.exact = t.dst, true
			}
			return t.transmit(n, r.Index, hop)
		default:
			return t.drop(n, "the route does nothing known")
		}
	}
	return t.loop(n, "VPP's tables hand the packet to each other")
}

// transmit sends the packet to a next hop out of an interface.
func (t *trip) transmit(n *node, index uint32, hop netip.Addr) (Point, Outcome) {
	ifc, ok := n.VPP.Interface(index)
	switch {
	case !ok:
		return t.drop(n, "the route's interface does not exist")
	case !ifc.Up:
		return t.drop(n, "the route's interface is down")
	case !t.forwarded():
		return t.loop(n, "the TTL ran out")
	}
	switch ifc.Type {
	case scenarios.TypeTap, scenarios.TypeAFPacket:
		if ifc.Bridge != 0 {
			return t.drop(n, "the route's interface is a bridge port")
		}
		return t.toLinux(n, &ifc, hop)
	case scenarios.TypeLoopback:
		if !ifc.BVI || ifc.Bridge == 0 {
			return t.drop(n, "a loopback that is no bridge's BVI leads nowhere")
		}
		// The bridge domain floods no ARP, so only static entries count.
		mac, ok := n.VPP.Neighbor(index, hop)
		if !ok {
			return t.drop(n, "the BVI has no neighbor entry for the next hop")
		}
		// VPP clears the split horizon group of unicast frames that come from the BVI (vnet/l2/l2_input.c).
		return t.bridged(n, frame{bridge: ifc.Bridge, in: index, mac: mac})
	case scenarios.TypeNIC:
		return t.wire(n, &ifc, hop)
	}
	return t.drop(n, "the route's interface does not send IP packets")
}

// wire is the network between the nodes. ARP works there: it is learned, so a snapshot need not hold it, and up NICs
// answer.
func (t *trip) wire(n *node, ifc *scenarios.Interface, hop netip.Addr) (Point, Outcome) {
	to, ok := t.w.nics[hop]
	if !ok {
		// A gateway outside the cluster is taken to know the nodes' own addresses and nothing else.
		t.exact = true
		if to, ok = t.w.nics[t.dst]; !ok {
			return t.drop(n, "no NIC of the cluster has the next hop")
		}
	}
	if to.shared {
		return t.drop(n, "several NICs have the next hop's address")
	}
	if to.node == n {
		return t.drop(n, "the next hop is the node itself")
	}
	peer, ok := to.node.VPP.Interface(to.index)
	if !ok {
		return t.drop(n, "the NIC with the next hop does not exist")
	}
	mac := peer.MAC
	if static, ok := n.VPP.Neighbor(ifc.Index, hop); ok {
		mac = static
	}
	if t.hops != nil {
		t.note(n, ifc.Name, "over the wire to "+hop.String()+" at "+to.node.Name)
	}
	return t.receive(to.node, &peer, mac)
}
