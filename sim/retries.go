package sim

import (
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// refused is a call that adds or sets something and that VPP or Linux have refused the last times.
type refused struct {
	what string
	// needs are what its object cannot be there without.
	needs []vppwire.Key
	times uint32
	// at is when it was refused last.
	at time.Duration
	// excused: something has happened since that may have kept it from being tried again in its time.
	excused bool
}

// retries are a process' refused calls, and since when it has made calls without a pause.
type retries struct {
	refused map[vppwire.Key]*refused
	busy    time.Duration
}

// answered notes what an event means for calls that are to be tried again, before the agent learns of it. What may have changed what is wanted, or
// what is believed to be there, excuses whatever waits: only what the agent has heard nothing behind is due for certain.
func (p *process) answered(ev agent.Event) {
	switch ev := ev.(type) {
	case agent.Woke, agent.Persisted, agent.StoreReply:
	case agent.Called:
		c, r := p.call.call, ev.Result
		switch {
		case r.Err != nil && !c.Writes(), r.Err == nil && c.Verb() == vppwire.VerbDelete:
			p.excuseAll()
		case !c.Writes():
		case r.Err == nil:
			key := c.Key()
			delete(p.retries.refused, key)
			p.excuse(func(x *refused) bool { return slices.Contains(x.needs, key) })
		case c.Verb() != vppwire.VerbDelete:
			p.refuse(c)
		}
	default:
		p.excuseAll()
	}
}

func (p *process) refuse(c vppwire.Call) {
	key := c.Key()
	x := p.retries.refused[key]
	if x == nil {
		if p.retries.refused == nil {
			p.retries.refused = map[vppwire.Key]*refused{}
		}
		x = &refused{}
		p.retries.refused[key] = x
	}
	x.what, x.needs, x.at, x.excused = c.String(), c.Object().AppendNeeds(nil), p.m.w.eng.Now(), false
	x.times++
}

func (p *process) excuse(of func(*refused) bool) {
	for _, x := range p.retries.refused { //vppdrill:unordered each is excused by itself
		x.excused = x.excused || of(x)
	}
}

func (p *process) excuseAll() { p.excuse(func(*refused) bool { return true }) }

// retried tells of a call that was refused and is made again, after how long a pause; what it waited for while other calls were made is none.
func (p *process) retried(ev agent.Event, effects []agent.Effect) {
	for _, e := range effects {
		call, is := e.(agent.CallDataplane)
		if !is {
			continue
		}
		now := p.m.w.eng.Now()
		if _, called := ev.(agent.Called); !called {
			p.retries.busy = now
		}
		x := p.retries.refused[call.Call.Key()]
		if x == nil || x.excused || p.retries.busy < x.at || !call.Call.Writes() {
			continue
		}
		p.m.w.emit(scenarios.Fact{Kind: scenarios.FactRetried, Node: p.m.name, Text: scenarios.TriedWiring, Broken: x.what, Number: x.times, Rest: p.retries.busy - x.at})
	}
}
