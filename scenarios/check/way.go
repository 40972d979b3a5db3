package check

import (
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/walk"
)

// show gives a violation the way of the packet that shows it, as text and hop by hop.
func show(v *fact.Violation, p walk.Path) {
	v.After, v.Way = p.String(), nil
	for _, h := range p.Hops {
		v.Way = append(v.Way, fact.Hop(h))
	}
	v.Way = append(v.Way, fact.Hop{Node: p.Outcome.Node, Decision: p.Outcome.String()})
}
