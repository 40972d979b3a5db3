package packettrace

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/walk"
	"github.com/vppdrill/vppdrill/vppwire"
)

// Hop is one hop of a way, seen or foretold: what happened at which place of which node, and what came of it.
type Hop struct {
	Node string `json:"node"`
	// Place is an interface, a table, or a namespace's name for people.
	Place string `json:"place"`
	// Says is the hop in words.
	Says string `json:"says"`

	// act tells hops of different sorts apart, to where the packet went on; blind: VPP's tracer does not show such hops.
	act   walk.Act
	to    string
	blind bool
}

// ends is the act of a hop that is a packet's last.
const ends walk.Act = 0

// same reports whether a packet did at one hop what the other says. Where one of them does not say where it went on, that
// does not matter.
func (h Hop) same(o Hop) bool {
	if h.act == ends || o.act == ends {
		return h.act == o.act && h.Node == o.Node && h.to == o.to
	}
	return h.act == o.act && h.Node == o.Node && h.Place == o.Place && (h.to == "" || o.to == "" || h.to == o.to)
}

// What a packet's end can be, as the to of its last hop.
const (
	arrived = "arrived"
	lost    = "lost"
	away    = "left"
)

// Foretold is the way that a walker foretells, hop by hop. dst is where the packet is sent to.
func Foretold(p walk.Path, dst netip.Addr) (out []Hop) {
	for i := 0; i < len(p.Hops); i++ {
		h := p.Hops[i]
		o := Hop{Node: h.Node, Place: h.Place, Says: h.Decision, act: h.Act}
		switch h.Act {
		case walk.ActHostRoute, walk.ActLocal, walk.ActNAT, walk.ActSTN, walk.ActFragments:
			o.blind = true // Linux' part, and what shows in the packet only
		case walk.ActTaken, walk.ActUnwrapped:
		case walk.ActRoute:
			for ; i+1 < len(p.Hops) && p.Hops[i+1].Act == walk.ActNextHop; i++ {
				o.Says += ", " + p.Hops[i+1].Decision
			}
			o.to = goesTo(h, p.Hops[i], dst)
		case walk.ActWrapped:
			o.to = vniWord(h.Table)
			// VPP keeps the path of a tunnel's packets with the tunnel and looks nothing up: its tracer shows the end alone.
			for ; i+1 < len(p.Hops) && (p.Hops[i+1].Act == walk.ActRoute || p.Hops[i+1].Act == walk.ActNextHop); i++ {
				o.Says += ", " + p.Hops[i+1].Place + " " + p.Hops[i+1].Decision
			}
		case walk.ActSwitched:
			o.Place, o.to = bridgePlace, h.Interface
		case walk.ActToLinux:
			o.Place, o.to = h.Interface, macWord(h.MAC)
		case walk.ActWire:
			o.act = walk.ActToLinux // out of an interface, either way
		}
		out = append(out, o)
	}
	return append(out, endOf(p.Outcome))
}

// bridgePlace is a bridge domain: VPP's tracer tells its index, not its number.
const bridgePlace = "bridge"

// goesTo is where a route sends a packet: first is the route itself, last the one that resolves its next hop.
func goesTo(first, last walk.Hop, dst netip.Addr) string {
	switch last.Route.Action {
	case fact.ActionDrop:
		return "drop"
	case fact.ActionLocal:
		return "local"
	case fact.ActionLookup:
		return "table " + itoa(last.Route.Lookup)
	}
	hop := dst
	for _, h := range [...]walk.Hop{first, last} {
		if h.Route.Via.IsValid() {
			hop = h.Route.Via
		}
	}
	return outWord(last.Interface, hop.String())
}

func endOf(o walk.Outcome) Hop {
	h := Hop{Node: o.Node, Says: o.String(), act: ends, to: lost}
	switch o.Kind {
	case walk.Delivered:
		h.to, h.Place = arrived, "VPP"
		if !o.VPP {
			h.Place = "Linux"
		}
	case walk.Left:
		h.to = away
	}
	return h
}

// Arrived is the end of a way at a link of Linux'.
func Arrived(node, says string) Hop {
	return Hop{Node: node, Place: "Linux", Says: says, act: ends, to: arrived}
}

// Lost is the end of a way that nothing was seen behind.
func Lost(node, says string) Hop { return Hop{Node: node, Says: says, act: ends, to: lost} }

func vniWord(vni uint32) string            { return "vni " + itoa(vni) }
func macWord(m vppwire.MAC) string         { return m.String() }
func outWord(iface, nextHop string) string { return iface + " via " + nextHop }
