package sim

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/agentconfig"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/removal"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
	"github.com/vppdrill/vppdrill/sim/engine"
	"github.com/vppdrill/vppdrill/sim/fault"
	"github.com/vppdrill/vppdrill/sim/internal/cluster"
	"github.com/vppdrill/vppdrill/sim/internal/controllers"
	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// epoch is virtual time zero. Any fixed instant would do; this one reads well in journals.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// World is one simulated cluster. It implements result.World, result.Recorder and result.Supporter. It is used by
// one goroutine for one run.
type World struct {
	timeline.NoPlugins
	s   *scenarios.Scenario
	eng *engine.Engine

	net   *cluster.Network
	api   *cluster.API
	store *cluster.StoreServer

	control
	services services
	policies policies

	claims   claims
	machines map[string]*machine
	// order holds the machines in the order in which they joined; machines that are gone leave it.
	order        []*machine
	machinesMade uint32
	// regiven are the machines whose management addresses were changed.
	regiven []*machine
	pids    uint32

	agentConfig agent.Config
	// shared is what all agents want and know alike of each node.
	shared      *agent.Fleet
	callTimeout time.Duration
	// play interprets the timeline.
	play *timeline.Player

	faults *fault.Set

	listeners []func(fact.Fact) error
	// counts are the requests to others so far, counted those reported as facts.
	counts, counted fact.Counts
	// countedAt is when they were reported last.
	countedAt time.Duration
	logs      func(node string, e agent.Log)
	// tracing: machines keep what their VPPs are asked.
	tracing bool
	// stepping is the node whose agent decides at this moment; fallen: something panicked, and nothing may be asked any
	// more. stillborn is what a program died of before it had a listener.
	stepping  string
	fallen    bool
	stillborn string
	// soaked: much time has passed since all was quiet. stirs counts whatever is no mere count of questions: facts, and
	// leases of VPPs.
	soaked bool
	stirs  int64
	// tenants are the last holders of each address.
	tenants map[netip.Addr]tenant
	// look is of the call under way.
	look    removal.Look
	witness Witness
	// decided, where set, receives what programs decide; see Account.
	decided func(who, text string)
	// dhcp is the network's DHCP server, nil where nodes' addresses follow from their IDs.
	dhcp *dhcpServer
	// rearranged: the address ranges have been changed.
	rearranged bool
	// plant is nil in nearly every run.
	plant   *Plant
	systems map[scenarios.System]controllers.Driver
	// ids is of clusters without wiring.
	ids nodeIDs
}

// Options are what a run may choose beside its scenario.
type Options struct {
	// Seed decides everything that the scenario leaves open.
	Seed uint64
	// Laws judge the run; those that the scenario selects.
	Laws []fact.Law
	// Chooser replaces the seeded one, for replay, recording and exhaustive search; nil: engine.Seeded(Seed).
	Chooser engine.Chooser
	// Events, where set, sees every event's canonical line; line is valid only during the call.
	Events func(seq int64, at time.Duration, line []byte)
	// Logs, where set, sees what agents log.
	Logs func(node string, e agent.Log)
	// OnMark receives each mark of the timeline when it starts.
	OnMark func(result.Mark)
	// AtEnd sees the cluster as the run left it.
	AtEnd func(fact.Snapshot)
	// Series: the result has a series.
	Series bool
	// Story: the result has a story.
	Story bool
	// Replay is the command that shows this run again; made from the scenario when empty.
	Replay string
	// Witness, where set, receives what the run exercises.
	Witness Witness
	// Account, where set, receives the run for an explanation.
	Account Account
	// Postpone, where it is a number, is an event that happens behind all others that wait for its instant; Passed, where
	// set, receives their number when the run has ended.
	Postpone int64
	Passed   func(int64)
	// Systems drive address management systems beside those that come along, which scenarios.Reader lets files choose.
	Systems map[scenarios.System]Driver
	// APITraces, where set, receives before the first event a function that writes what a node's VPP was asked since its start, as VPP's
	// `api trace replay` takes it. Its error is that there is no such VPP now.
	APITraces func(of func(node string) ([]byte, error))
	// Plant, where set, puts an upstream's fault back; it serves one run.
	Plant *Plant
}

