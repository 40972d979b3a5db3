package check

import (
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/walk"
)

// show adds a packet's path to a violation, as text and hop by hop.
func show(v *fact.Violation, p walk.Path) {
	v.After = p.String()
	v.Way = p.Way()
}
