package walk

import (
	"strconv"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire"
)

// String is one line per hop and one for the outcome, without a newline at the end.
func (p Path) String() string {
	b := make([]byte, 0, 64*(len(p.Hops)+1))
	for _, h := range p.Hops {
		b = append(b, h.Node...)
		b = append(b, ' ')
		b = append(b, h.Place...)
		b = append(b, ": "...)
		b = append(b, h.Decision...)
		b = append(b, '\n')
	}
	return string(append(b, p.Outcome.String()...))
}

// Way is the path hop by hop, as violations show it; the last one is the packet's end.
func (p Path) Way() (way []fact.Hop) {
	for _, h := range p.Hops {
		way = append(way, fact.Hop{Node: h.Node, Place: h.Place, Decision: h.Decision})
	}
	return append(way, fact.Hop{Node: p.Outcome.Node, Decision: p.Outcome.String()})
}

// String is one line: "delivered on node-2 to netns /run/netns/web-1", "dropped on node-1: VPP is down".
func (o Outcome) String() string {
	s := o.Kind.String() + " on " + o.Node
	switch {
	case o.Kind != Delivered:
		s += ": " + o.Why
	case o.VPP:
		s += " to VPP"
	default:
		s += " to " + placeNetns(o.Netns)
	}
	if o.Fragmented {
		s += ", in fragments"
	}
	return s
}

// String is "node-1 table 1" or "node-1 netns /run/netns/web-0".
func (p Point) String() string {
	switch {
	case p.wire:
		return p.Node + " wire"
	case p.VPP:
		return p.Node + " " + placeTable(p.Table)
	}
	return p.Node + " " + placeNetns(p.Netns)
}

func placeNetns(netns string) string {
	if netns == "" {
		return "host"
	}
	return "netns " + netns
}

func placeTable(id uint32) string  { return "table " + itoa(id) }
func placeBridge(id uint32) string { return "bridge " + itoa(id) }

func itoa(x uint32) string { return strconv.FormatUint(uint64(x), 10) }

func describeRoute(n *node, r fact.Route) string {
	s := r.Prefix.String()
	switch r.Action {
	case fact.ActionDrop:
		return s + " drop"
	case fact.ActionLookup:
		return s + " lookup in table " + itoa(r.Lookup)
	case fact.ActionLocal:
		s += " local"
	}
	if r.Via.IsValid() {
		s += " via " + r.Via.String()
	}
	if r.Index == recursive {
		return s
	}
	if ifc, ok := n.VPP.Interface(r.Index); ok {
		return s + " " + ifc.Name
	}
	return s + " interface " + itoa(r.Index) + " (gone)"
}

func describeHostRoute(r vppwire.HostRoute) string {
	s := r.Dst.String()
	if r.Via.IsValid() {
		s += " via " + r.Via.String()
	}
	return s + " dev " + r.Link
}
