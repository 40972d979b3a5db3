package sim

import (
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/removal"
	"github.com/vppdrill/vppdrill/sim/internal/view"
	"github.com/vppdrill/vppdrill/vppwire"
)

// beforeCall looks at what a call is about to take away; false when that is nothing. What it shows is what the models
// hold, not what the agent thinks.
func (m *machine) beforeCall(c vppwire.Call) bool {
	if !c.Writes() {
		return false
	}
	var t removal.Target
	var takes bool
	if op := c.LinuxOp(); op != nil {
		t, takes = removal.OfLinux(op)
	} else {
		t, takes = removal.OfVPP(c.Request())
	}
	if !takes {
		return false
	}
	m.w.look.VPP, m.w.look.Linux = view.Of(m.vpp), m.host
	return m.w.look.Before(t)
}

// afterCall reports what beforeCall's call has taken away, if anything.
func (m *machine) afterCall(d *dataplaneCall, taking bool) {
	if !taking || m.vpp == nil {
		return
	}
	if r := m.w.look.After(d.call.Name()); r != nil {
		m.fact(fact.Fact{What: fact.Removed{Removal: r, Ago: m.w.eng.Now() - d.since}})
	}
}