// Run builds a World for s, drives it and judges it. The error is a scenario that cannot be built; what happens in the
// run is in the Result.
func Run(ctx context.Context, s *scenarios.Scenario, o Options) (result.Result, error) {
	w, err := New(s, o)
	if err != nil {
		return result.Result{}, err
	}
	defer func() { _ = w.Close() }() // a simulated world holds nothing but memory
	if o.Passed != nil {
		defer func() { o.Passed(w.eng.Passed()) }()
	}
	return result.Run(ctx, w, s, o.Laws, result.Options{Seed: o.Seed, Replay: o.Replay, OnMark: o.OnMark, AtEnd: o.AtEnd, Series: o.Series, Story: o.Story}), nil
}

// New builds the cluster at its start: nothing has happened yet.
func New(s *scenarios.Scenario, o Options) (*World, error) {
	chooser := o.Chooser
	if chooser == nil {
		chooser = engine.Seeded(o.Seed)
	}
	if s.Faults.AsItWas != "" && o.Plant == nil {
		return nil, fmt.Errorf("faults.asItWas: nobody has planted %s", s.Faults.AsItWas)
	}
	w := &World{
		s: s, eng: engine.New(chooser), machines: map[string]*machine{}, shared: agent.NewFleet(), tenants: map[netip.Addr]tenant{}, callTimeout: s.Config.Agent.CallTimeout, logs: o.Logs,
		plant: o.Plant, witness: o.Witness, systems: o.Systems,
	}
	w.account(o)
	if w.tracing = o.APITraces != nil; w.tracing {
		o.APITraces(w.apiTrace)
	}
	w.eng.Postpone(o.Postpone)
	var err error
	w.play = timeline.New(stage{w}, s, chooser)
	if w.agentConfig, err = agentconfig.Of(s.Config); err != nil {
		return nil, err
	}
	if w.faults, err = fault.NewSet(&s.Faults, w.faultEnv()); err != nil {
		return nil, err
	}
	pools, err := agentconfig.Pools(s.Config.IPAM)
	if err != nil {
		return nil, err
	}
	if ipam := s.Config.IPAM; s.Config.HasDHCP() {
		w.dhcp = &dhcpServer{w: w, ranges: ipam.Interconnect(), reserved: map[*machine]netip.Prefix{}, given: map[netip.Addr]*dhcpLease{}}
	}
	return w, w.build(pools)
}

// Name implements result.World.
func (w *World) Name() string { return "sim" }

// Now implements result.World.
func (w *World) Now() time.Duration { return w.eng.Now() }

// Close implements result.World.
func (w *World) Close() error { return nil }

// Evidence implements result.World: the simulator reports all evidence but what only real packets and a real disk show, and in clusters
// without wiring what that would leave.
func (w *World) Evidence() []fact.Evidence {
	return slices.DeleteFunc(fact.AllEvidence(), func(e fact.Evidence) bool {
		return e == fact.Pings || e == fact.Remains || w.unwired() && slices.Contains(wiringEvidence, e)
	})
}

// Watch implements result.World. Pods that exist from the start are reported at once.
func (w *World) Watch(fn func(fact.Fact) error) {
	if len(w.listeners) == 0 {
		w.api.Observe(w.podChanged)
	}
	w.listeners = append(w.listeners, fn)
	if w.stillborn != "" {
		w.fall(w.stillborn, true)
		return
	}
	pods, _ := w.api.List(cluster.KindPod, "")
	for _, p := range pods {
		w.podChanged(nil, p)
	}
}

// podChanged reports what an object of a pod shows.
func (w *World) podChanged(old, now cluster.Object) {
	before, _ := old.(*cluster.Pod)
	after, _ := now.(*cluster.Pod)
	p := after
	if p == nil {
		if p = before; p == nil {
			return
		}
	}
	tell := func(text string) {
		w.emit(fact.Fact{Node: p.Node, What: fact.PodChanged{Pod: p.Key().String(), PodUID: p.SandboxUID(), Change: text}})
	}
	if before == nil {
		tell(fact.PodCreated)
	}
	if p.Node != "" && (before == nil || before.Node == "") {
		tell(fact.PodBound)
	}
	if (after == nil || after.Deleting) && (before == nil || !before.Deleting) {
		tell(fact.PodDeleted)
	}
}

// Digest implements result.Recorder.
func (w *World) Digest() string { return w.eng.Digest().String() }

// Events implements result.Recorder.
func (w *World) Events() int64 { return w.eng.Seq() }

