package sim

import (
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// answer delivers an answer to the caller.
func (p *process) answer(a agent.Answer) {
	if r, ok := p.close(a.Request); ok {
		told := &answered{m: p.m, answer: a, done: r.done, full: a.Code == agent.CodeTryAgain && p.m.crowded()}
		if r.attempt.Placed = a.Result.Addr.IsValid(); a.Exhausted || r.attempt.Placed {
			p.m.w.system.Tried(p.m.name, r.attempt)
		}
		p.m.w.eng.After(answerTime, told)
	}
}

// answered is the event of a CNI answer reaching the plugin. It does so even if the agent dies meanwhile: it is in the
// socket's buffer.
type answered struct {
	m      *machine
	answer agent.Answer
	done   func(agent.Answer)
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
	e.m.refusedFull = e.full
	e.done(e.answer)
	e.m.refusedFull = false
}
