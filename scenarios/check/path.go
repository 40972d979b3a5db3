package check

import (
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/walk"
)

// show adds a packet's path to a violation, as text and hop by hop.
func show(v *fact.Violation, p walk.Path) {
	v.After, v.Way = p.String(), nil
	for _, h := range p.Hops {
		v.Way = append(v.Way, fact.Hop{Node: h.Node, Place: h.Place, Decision: h.Decision})
	}
	v.Way = append(v.Way, fact.Hop{Node: p.Outcome.Node, Decision: p.Outcome.String()})
}
