package sim

import (
	"fmt"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// impatient tells of what the agent waits for since this event without an end: what it has asked the store for, ADDs, and its next look at a lease.
func (p *process) impatient(ev agent.Event, effects []agent.Effect) {
	p.impatientWithStore(effects)
	p.impatientWithADDs(ev)
	p.leaseForgotten()
}

// leaseForgotten tells of a lease at which the agent is not woken to look again when it is time.
func (p *process) leaseForgotten() {
	left := p.lease.by.Sub(p.now())
	if p.lease.by.IsZero() || left <= 0 || p.wakesWithin(left) {
		return
	}
	p.lease.by = time.Time{}
	p.m.fact(scenarios.Fact{Kind: scenarios.FactNeedless, Text: "a pause between looks at the lease of the node's address",
		Broken: fmt.Sprintf("grows: the agent is not woken %s after it has looked last", leaseWatched)})
}

// wakesWithin reports whether the agent is to be woken within d.
func (p *process) wakesWithin(d time.Duration) bool {
	wake, set := p.armed.(agent.WakeAt)
	return set && !wake.At.IsZero() && wake.At.Sub(p.now()) <= d
}

// impatientWithStore tells of a request of the store, or a watch, where the agent is not woken by the end of its patience with that: it would not notice that it is
// lost.
func (p *process) impatientWithStore(effects []agent.Effect) {
	for _, e := range effects {
		if r, asks := e.(agent.StoreRequest); asks && !p.wakesWithin(storeTimeout) {
			p.m.fact(scenarios.Fact{Kind: scenarios.FactNeedless, Text: "a wait without an end of " + string(r.AppendText(nil)),
				Broken: fmt.Sprintf("begins: the agent is not woken within its patience of %s", storeTimeout)})
		}
	}
}

// impatientWithADDs tells of an ADD whose sandbox is on disk since this event, and which is wired next, where the agent is not woken by the end of the
// patience with it: while VPP refuses it, nobody would hear why it waits.
func (p *process) impatientWithADDs(ev agent.Event) {
	e, written := ev.(agent.Persisted)
	if !written || e.Err != nil {
		return
	}
	patience := p.m.w.agentConfig.AddPatience
	if p.wakesWithin(patience) {
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
