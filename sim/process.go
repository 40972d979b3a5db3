package sim

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/sim/cluster"
	"github.com/vppdrill/vppdrill/sim/fault"
	"github.com/vppdrill/vppdrill/sim/hostmodel"
	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// How long things take where nothing goes wrong.
const (
	// callTime is one round trip on VPP's API socket: 2 x 50 us, what an idle VPP 25.10 needs in interrupt mode.
	callTime = 100 * time.Microsecond
	// syncTime is one fsync of a journal on a data centre's SSD.
	syncTime = time.Millisecond
	// answerTime is one hop over the CNI plugin's unix socket.
	answerTime = 50 * time.Microsecond
	// vppStartTime is until a started VPP answers on its socket; 0.2 s were measured for one VPP, 1.8 s for eight at once.
	vppStartTime = 500 * time.Millisecond
	// agentStartTime is until a started agent has read its journal; restartDelay is the kubelet's first back-off.
	agentStartTime = 100 * time.Millisecond
	restartDelay   = time.Second
)

// process is one life of a node's agent.
type process struct {
	m       *machine
	agent   *agent.Agent
	journal *hostmodel.Journal
	// syncedAt is when the last write will be safe.
	syncedAt time.Duration
	// planted is the agent as it is driven where something wraps it, nil otherwise.
	planted PlantedAgent
	// wake numbers the agent's WakeAt effects: only the last one counts.
	wake uint64
	dead bool
	// ahead is how far the wall clock was ahead when the process started.
	ahead time.Duration
	// newsUntil is until when what a stream brings is late, newsLate how much of it is on its way.
	newsUntil map[*cluster.Informer]time.Duration
	newsLate  int
	// conflict is what refused its last write to the store.
	conflict conflict
	looking  looking
	listing  listing
	rewriting
	// gaps are the streams that have lost something and do not know it yet.
	gaps map[*cluster.Informer]bool
	// paused: the process stands still; inbox is what it will hear when it goes on. A paused VPP holds back the answer withheld to
	// call number withheldSeq.
	paused      bool
	inbox       []heard
	withheld    vppwire.Result
	withheldSeq uint64
	call        dataplaneCall
	// burst is how many calls may still be made at this instant, chained that the next one of them is asked for; spent is how
	// many calls' time passes before the next burst.
	burst, spent int
	chained      bool
	// open are CNI requests without an answer, oldest first; next is the last one's number.
	open   []openRequest
	next   uint64
	client *cluster.StoreClient
	feed   *cluster.AgentFeed
	// self is the own Node object as it was told last.
	self agent.NodeSeen
	// leases are those that facts have told; nil until the agent has told what it found in its journal.
	leases *agent.LeaseChanges
	// watch is the last watch of the store that the agent has asked for.
	watch uint64
	// sawNode: the agent has been told of its own Node object.
	sawNode bool
	// storeAsked is the request to the store that has no answer yet, 0 for none, and storeAskedAt when it was made; storeRequest is the last one.
	storeAsked   uint64
	storeRequest agent.StoreRequest
	storeAskedAt time.Duration
	// muted are store requests whose replies will be lost.
	muted []uint64
	// wokeTimes counts wakes at the instant wokeAt.
	wokeAt    time.Duration
	wokeTimes int
	inVain    wakesInVain
	writing
	retries retries
	// witnessedState is what the run's witness was told last.
	witnessedState string
	// lastDue is what the agent had to do when it was asked last; stepped: it has had an event since.
	lastDue string
	stepped bool
	// lacks and waits are what the run's account was told last that the agent must have, and that it waits for.
	lacks, waits string
}

// openRequest is a CNI request that somebody waits for.
type openRequest struct {
	number uint64
	owner  ipam.Owner
	done   func(agent.Answer)
}