// Tail implements result.Recorder.
func (w *World) Tail(n int) []string {
	lines := w.eng.Tail()
	return lines[max(0, len(lines)-n):]
}

// Supports implements result.Supporter.
func (w *World) Supports(a scenarios.Action) bool { return w.play.Refusal(a) == "" }

// Refusal implements result.Refuser.
func (w *World) Refusal(a scenarios.Action) string { return w.play.Refusal(a) }

// Advance implements result.World.
func (w *World) Advance(ctx context.Context, at time.Duration) (err error) {
	const slice = time.Second
	if w.fallen {
		return w.eng.Err()
	}
	defer w.outlive(&err)
	defer w.tellCounts()
	w.eng.Interrupt(ctx.Err)
	for w.eng.Now() < at {
		if err := ctx.Err(); err != nil {
			return err
		}
		next := min(at, w.eng.Now()+slice)
		if quiet, ok := w.eng.NextAt(); ok && quiet > next {
			next = min(at, quiet) // nothing happens before: skip the slices in between
		} else if !ok {
			next = at
		}
		if err := w.runUntil(next); err != nil {
			return err
		}
	}
	return nil
}

func (w *World) runUntil(t time.Duration) (err error) {
	defer w.outlive(&err)
	if limit := w.s.Limits.Events; limit > 0 && w.eng.Seq() > limit {
		return fmt.Errorf("more than limits.events = %d events", limit)
	}
	if err := w.eng.RunUntil(t); err != nil || w.eng.Now()-w.countedAt < time.Second {
		return err
	}
	w.tellCounts()
	return w.eng.Err()
}

// Settle implements result.World.
func (w *World) Settle(ctx context.Context, limit time.Duration) (err error) {
	const look = 50 * time.Millisecond
	if w.fallen {
		return w.eng.Err()
	}
	defer w.outlive(&err)
	defer w.tellCounts()
	w.eng.Interrupt(ctx.Err)
	end := w.eng.Now() + limit
	w.play.Notice()
	why := w.quiet()
	for why != "" {
		if w.eng.Now() >= end {
			return w.unquiet()
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		next := w.eng.Now() + look
		if at, ok := w.eng.NextAt(); ok && at > next {
			next = at
		}
		if err := w.runUntil(min(next, end)); err != nil {
			return err
		}
		why = w.quiet()
	}
	return nil
}

// soon does something in an event of its own at the present instant.
func (w *World) soon(m *machine, what string, do func()) { w.eng.After(0, &happening{m, what, do}) }

// emit notifies every listener; the first error stops the run.
func (w *World) emit(f fact.Fact) {
	f.At = w.eng.Now()
	switch f.What.(type) {
	case fact.Counted, fact.Changing, fact.SavedLease, fact.SavedRelease, fact.SavedNodeID, fact.SavedAll:
		// regular events of an idle cluster
	default:
		w.stirs++
	}
	for _, fn := range w.listeners {
		if err := fn(f); err != nil {
			w.eng.Fail(err)
			return
		}
	}
}

// tellCounts reports the requests to others since its last report: reporting each call would cost more than making it.
func (w *World) tellCounts() {
	w.counts.StoreOps = w.store.Store.Operations()
	now := w.counts
	w.countedAt = w.eng.Now()
	now.APIWrites += w.system.Requests()
	if now == w.counted {
		return
	}
	more := now.Minus(w.counted)
	w.counted = now
	w.emit(fact.Fact{What: fact.Counted{Counts: more}})
}

// note puts a line into the trail that no event would show: an error, a crash.
func (w *World) note(m *machine, what, text string) {
	w.eng.After(0, &happening{m, what + ": " + text, func() {}})
}

// count counts a dataplane call and reports writes as facts.
func (w *World) count(m *machine, c vppwire.Call) {
	if strings.HasPrefix(c.Name(), "linux_") {
		w.counts.LinuxCalls++
	} else {
		w.counts.VPPCalls++
	}
	if !c.Writes() {
		return
	}
	w.counts.Writes++
	m.wroteAt = w.eng.Now()
	if w.eng.Now() < m.recordUntil {
		m.fact(fact.Fact{What: fact.VPPWrite{Call: c.Name()}})
	}
}

func (w *World) log(m *machine, e agent.Log) {
	if w.logs != nil {
		w.logs(m.name, e)
	}
}
