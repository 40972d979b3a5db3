package sim

import (
	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// changeLinux performs a change that an agent makes without its VPP. One that dies before has not made it.
func (p *process) changeLinux(e agent.ChangeLinux) {
	op := vppwire.Undoing(e.Undo)
	p.m.w.eng.After(callTime, &happening{p.m, "linux undo " + string(e.Undo.AppendText(nil)), func() {
		if !p.dead {
			p.step(agent.LinuxChanged{Seq: e.Seq, Err: p.m.host.Apply(op)})
		}
	}})
}
