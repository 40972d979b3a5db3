package explore

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/sim/fault"
)

// Point is one place of a run where one fault can happen: the Number-th operation of Op's kind, on Node or anywhere.
type Point struct {
	// Number counts from 1.
	Number int
	// Node limits what is counted; empty: operations of all nodes are.
	Node string
	// Op is the operation that stands there in the run without the fault.
	Op      fault.Op
	Verdict fault.Verdict
}

// Inject is the point as an injected fault: (Nth 12 (Node node-1 (Kind effect CrashBefore))).
func (p Point) Inject() string {
	inner := "(Kind " + p.Op.Kind.String() + " " + p.Verdict.String() + ")"
	if p.Node != "" {
		inner = "(Node " + p.Node + " " + inner + ")"
	}
	return "(Nth " + strconv.Itoa(p.Number) + " " + inner + ")"
}

// String is the point for people: "CrashBefore at effect 12: Persist on node-1".
func (p Point) String() string {
	s := p.Verdict.String() + " at " + p.Op.Kind.String() + " " + strconv.Itoa(p.Number)
	if p.Op.Name != "" {
		s += ": " + p.Op.Name
	}
	if p.Op.Node != "" {
		s += " on " + p.Op.Node
	}
	return s
}

// Scenario is s with the point's fault.
func (p Point) Scenario(s *scenarios.Scenario) *scenarios.Scenario {
	c := copyOf(s)
	c.Faults.Inject = append(c.Faults.Inject, p.Inject())
	return c
}

// Kinds are the kinds of operations that can fail.
func Kinds() []fault.OpKind { return slices.Clone(kinds) }

// late is how much later than usual an operation is, where it is: within CallTimeout's default, and long enough for
// everything that waits for nothing to go on meanwhile.
const late = 700 * time.Millisecond

// aged is how old a list is that was answered from a stale cache: an API server that has just come up, or lags behind
// its etcd.
const aged = 10 * time.Second

// Harms are the faults of an operation by kind, in the order of Points: its request or its reply is lost, late or
// repeated; it is refused; its actor dies before or after; its machine loses power meanwhile; the server has lost its
// memory. What a late watch brings is overtaken by answers and by other watches, but not by later items of the same
// watch.
func Harms(kind fault.OpKind) []fault.Verdict {
	var actions []fault.Action
	switch kind {
	case fault.KindDataplane:
		actions = []fault.Action{fault.Vanish, fault.Mute, fault.Delay, fault.Duplicate, fault.Refuse, fault.CrashBefore, fault.CrashAfter}
	case fault.KindControl:
		actions = []fault.Action{fault.Vanish, fault.Mute, fault.Delay, fault.Refuse, fault.CrashBefore, fault.CrashAfter}
	case fault.KindStore:
		actions = []fault.Action{fault.Vanish, fault.Mute, fault.Delay, fault.Duplicate, fault.Refuse, fault.Compact}
	case fault.KindStoreWatch, fault.KindAPIWatch, fault.KindControlWatch:
		actions = []fault.Action{fault.Vanish, fault.Delay, fault.Duplicate}
	case fault.KindControlList:
		actions = []fault.Action{fault.Delay, fault.Refuse}
	case fault.KindPersist:
		actions = []fault.Action{fault.Delay, fault.Refuse, fault.CrashBefore, fault.CrashAfter, fault.PowerLoss}
	case fault.KindCNI:
		actions = []fault.Action{fault.Vanish}
	case fault.KindEffect:
		actions = []fault.Action{fault.CrashBefore, fault.CrashAfter}
	default:
		panic("explore: unknown kind of operation " + kind.String())
	}
	var verdicts []fault.Verdict
	for _, a := range actions {
		v := fault.Verdict{Action: a}
		switch {
		case a == fault.Delay && kind == fault.KindControlList:
			v.Delay = aged
		case a == fault.Delay:
			v.Delay = late
		}
		verdicts = append(verdicts, v)
	}
	return verdicts
}

// Points lists the places of the run of s with one seed at which one fault can happen: operation after operation, each
// with every harm. node limits the operations to one machine's; empty: all. Operations after everything was healed are
// no points: nothing fails then. Each point's run is that of its Scenario with the same seed. The run without faults
// must pass, else the error says why it did not.
func (x Explorer) Points(ctx context.Context, s *scenarios.Scenario, seed uint64, laws []fact.Law, kind fault.OpKind, node string) ([]Point, []fault.CensusLine, error) {
	var points []Point
	census, number := fault.NewCensus(), 0
	l := &operationRecorder{seen: func(op fault.Op) {
		if op.Kind != kind || node != "" && op.Node != node {
			return
		}
		census.Judge(op)
		number++
		for _, v := range Harms(kind) {
			points = append(points, Point{Number: number, Node: node, Op: op, Verdict: v})
		}
	}}
	r, err := x.watched(ctx, s, sim.Options{Seed: seed, Laws: laws}, l)
	switch {
	case err != nil:
	case ctx.Err() != nil:
		err = ctx.Err()
	case r.Verdict != result.Pass:
		err = fmt.Errorf("%s with seed %d does not pass without a fault: %s", s.Name, seed, r.Error)
	}
	return points, census.Lines(), err
}
