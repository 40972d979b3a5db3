package sim

import (
	"fmt"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// impatient tells of an ADD whose sandbox is on disk since this event, and which is wired next, where the agent is not woken by the end of the
// patience with it: while VPP refuses it, nobody would hear why it waits.
func (p *process) impatient(ev agent.Event) {
	e, written := ev.(agent.Persisted)
	if !written || e.Err != nil {
		return
	}
	patience := p.m.w.agentConfig.AddPatience
	if wake, set := p.armed.(agent.WakeAt); set && !wake.At.IsZero() && wake.At.Sub(p.now()) <= patience {
		return
	}
	for _, r := range p.open {
		if r.adds && r.seq == e.Seq {
			p.m.fact(scenarios.Fact{Kind: scenarios.FactNeedless, Text: fmt.Sprintf("a wait without an end of the ADD of %s", r.owner),
				Broken: fmt.Sprintf("begins: the agent is not woken within its patience of %s", patience.Round(time.Millisecond))})
			return
		}
	}
}
