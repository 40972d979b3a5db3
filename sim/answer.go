package sim

import (
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// answer brings an answer back to whoever asked.
func (p *process) answer(a agent.Answer) {
	if r, ok := p.close(a.Request); ok {
		p.promptly(r.owner, a)
		told := &answered{m: p.m, answer: a, done: r.done, full: a.Code == agent.CodeTryAgain && p.m.crowded()}
		if a.Exhausted {
			told.holding = p.holding(r.owner)
			p.m.w.system.Refused(p.m.name, r.owner)
		}
		p.m.w.eng.After(answerTime, told)
	} else if _, ended := p.ended[a.Request]; ended {
		p.m.fact(scenarios.Fact{Kind: scenarios.FactNeedless, Text: "the answer to a request", Broken: "goes to a plugin that has ended, as the agent has been told"})
	}
}

// answered is the event of a CNI answer reaching the plugin. It does so even if the agent dies meanwhile: it is in the
// socket's buffer.
type answered struct {
	m      *machine
	answer agent.Answer
	done   func(agent.Answer)
	// holding is what the node had when it refused for want of an address, nil for another answer.
	holding *scenarios.Holding
	// full: VPP had no room for another interface when it refused.
	full bool
}

// AppendText implements engine.Event.
func (e *answered) AppendText(b []byte) []byte {
	b = append(b, e.m.name...)
	b = append(b, ' ')
	return e.answer.AppendText(b)
}

// Fire implements engine.Event.
func (e *answered) Fire() {
	e.m.refusing, e.m.refusedFull = e.holding, e.full
	e.done(e.answer)
	e.m.refusing, e.m.refusedFull = nil, false
}
