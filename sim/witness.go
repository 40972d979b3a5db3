package sim

import (
	"strings"

	"github.com/vppdrill/vppdrill/sim/fault"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// Witness receives what a run exercises beside its events, to measure or steer how far runs get. It changes nothing.
type Witness interface {
	// Befell receives a fault that happens to an operation, and the state of the agent on the operation's node.
	Befell(op fault.Op, action fault.Action, state string)
	// Became receives a changed state of an agent.
	Became(before, after string)
}

// isCall reports whether an effect is a call: an agent amid its calls is in the state in which it began them.
func isCall(e agent.Effect) bool {
	_, ok := e.(agent.CallDataplane)
	return ok
}

// witnessed reports a changed state of an agent to the witness.
func (p *process) witnessed() {
	if state := p.state(); state != p.witnessedState {
		p.m.w.witness.Became(p.witnessedState, state)
		p.witnessedState = state
	}
}

// state is what the agent waits for, or does, in words that name nothing in particular, and whether it has a VPP.
func (p *process) state() string {
	state := "idle"
	switch why := p.agent.Pending(); {
	case p.dead:
		state = "dead"
	case why != "":
		state = plainWords(why)
	}
	if p.m.vpp == nil {
		state += ", no VPP"
	}
	return state
}

// plainWords leaves out of a sentence what names something: words with digits or signs.
func plainWords(sentence string) string {
	var kept []string
	for word := range strings.FieldsSeq(sentence) {
		if strings.IndexFunc(strings.Trim(word, ",:;"), func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') }) < 0 {
			kept = append(kept, word)
		}
	}
	return strings.Join(kept[:min(len(kept), 6)], " ")
}

// befell reports a fault to the witness.
func (w *World) befell(op fault.Op, action fault.Action) {
	state := "no agent"
	if m := w.machines[op.Node]; m != nil && m.proc != nil {
		state = m.proc.state()
	}
	w.witness.Befell(op, action, state)
}