// step feeds one event to the agent and performs what it asks for.
func (p *process) step(ev agent.Event) {
	if p.dead {
		return
	}
	if p.paused {
		p.inbox = append(p.inbox, heard{ev, p.m.w.eng.Now()})
		p.excuse(func(vppwire.Key) bool { return true })
		return
	}
	switch e := ev.(type) {
	case agent.NodesListed:
		ev = agent.NodesListed{Age: p.m.clocks.counted(e.Age)}
	case agent.NodeSeen:
		p.sawNode = p.sawNode || e.Name == p.m.name
	case agent.StoreReply:
		if e.ID == p.storeAsked {
			p.claimed(e)
			p.storeAsked = 0
		}
	}
	p.heardOfStore(ev)
	p.tried(ev)
	p.answered(ev)
	p.looking.heard(p, ev)
	p.stepped = true
	p.m.w.stepping = p.m.name
	var effects []agent.Effect
	if p.planted == nil {
		effects = p.agent.Step(p.now(), ev)
	} else {
		effects = p.planted.Step(p.now(), ev)
	}
	p.m.w.stepping = ""
	p.vainly(ev, effects)
	p.retried(ev, effects)
	p.stepFacts(effects) // what the agent decides is a fact from now on, whether or not it survives
	p.m.tellAddresses()
	p.decisions(effects)
	p.looked(ev, effects)
	for _, e := range effects {
		if !p.perform(e) {
			return
		}
	}
	p.m.w.system.Changed(p.m.name)
	if p.m.w.witness != nil && !slices.ContainsFunc(effects, isCall) {
		p.witnessed()
	}
}

// perform starts one effect; false when the agent died of it.
func (p *process) perform(e agent.Effect) bool {
	w := p.m.w
	after := false
	if w.faulty() {
		switch v := w.judge(fault.Op{Node: p.m.name, Kind: fault.KindEffect, Name: effectName(e)}); v.Action {
		case fault.CrashBefore:
			p.m.crashAgent()
			return false
		case fault.CrashAfter:
			after = true
		}
	}
	switch e := e.(type) {
	case agent.CallDataplane:
		p.callDataplane(e.Call)
	case agent.Persist:
		p.persist(e)
	case agent.StoreRequest:
		p.store(e)
	case agent.Answer:
		p.answer(e)
	case agent.WakeAt:
		p.wakeAt(e)
	case agent.Hook:
		p.hook(e)
	case agent.Log:
		w.log(p.m, e)
	case agent.ListNodes:
		p.feed.Nodes.Relist()
	case agent.NodeAddress:
	default:
		panic("sim: unknown effect " + effectName(e))
	}
	if after {
		p.m.crashAgent()
		return false
	}
	return true
}

// hook runs a pod hook of the program that embeds the agent.
func (p *process) hook(h agent.Hook) {
	w := p.m.w
	w.eng.After(w.s.Config.Agent.HookTime, &happening{p.m, "hook " + h.Namespace + "/" + h.PodName, func() {
		var err error
		if fails := w.s.Config.Agent.HookFails; fails > 0 && w.eng.Choose("hook fails", hookFailSteps) < int(fails*hookFailSteps) {
			err = errHook
		}
		p.step(agent.Hooked{ID: h.ID, Err: err})
	}})
}

// hookFailSteps is how finely hooks' probability of failing is drawn.
const hookFailSteps = 100

var errHook = errors.New("the hook has failed")

// effectName is an effect's name for faults.
func effectName(e agent.Effect) string {
	switch e.(type) {
	case agent.CallDataplane:
		return "CallDataplane"
	case agent.Persist:
		return "Persist"
	case agent.StoreRequest:
		return "StoreRequest"
	case agent.Answer:
		return "Answer"
	case agent.WakeAt:
		return "WakeAt"
	case agent.Hook:
		return "Hook"
	case agent.Log:
		return "Log"
	case agent.ListNodes:
		return "ListNodes"
	case agent.NodeAddress:
		return "NodeAddress"
	}
	return "Effect"
}

// dataplaneCall is the event of the one outstanding call. It is reused: an agent never has two.
type dataplaneCall struct {
	p    *process
	call vppwire.Call
	// dueSeq tells a scheduled event of this call from one of an abandoned call.
	seq   uint64
	since time.Duration
	twice bool
}

func (p *process) callDataplane(c vppwire.Call) {
	w := p.m.w
	p.call.p, p.call.call, p.call.twice, p.call.since = p, c, false, w.eng.Now()
	p.call.seq++
	if p.disconnected() {
		return // the agent will hear of it next
	}
	p.looks(c)
	if !w.faulty() {
		if p.burst > 0 {
			p.chained = true
			return
		}
		w.eng.After(time.Duration(p.spent)*callTime, &p.call)
		return
	}
	v := w.judge(fault.Op{Node: p.m.name, Kind: fault.KindDataplane, Name: c.Name(), Key: keyFor(w, c)})
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
		w.eng.After(callTime, &lateResult{p: p, seq: p.call.seq, result: c.Refused(refusal(v.Code)), what: "refused"})
	case fault.Mute, fault.CrashAfter, fault.Delay:
		w.eng.After(callTime, &troubledCall{dataplaneCall: p.call, verdict: v})
	default:
		panic("sim: a call cannot be " + v.String())
	}
}

