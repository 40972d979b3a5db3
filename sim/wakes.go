package sim

import (
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// wakesInVain are the last wakes in a row at which the agent did nothing but ask for the next one.
type wakesInVain struct {
	at    [scenarios.WakesInVain - 1]time.Duration
	times int
}

// vainNodes is up to how many nodes wakes in vain are told of: with many, an agent has as many former IDs to forget, one after the other.
const vainNodes = 16

// vainly notes what a step has come to, and tells of wakes in vain that follow each other, with nothing else in between.
func (p *process) vainly(ev agent.Event, effects []agent.Effect) {
	v := &p.inVain
	if _, woke := ev.(agent.Woke); !woke || slices.ContainsFunc(effects, func(e agent.Effect) bool { _, wake := e.(agent.WakeAt); return !wake }) {
		v.times = 0
		return
	}
	now, place := p.m.w.eng.Now(), v.times%len(v.at)
	if v.times >= len(v.at) && len(p.m.w.order) <= vainNodes {
		p.m.fact(scenarios.Fact{Kind: scenarios.FactPaced, Text: scenarios.PacedWake, Rest: now - v.at[place]})
	}
	v.at[place] = now
	v.times++
}
