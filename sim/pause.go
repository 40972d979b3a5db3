package sim

import (
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/scenarios/timeline"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// Pause implements timeline.Processes. A process that stands still hears everything when it goes on, in order: sockets
// and pipes keep it. Timers of others go on, so that what waits for it may give up.
func (st stage) Pause(node string, p timeline.Program, pause bool) error {
	switch m := st.machines[node]; {
	case m == nil:
	case p == timeline.VPP:
		m.pauseVPP(pause)
	case p == timeline.Kubelet:
		if k := st.cluster.Kubelet(node); k != nil && k.Paused() != pause {
			m.ableAt = m.w.eng.Now() // before it hears answers that are old
			k.Pause(pause)
		}
	case m.proc != nil:
		m.proc.pause(pause)
	}
	return nil
}

func (p *process) pause(pause bool) {
	p.paused, p.m.ableAt = pause, p.m.w.eng.Now()
	p.m.lookAtHost()
	for !p.paused && len(p.inbox) > 0 && !p.dead {
		h := p.inbox[0]
		p.inbox = p.inbox[1:]
		if l, ok := h.ev.(agent.NodesListed); ok { // it has grown older in the socket
			l.Age += p.m.w.eng.Now() - h.at
			h.ev = l
		}
		p.step(h.ev)
	}
}

// heard is an event with when it came.
type heard struct {
	ev agent.Event
	at time.Duration
}

// disconnected reports the lost connection to VPP. A paused agent receives it when it goes on.
func (p *process) disconnected() bool {
	return slices.ContainsFunc(p.inbox, func(h heard) bool { _, down := h.ev.(agent.VPPDown); return down })
}

// pauseVPP lets a VPP stand still, or go on.
func (m *machine) pauseVPP(pause bool) {
	if m.vpp == nil || m.vppPaused == pause {
		return
	}
	m.vppPaused, m.ableAt = pause, m.w.eng.Now()
	m.lookAtHost()
	p := m.proc
	if pause && p != nil {
		m.vppPausedAt = m.ableAt
		since := m.vppPausedAt
		m.w.eng.After(pingTime, &happening{m, "no answer to a ping", func() {
			if m.vppPaused && m.vppPausedAt == since && !p.paused && p.withheldSeq != p.call.seq {
				p.silent()
			}
		}})
	}
	switch {
	case pause || p == nil:
	case m.pausedUnder != p || p.offline: // it could not connect meanwhile
		m.connectVPP()
	case p.withheldSeq == p.call.seq && p.withheldSeq != 0:
		p.withheldSeq = 0
		p.call.seq++ // the timeout has no owner any more
		p.called(p.withheld)
	}
	m.pausedUnder = p
}

// withhold performs a call whose answer a paused VPP owes. Its effect cannot be observed before VPP goes on, so it
// makes no difference when it happens. An agent that waits for too long gives the call up.
func (p *process) withhold() {
	r, ok := p.call.perform()
	if !ok {
		return
	}
	p.withheld, p.withheldSeq = r, p.call.seq
	p.m.w.eng.After(p.m.w.callTimeout, &lateResult{p: p, seq: p.call.seq, result: p.call.call.Unanswered(), what: "no answer"})
}

// pingTime is how long a VPP without a call stands still until an agent's driver gives the connection up: it asks every
// 2 s, and waits for 5 s (vppwire/host, pingEvery and pingPatience).
const pingTime = 7 * time.Second

// dialPause is how long a driver waits before it connects again (vppwire/host, dialPauseFirst).
const dialPause = 10 * time.Millisecond

// silent notifies the agent that its driver has given up the connection to a VPP that does not answer: a late answer
// must not be taken for another call's. It connects again as soon as VPP takes connections.
func (p *process) silent() {
	m := p.m
	if p.dead || p.offline || m.vpp == nil {
		return
	}
	p.offline, p.withheldSeq = true, 0
	p.call.seq++ // its answer is dropped
	life := m.vppLife
	m.w.eng.After(dialPause, &happening{m, "connects to VPP again", func() {
		if p.offline && m.proc == p && m.vppLife == life {
			m.connectVPP()
		}
	}})
	p.step(agent.VPPDown{Silent: true})
}
