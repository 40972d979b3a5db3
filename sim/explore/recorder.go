package explore

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/sim/engine"
	"github.com/vppdrill/vppdrill/sim/fault"
	"github.com/vppdrill/vppdrill/sim/internal/cluster"
	"github.com/vppdrill/vppdrill/sim/internal/controllers"
)

// operationRecorder is a Chooser that learns which operations a run performs and which faults hit them. The scenario
// asks it about each operation in words that the fault language has: a fault that almost never happens, of each kind,
// node and name; the recorder hears the question, answers no, and so knows the operation. Nothing else in the run
// changes.
type operationRecorder struct {
	inner   engine.Chooser
	probes  map[string]func(*fault.Op)
	chances map[string]chance
	// op is the operation that is asked about now, valid once its kind is set.
	op fault.Op
	// seen receives every operation once it is known in full; hit receives every fault that happens to op.
	seen func(op fault.Op)
	hit  func(op fault.Op, v fault.Verdict)
	told bool
	// delay is what the last delay would be.
	delay time.Duration
}

// jitterLabel begins the question of how long a delay is; it comes before the one of whether there is any.
const jitterLabel = "fault (Jitter "

// Pick implements engine.Chooser.
func (l *operationRecorder) Pick(label string, n int) int {
	if set := l.probes[label]; set != nil {
		set(&l.op)
		return 0
	}
	c, ok := l.chances[label]
	if !ok {
		v := l.inner.Pick(label, n)
		if strings.HasPrefix(label, jitterLabel) {
			l.delay = time.Duration(1 + v)
		}
		return v
	}
	v := l.inner.Pick(c.usual, n)
	if v >= c.yes && l.hit != nil {
		l.tell()
		verdict := fault.Verdict{Action: c.action}
		if c.action == fault.Delay {
			verdict.Delay = l.delay
		}
		l.hit(l.op, verdict)
	}
	return v
}

// begin is a new operation.
func (l *operationRecorder) begin(kind fault.OpKind) {
	l.tell()
	l.op, l.told = fault.Op{Kind: kind}, false
}

// tell reports the present operation, once.
func (l *operationRecorder) tell() {
	if l.op.Kind != 0 && !l.told && l.seen != nil {
		l.seen(l.op)
	}
	l.told = true
}

// kinds are all kinds of operations.
var kinds = []fault.OpKind{
	fault.KindDataplane, fault.KindStore, fault.KindStoreWatch, fault.KindAPIWatch, fault.KindPersist, fault.KindCNI, fault.KindEffect,
	fault.KindControl, fault.KindControlWatch, fault.KindControlList,
}

// operationNames are the names of operations other than calls of VPP and Linux.
var operationNames = []string{
	"list", "create", "update", "delete", "watch", "StoreChanged", "change", "Add", "Del", "Check", "GC",
	"CallDataplane", "Persist", "Replace", "StoreRequest", "Answer", "WakeAt", "Hook", "Log", "ListNodes", "NodeAddress",
	"node", "pod", "resource",
}

// probing adds the questions to a scenario, before its own faults, and makes l hear them. Calls are asked about by the
// names in calls; a call that is none of them has no name.
func (l *operationRecorder) probing(s *scenarios.Scenario, nodes, calls []string) *scenarios.Scenario {
	c := copyOf(s)
	l.probes = map[string]func(*fault.Op){}
	var texts []string
	probe := func(condition string, set func(*fault.Op)) {
		text := "(Prob 1e-06 (" + condition + " Mute))"
		texts = append(texts, text)
		l.probes["fault "+text] = set
	}
	for _, k := range kinds { // first: a kind begins an operation
		probe("Kind "+k.String(), func(*fault.Op) { l.begin(k) })
	}
	for _, n := range slices.Concat(nodes, controllers.Programs, []string{cluster.EndpointScheduler}) {
		probe("Node "+n, func(op *fault.Op) { op.Node = n })
	}
	for _, n := range slices.Concat(operationNames, controllers.RequestNames, calls) {
		probe("Request "+n, func(op *fault.Op) { op.Name = n })
	}
	c.Faults.Inject = append(texts, c.Faults.Inject...)
	return c
}

// watched runs s with l as its Chooser. It runs twice: first to learn the names of calls from the trail.
func (x Explorer) watched(ctx context.Context, s *scenarios.Scenario, o sim.Options, l *operationRecorder) (result.Result, error) {
	names := callNames{known: map[string]bool{}}
	first := o
	first.Events = names.event
	usual, err := x.run(ctx, suspicious(s), first)
	if err != nil {
		return usual, err
	}
	p := expand(s)
	l.chances = p.chances
	l.inner = o.Chooser
	if l.inner == nil {
		l.inner = engine.Seeded(o.Seed)
	}
	o.Chooser = l
	r, err := x.run(ctx, l.probing(p.scenario, nodeNames(s), names.list), o)
	l.tell()
	if err == nil {
		err = sameEnd(usual, r)
	}
	return r, err
}

// suspicious is s with a fault that never happens. The simulator takes short cuts where nothing can go wrong; a run can
// be held against one with faults only when it takes none.
func suspicious(s *scenarios.Scenario) *scenarios.Scenario {
	c := copyOf(s)
	c.Faults.Inject = append(c.Faults.Inject, "Pass")
	return c
}

// callNames collects the names of calls from event lines "node call name …".
type callNames struct {
	known map[string]bool
	list  []string
}

func (c *callNames) event(_ int64, _ time.Duration, line []byte) {
	_, rest, ok := strings.Cut(string(line), " call ")
	if !ok {
		return
	}
	name, _, _ := strings.Cut(rest, " ")
	if name != "" && !c.known[name] {
		c.known[name] = true
		c.list = append(c.list, name)
	}
}

// nodeNames are the nodes that a scenario may have at any time, and perhaps some that it never has.
func nodeNames(s *scenarios.Scenario) []string {
	n := s.Topology.Nodes
	var named []string
	for _, step := range s.Timeline {
		if a, ok := step.Action.(scenarios.AddNode); ok {
			if a.Name != "" {
				named = append(named, a.Name)
			} else {
				n += max(1, a.Count)
			}
		}
	}
	names := make([]string, 0, n+len(named))
	for i := range n {
		names = append(names, "node-"+strconv.Itoa(i+1))
	}
	for _, name := range named {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// sameEnd compares what two runs with equal trails came to: laws could remember something that events do not show.
func sameEnd(a, b result.Result) error {
	if a.Verdict != b.Verdict || a.Digest != b.Digest || a.Events != b.Events || a.Error != b.Error {
		return fmt.Errorf("two runs with the same %d events came to different ends: %s and %s", a.Events, ending(a), ending(b))
	}
	return nil
}

func ending(r result.Result) string {
	return strings.Join(strings.Fields(string(r.Verdict)+" "+r.Digest+" "+r.Error), " ")
}
