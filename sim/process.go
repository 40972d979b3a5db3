package sim

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim/fault"
	"github.com/vppdrill/vppdrill/sim/hostmodel"
	"github.com/vppdrill/vppdrill/sim/internal/cluster"
	"github.com/vppdrill/vppdrill/sim/internal/controllers"
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
	// planted is the agent as driven where a fault wraps it, nil otherwise.
	planted PlantedAgent
	// loadBalancers are the HealthChecks of this life, nil before the first.
	loadBalancers map[uint16]int
	// wake numbers the agent's WakeAt effects: only the last one counts.
	wake uint64
	dead bool
	// leave ends a process that was asked to end, once its host has its NIC back; nil for others.
	leave func()
	// ahead is how far the wall clock was ahead when the process started.
	ahead time.Duration
	streams
	spinning
	reported
	// paused: the process stands still; inbox is what it will hear when it goes on. A paused VPP holds back the answer
	// withheld to call number withheldSeq.
	paused      bool
	inbox       []heard
	withheld    vppwire.Result
	withheldSeq uint64
	call        dataplaneCall
	// burst is how many calls may still be made at this instant, chained that the next one of them is asked for; spent is
	// how many calls' time passes before the next burst.
	burst, spent int
	chained      bool
	// open are CNI requests without an answer, oldest first; next is the last one's number.
	open   []openRequest
	next   uint64
	client *cluster.StoreClient
	feed   *cluster.AgentFeed
	// self is the node's own Node object, as last delivered.
	self agent.NodeSeen
	// watch is the last watch of the store that the agent has asked for.
	watch uint64
	// writing is the last write of the store that it has asked for.
	writing agent.StoreRequest
	// sawNode: the agent has received its own Node object.
	sawNode bool
	// muted are store requests whose replies will be lost.
	muted []uint64
	// offline: the connection to VPP was given up, as it did not answer.
	offline bool
}

// streams are the watches of a process, as far as they are late or have lost something.
type streams struct {
	// newsUntil is until when what a stream brings is late, newsLate how much of it is on its way.
	newsUntil map[*cluster.Informer]time.Duration
	newsLate  int
	// gaps are the streams that have lost something and do not know it yet.
	gaps map[*cluster.Informer]bool
}

// spinning counts wakes at the instant wokeAt.
type spinning struct {
	wokeAt    time.Duration
	wokeTimes int
}

// reported is what listeners of the run received last.
type reported struct {
	// witnessedState is what the run's witness received last.
	witnessedState string
	// lacks and waits are what the run's account received of the agent's missing objects, and of what it waits for.
	lacks, waits string
}

// openRequest is a CNI request whose caller waits.
type openRequest struct {
	number  uint64
	attempt controllers.Attempt
	done    func(agent.Answer)
}

// step feeds one event to the agent and performs what it asks for.
func (p *process) step(ev agent.Event) {
	if p.dead {
		return
	}
	if p.paused {
		p.inbox = append(p.inbox, heard{ev, p.m.w.eng.Now()})
		return
	}
	switch e := ev.(type) {
	case agent.NodesListed:
		e.Age = p.m.clocks.counted(e.Age)
		ev = e
	case agent.NodeSeen:
		p.sawNode = p.sawNode || e.Name == p.m.name
	}
	p.m.w.stepping = p.m.name
	effects := p.stepAgent(ev)
	p.m.w.stepping = ""
	p.m.seen.After(effects) // what the agent decides is a fact from now on, whether or not it survives
	p.decisions(effects)
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

// stepAgent has the agent hear an event.
func (p *process) stepAgent(ev agent.Event) []agent.Effect {
	if p.planted != nil {
		return p.planted.Step(p.now(), ev)
	}
	return p.agent.Step(p.now(), ev)
}

// perform starts one effect; false when the agent died of it.
func (p *process) perform(e agent.Effect) bool {
	w := p.m.w
	after := false
	if w.faulty() {
		switch v := w.judge(fault.Effect(p.m.name, e)); v.Action {
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
	case agent.ChangeLinux:
		p.changeLinux(e)
	case agent.NICReturned:
		if p.leave != nil {
			w.eng.After(0, &happening{p.m, "agent ends", p.leave})
		}
	case agent.HealthChecks:
		p.loadBalancers = make(map[uint16]int, len(e.List))
		for _, h := range e.List {
			p.loadBalancers[h.Port] = h.Local
		}
	case agent.NodeAddress:
	default:
		panic(fmt.Sprintf("sim: unknown effect %T", e))
	}
	if after {
		p.m.crashAgent()
		return false
	}
	return true
}

// hook runs a pod hook of the program that embeds the agent.
func (p *process) hook(h agent.Hook) {
	w, pod := p.m.w, h.Sandbox.PodNamespace+"/"+h.Sandbox.PodName
	w.eng.After(w.s.Config.Agent.HookTime, &happening{p.m, "hook " + pod, func() {
		var err error
		if fails := w.s.Config.Agent.HookFails; fails > 0 && w.eng.Choose("hook fails", hookFailSteps) < int(fails*hookFailSteps) {
			err = errHook
		}
		if !p.dead {
			text := fact.HookedAfter
			if h.Before {
				text = fact.HookedBefore
			}
			p.m.fact(fact.Fact{What: fact.Hooked{Pod: pod, Phase: text}})
		}
		p.step(agent.Hooked{ID: h.ID, Err: err})
	}})
}

// hookFailSteps is how finely hooks' probability of failing is drawn.
const hookFailSteps = 100

var errHook = errors.New("the hook has failed")

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

// awake stops a run in which an agent keeps waking without time passing.
func (p *process) awake(now time.Duration) {
	if p.wokeAt != now {
		p.wokeAt, p.wokeTimes = now, 0
	}
	p.wokeTimes++
	if p.wokeTimes > wakesMost {
		p.m.w.eng.Fail(&fact.Violation{Law: result.LawSettles, At: now, Node: p.m.name, What: "the agent asks to be woken at once, again and again"})
	}
}

// request notes the caller of a CNI request and returns the request's number.
func (p *process) request(a controllers.Attempt, done func(agent.Answer)) uint64 {
	p.next++
	p.open = append(p.open, openRequest{number: p.next, attempt: a, done: done})
	return p.next
}

// close takes a request off the list; false when its caller has given it up.
func (p *process) close(number uint64) (openRequest, bool) {
	for i, r := range p.open {
		if r.number == number {
			p.open = slices.Delete(p.open, i, i+1)
			return r, true
		}
	}
	return openRequest{}, false
}

// withdraw notifies the agent that a request's caller has given it up.
func (p *process) withdraw(number uint64) {
	if _, ok := p.close(number); ok {
		p.step(agent.Withdrawn{Request: number})
	}
}

// fact reports to the laws and all other listeners.
func (m *machine) fact(f fact.Fact) {
	f.Node = m.name
	m.w.emit(f)
}
