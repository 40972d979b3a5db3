package sim

import (
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// changeLinux performs a change that an agent makes without its VPP. One that dies before has not made it.
func (p *process) changeLinux(e agent.ChangeLinux) {
	op := vppwire.Undoing(e.Undo)
	p.m.w.eng.After(callTime, &happening{p.m, "linux undo " + string(e.Undo.AppendText(nil)), func() {
		if !p.dead {
			err := p.m.host.Apply(op)
			p.m.lookAtHost()
			p.step(agent.LinuxChanged{Seq: e.Seq, Err: err})
		}
	}})
}

// returnTime is how long an agent that is asked to end may take to give its host the NIC back (vppwire/cmd, returnTime).
const returnTime = 20 * time.Second

// returnNIC asks a machine's agent to end. It gives the host its NIC back first, where it can.
func (m *machine) returnNIC(hold bool, why string) {
	p := m.proc
	if p == nil {
		m.killAgent(hold, why)
		return
	}
	m.agentHeld = hold
	p.leave = func() {
		if m.proc != p {
			return
		}
		m.killAgent(m.agentHeld, why)
		if !m.agentHeld { // released meanwhile
			m.startAgain()
		}
	}
	m.w.eng.After(returnTime, &happening{m, "time to return the NIC is over", p.leave})
	p.step(agent.ReturnNIC{})
}

// uplink is Linux' link of the machine's NIC, empty where VPP has it to itself.
func (m *machine) uplink() string {
	if !m.w.s.Config.Wiring.StealNIC {
		return ""
	}
	return scenarios.HostLink
}

// hostRoute is the default route of each host whose NIC VPP takes.
func (w *World) hostRoute() vppwire.HostRoute {
	return vppwire.HostRoute{Dst: netip.PrefixFrom(netip.IPv4Unspecified(), 0), Via: w.s.HostGateway(0), Link: scenarios.HostLink, Metric: scenarios.HostMetric}
}

// routeHost gives a host its default route again, which it loses with its addresses.
func (m *machine) routeHost() {
	if !m.w.s.Config.Wiring.StealNIC {
		return
	}
	if err := m.host.Apply(vppwire.RouteSet{Route: m.w.hostRoute()}); err != nil {
		panic("sim: a host cannot be given its default route: " + err.Error())
	}
}

// tellLinks tells an agent that takes a NIC what the host has.
func (p *process) tellLinks(cfg *agent.Config) {
	if p.dead || !cfg.Steals() {
		return
	}
	state, err := p.m.host.Dump("")
	if err != nil {
		panic("sim: a host's own links cannot be listed: " + err.Error())
	}
	p.step(agent.HostLinks{State: state})
}