// keyFor is the key of a call's object as text, where some injector may ask for it.
func keyFor(w *World, c vppwire.Call) string {
	if !w.keyed {
		return ""
	}
	return c.Key().String()
}

// AppendText implements engine.Event.
func (d *dataplaneCall) AppendText(b []byte) []byte {
	b = append(b, d.p.m.name...)
	b = append(b, " call "...)
	return d.call.AppendText(b)
}

// burstMost is how many calls of one agent are made at one instant at the most; their time is paid in front of the next
// burst. Nodes would otherwise take turns call by call, and each turn would find its memory cold: bursts halve the time of a
// large mesh. How long a burst is, is drawn, so that whatever happens to a node can come between any two calls. As soon as
// something may go wrong by an injector there are no bursts.
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
		return vppwire.Result{}, false // a dying VPP told the agent already
	}
	w := p.m.w
	w.count(p.m, d.call)
	taking, idle := p.m.beforeCall(d.call), !d.twice && p.m.idle(d.call)
	r := d.call.Do(context.Background(), p.m.dataplane())
	if d.twice {
		r = d.call.Do(context.Background(), p.m.dataplane())
	}
	p.m.afterCall(d, taking, idle && r.Err == nil)
	if r.Err != nil && !r.Lost {
		w.note(p.m, "answer", r.Err.Error())
		if !d.twice {
			p.m.refusedCall(d.call, r.Err)
		}
	}
	return r, true
}

// called tells the agent.
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
	if !l.p.dead && l.seq == l.p.call.seq && l.p.m.vpp != nil {
		l.p.called(l.result)
	}
}

// woken is the event of a WakeAt.
type woken struct {
	p    *process
	wake uint64
}

func (p *process) wakeAt(e agent.WakeAt) {
	p.wake++
	if e.At.IsZero() {
		return
	}
	w := p.m.w
	w.eng.After(p.m.clocks.UntilAfter(max(0, e.At.Sub(p.now()))), &woken{p: p, wake: p.wake})
}

// AppendText implements engine.Event.
func (e *woken) AppendText(b []byte) []byte {
	b = append(b, e.p.m.name...)
	if e.wake != e.p.wake || e.p.dead {
		return append(b, " wake cancelled"...)
	}
	return append(b, " wake"...)
}

// Fire implements engine.Event.
func (e *woken) Fire() {
	if e.wake == e.p.wake {
		e.p.awake(e.p.m.w.eng.Now())
		e.p.step(agent.Woke{})
	}
}

// wakesMost is how often an agent may ask to be woken at one instant before it is called a loop.
const wakesMost = 1000

// awake stops a run in which an agent wakes for ever without time passing.
func (p *process) awake(now time.Duration) {
	if p.wokeAt != now {
		p.wokeAt, p.wokeTimes = now, 0
	}
	p.wokeTimes++
	if p.wokeTimes > wakesMost {
		p.m.w.eng.Fail(&scenarios.Violation{Law: scenarios.LawSettles, At: now, Node: p.m.name, What: "the agent asks to be woken at once, again and again"})
	}
}

// request notes who waits for a CNI answer and returns the request's number.
func (p *process) request(owner ipam.Owner, done func(agent.Answer)) uint64 {
	p.next++
	p.open = append(p.open, openRequest{p.next, owner, done})
	return p.next
}

// close takes a request off the list; false when nobody waits for it any more.
func (p *process) close(number uint64) (openRequest, bool) {
	for i, r := range p.open {
		if r.number == number {
			p.open = slices.Delete(p.open, i, i+1)
			return r, true
		}
	}
	return openRequest{}, false
}

// withdraw tells the agent that nobody waits for a request any more.
func (p *process) withdraw(number uint64) {
	if _, ok := p.close(number); ok {
		p.step(agent.Withdrawn{Request: number})
	}
}

// fact tells the laws and everybody else who listens.
func (m *machine) fact(f scenarios.Fact) {
	f.Node = m.name
	m.w.emit(f)
}

// factAndDisk tells a fact, and what the disk says otherwise.
func (m *machine) factAndDisk(f scenarios.Fact) {
	f.Unsaved = m.saved.unsaved(&f)
	m.fact(f)
}
