package walk

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire"
)

// trail is the way of the last packet as plain values: its text is made only when somebody asks, so that keeping it costs
// a walk next to nothing. The slices are used again for the next packet.
type trail struct {
	from       Point
	packet     Packet
	outcome    Outcome
	notes      []note
	routes     []fact.Route
	hostRoutes []vppwire.HostRoute
}

// note is one decision. What a field means depends on the kind.
type note struct {
	node              *node
	kind              noteKind
	table             uint32 // table, bridge domain, VNI or MTU
	at                int    // the route in the trail's list
	mac               vppwire.MAC
	src, addr         netip.Addr
	netns, name, link string
}

type noteKind uint8

const (
	noteLocal     noteKind = iota + 1 // Linux has the address
	noteHostRoute                     // Linux routes
	noteToLinux                       // VPP sends to Linux
	noteTaken                         // a VPP interface takes the frame
	noteRoute                         // a VPP table has a route
	noteNextHop                       // its next hop is looked up
	noteSwitched                      // a bridge domain knows the MAC
	noteWrapped                       // a tunnel wraps the frame
	noteUnwrapped                     // a tunnel unwraps it
	noteWire                          // a NIC sends
	noteFragments                     // it is cut to fit
	noteNAT                           // NAT translates it
)

func (l *trail) reset() {
	l.notes, l.routes, l.hostRoutes = l.notes[:0], l.routes[:0], l.hostRoutes[:0]
}

func (l *trail) add(n note) { l.notes = append(l.notes, n) }

func (l *trail) route(n note, r fact.Route) {
	n.at = len(l.routes)
	l.routes = append(l.routes, r)
	l.notes = append(l.notes, n)
}

func (l *trail) hostRoute(n note, r vppwire.HostRoute) {
	n.at = len(l.hostRoutes)
	l.hostRoutes = append(l.hostRoutes, r)
	l.notes = append(l.notes, n)
}

func (l *trail) path() Path {
	p := Path{From: l.from, Packet: l.packet, Outcome: l.outcome}
	for i := range l.notes {
		place, decision := l.text(&l.notes[i])
		p.Hops = append(p.Hops, Hop{Node: l.notes[i].node.Name, Place: place, Decision: decision})
	}
	return p
}

func (l *trail) text(n *note) (place, decision string) {
	switch n.kind {
	case noteLocal:
		return placeNetns(n.netns), n.addr.String() + " is local on " + n.name
	case noteHostRoute:
		return placeNetns(n.netns), describeHostRoute(l.hostRoutes[n.at])
	case noteToLinux:
		return n.name, "to " + placeNetns(n.netns) + " link " + n.link + " " + n.mac.String()
	case noteTaken:
		return n.name, "takes the frame for " + n.mac.String()
	case noteRoute:
		return placeTable(n.table), describeRoute(n.node, l.routes[n.at])
	case noteNextHop:
		return placeTable(n.table), "next hop " + n.addr.String() + ": " + describeRoute(n.node, l.routes[n.at])
	case noteSwitched:
		return placeBridge(n.table), n.mac.String() + " to " + n.name
	case noteWrapped:
		return n.name, "VXLAN " + n.src.String() + " to " + n.addr.String() + " vni " + itoa(n.table)
	case noteUnwrapped:
		return n.name, "takes the frame from " + n.addr.String()
	case noteFragments:
		return n.name, "in fragments, for an MTU of " + itoa(n.table)
	case noteNAT:
		return n.name, "NAT makes it " + netip.AddrPortFrom(n.src, uint16(n.table)).String() + " to " + netip.AddrPortFrom(n.addr, uint16(n.at)).String()
	case noteWire:
		return n.name, "over the wire to " + n.addr.String() + " at " + n.link
	}
	panic("walk: unknown note")
}
