package sim

import (
	"context"
	"time"

	"go.fd.io/govpp/api"

	"github.com/vppdrill/vppdrill/sim/fault"
	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// dataplaneCall is the event of the one outstanding call. It is reused: an agent never has two.
type dataplaneCall struct {
	p    *process
	call vppwire.Call
	// dueSeq distinguishes a scheduled event of this call from one of an abandoned call.
	seq   uint64
	since time.Duration
	twice bool
}

func (p *process) callDataplane(c vppwire.Call) {
	w := p.m.w
	p.call.p, p.call.call, p.call.twice, p.call.since = p, c, false, w.eng.Now()
	p.call.seq++
	if p.disconnected() {
		return // the agent is notified of it next
	}
	if !w.faulty() {
		if p.burst > 0 {
			p.chained = true
			return
		}
		w.eng.After(time.Duration(p.spent)*callTime, &p.call)
		return
	}
	v := w.judge(fault.Call(p.m.name, c, w.faults.Keyed()))
	switch v.Action {
	case fault.Pass:
		w.eng.After(callTime, &p.call)
	case fault.Duplicate:
		p.call.twice, p.m.repeatedAt = true, w.eng.Now()
		w.eng.After(callTime, &p.call)
	case fault.CrashBefore:
		w.soon(p.m, "vpp dies", p.m.crashVPP)
	case fault.Vanish:
		w.eng.After(w.callTimeout, &lateResult{p: p, seq: p.call.seq, result: c.Unanswered(), what: "request lost"})
	case fault.Refuse:
		w.eng.After(callTime, &lateResult{p: p, seq: p.call.seq, result: c.Refused(api.RetvalToVPPApiError(v.Retval())), what: "refused"})
	case fault.Mute, fault.CrashAfter, fault.Delay:
		w.eng.After(callTime, &troubledCall{dataplaneCall: p.call, verdict: v})
	default:
		panic("sim: a call cannot be " + v.String())
	}
}

// AppendText implements engine.Event.
func (d *dataplaneCall) AppendText(b []byte) []byte {
	b = append(b, d.p.m.name...)
	b = append(b, " call "...)
	return d.call.AppendText(b)
}

// burstMost is the largest number of calls of one agent at one instant; their time is paid before the next burst.
// Without bursts nodes alternate call by call, and each finds its memory cold: bursts halve the time of a large mesh.
// The length of a burst is drawn, so anything can happen to a node between any two calls. There are no bursts while an
// injector may cause a fault.
const burstMost = 16

// Fire implements engine.Event: VPP performs the call and the agent learns the outcome, perhaps a few times.
func (d *dataplaneCall) Fire() {
	p, w := d.p, d.p.m.w
	if p.m.vppPaused {
		p.withhold()
		return
	}
	p.burst, p.spent = 1, 1
	if !w.faulty() {
		p.burst += w.eng.Choose("burst", burstMost)
	}
	for calls := 1; ; calls++ {
		p.burst--
		p.chained, p.spent = false, calls
		r, ok := d.perform()
		if !ok {
			break
		}
		p.called(r)
		if !p.chained || p.dead {
			break
		}
		w.eng.Tell(d)
	}
	p.burst, p.spent = 0, 1
}

// perform does the call on this machine; false when the agent that asked is gone or no longer waits.
func (d *dataplaneCall) perform() (vppwire.Result, bool) {
	p := d.p
	if p.dead || p.m.vpp == nil {
		return vppwire.Result{}, false // a dying VPP has notified the agent already
	}
	w := p.m.w
	w.count(p.m, d.call)
	taking := p.m.beforeCall(d.call)
	r := d.call.Do(context.Background(), p.m.dataplane())
	if d.twice {
		r = d.call.Do(context.Background(), p.m.dataplane())
	}
	p.m.afterCall(d, taking)
	if d.call.Writes() {
		p.m.lookAtHost()
	}
	if r.Err != nil && !r.Lost {
		w.note(p.m, "answer", r.Err.Error())
		if !d.twice {
			p.m.refusedCall(d.call, r.Err)
		}
	}
	return r, true
}

// called reports the call's result to the agent.
func (p *process) called(r vppwire.Result) { p.step(agent.Called{Result: r}) }

// troubledCall is performed and then goes wrong: its answer is lost or late, or VPP dies of it.
type troubledCall struct {
	dataplaneCall
	verdict fault.Verdict
}

// AppendText implements engine.Event.
func (t *troubledCall) AppendText(b []byte) []byte {
	b = t.dataplaneCall.AppendText(b)
	b = append(b, " "...)
	return t.verdict.AppendText(b)
}

// Fire implements engine.Event.
func (t *troubledCall) Fire() {
	p, w := t.p, t.p.m.w
	if t.seq != p.call.seq {
		return
	}
	r, ok := t.perform()
	if !ok {
		return
	}
	switch t.verdict.Action {
	case fault.CrashAfter:
		p.m.crashVPP()
	case fault.Delay:
		if t.verdict.Delay < w.callTimeout {
			w.eng.After(t.verdict.Delay, &lateResult{p: p, seq: t.seq, result: r, what: "late answer"})
			return
		}
		fallthrough
	default:
		w.eng.After(w.callTimeout, &lateResult{p: p, seq: t.seq, result: t.call.Unanswered(), what: "no answer"})
	}
}

// lateResult is an outcome that the agent learns apart from the call.
type lateResult struct {
	p      *process
	seq    uint64
	result vppwire.Result
	what   string
}

// AppendText implements engine.Event.
func (l *lateResult) AppendText(b []byte) []byte {
	b = append(b, l.p.m.name...)
	b = append(b, ' ')
	return append(b, l.what...)
}

// Fire implements engine.Event.
func (l *lateResult) Fire() {
	switch p := l.p; {
	case p.dead || l.seq != p.call.seq || p.m.vpp == nil:
	case l.result.Lost:
		p.silent()
	default:
		p.called(l.result)
	}
}
