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
	kind              Act
	table             uint32 // table, bridge domain, VNI or MTU
	at                int    // the route in the trail's list
	mac               vppwire.MAC
	src, addr         netip.Addr
	netns, name, link string
}

// Act is what happens at a hop. The zero Act is the end of a way.
type Act uint8

// What can happen at a hop.
const (
	ActLocal     Act = iota + 1 // Linux has the address
	ActHostRoute                // Linux routes
	ActToLinux                  // VPP sends to Linux
	ActTaken                    // a VPP interface takes the frame
	ActRoute                    // a VPP table has a route
	ActNextHop                  // its next hop is looked up
	ActSwitched                 // a bridge domain knows the MAC
	ActWrapped                  // a tunnel wraps the frame
	ActUnwrapped                // a tunnel unwraps it
	ActWire                     // a NIC sends
	ActFragments                // it is cut to fit
	ActNAT                      // NAT translates it
	ActSTN                      // a rule of the STN plugin hands it to the host
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
		p.Hops = append(p.Hops, l.hop(&l.notes[i]))
	}
	return p
}

// hop is one note with its text.
func (l *trail) hop(n *note) Hop {
	h := Hop{Node: n.node.Name, Act: n.kind, Interface: n.name, Table: n.table, MAC: n.mac}
	h.Place, h.Decision = l.text(n)
	switch n.kind {
	case ActRoute, ActNextHop:
		r := l.routes[n.at]
		h.Route, h.Interface = r, ""
		if ifc, ok := n.node.VPP.Interface(r.Index); ok && r.Action == fact.ActionForward {
			h.Interface = ifc.Name
		}
	case ActWire, ActWrapped:
		h.To = n.addr
	case ActToLinux, ActLocal, ActHostRoute:
		h.Netns = n.netns
	}
	return h
}

func (l *trail) text(n *note) (place, decision string) {
	switch n.kind {
	case ActLocal:
		return placeNetns(n.netns), n.addr.String() + " is local on " + n.name
	case ActHostRoute:
		return placeNetns(n.netns), describeHostRoute(l.hostRoutes[n.at])
	case ActToLinux:
		return n.name, "to " + placeNetns(n.netns) + " link " + n.link + " " + n.mac.String()
	case ActTaken:
		return n.name, "takes the frame for " + n.mac.String()
	case ActRoute:
		return placeTable(n.table), describeRoute(n.node, l.routes[n.at])
	case ActNextHop:
		return placeTable(n.table), "next hop " + n.addr.String() + ": " + describeRoute(n.node, l.routes[n.at])
	case ActSwitched:
		return placeBridge(n.table), n.mac.String() + " to " + n.name
	case ActWrapped:
		return n.name, "VXLAN " + n.src.String() + " to " + n.addr.String() + " vni " + itoa(n.table)
	case ActUnwrapped:
		return n.name, "takes the frame from " + n.addr.String()
	case ActFragments:
		return n.name, "in fragments, for an MTU of " + itoa(n.table)
	case ActNAT:
		return n.name, "NAT makes it " + netip.AddrPortFrom(n.src, uint16(n.table)).String() + " to " + netip.AddrPortFrom(n.addr, uint16(n.at)).String()
	case ActSTN:
		return n.name, "the STN rule of " + n.addr.String() + " hands it to the host"
	case ActWire:
		return n.name, "over the wire to " + n.addr.String() + " at " + n.link
	}
	panic("walk: unknown note")
}
