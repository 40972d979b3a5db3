package result_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// script is a World whose every move is written down and whose failures are told beforehand.
type script struct {
	now   time.Duration
	log   []string
	watch []func(fact.Fact) error
	// facts happen when time passes them.
	facts []fact.Fact
	// refuse maps action lines to errors of Do, busy the times at which Settle gives up.
	refuse   map[string]error
	busy     map[time.Duration]error
	settled  bool
	evidence []fact.Evidence
}

func (w *script) note(format string, args ...any) {
	w.log = append(w.log, w.now.String()+" "+fmt.Sprintf(format, args...))
}

func (w *script) Name() string { return "script" }

func (w *script) Do(_ context.Context, a scenarios.Action) error {
	w.note("%s", a)
	return w.refuse[a.String()]
}

func (w *script) Advance(_ context.Context, at time.Duration) error {
	for len(w.facts) > 0 && w.facts[0].At <= at {
		f := w.facts[0]
		w.facts = w.facts[1:]
		w.now = f.At
		for _, watch := range w.watch {
			if err := watch(f); err != nil {
				return err
			}
		}
	}
	w.now = at
	return nil
}

func (w *script) Now() time.Duration { return w.now }

func (w *script) Heal(context.Context) error { w.note("heal"); return nil }

func (w *script) Settle(ctx context.Context, limit time.Duration) error {
	w.note("settle %s", limit)
	if err := w.busy[w.now]; err != nil {
		return err
	}
	w.settled = true
	return w.Advance(ctx, w.now+time.Second)
}

func (w *script) Snapshot(context.Context) (fact.Snapshot, error) {
	return fact.Snapshot{At: w.now, Settled: w.settled, Nodes: []fact.NodeState{{Name: "node-1"}}}, nil
}

func (w *script) Watch(f func(fact.Fact) error) { w.watch = append(w.watch, f) }
func (w *script) Evidence() []fact.Evidence     { return w.evidence }
func (w *script) Close() error                  { return nil }
func (w *script) Digest() string                { return "d1" }
func (w *script) Events() int64                 { return 7 }
func (w *script) Tail(int) []string             { return []string{"before", "bad"} }

// noDelete is a law that watches: no FactDeleted ever.
type noDelete struct{ seen int64 }

func (n *noDelete) Observe(f *fact.Fact) error {
	if _, ok := f.What.(fact.Configured); ok {
		return nil // the run itself tells it
	}
	n.seen++
	if _, ok := f.What.(fact.Deleted); ok {
		return &fact.Violation{Law: "no-delete", At: f.At, Node: f.Node, What: "something was deleted"}
	}
	return nil
}
func (n *noDelete) Checks() int64 { return n.seen }

// twoLaws are a watching law and one that judges settled snapshots before a time.
func twoLaws(until time.Duration) []fact.Law {
	return []fact.Law{
		{Name: "no-delete", Why: "w1", When: fact.Always, Watch: func() fact.Watcher { return &noDelete{} }},
		{Name: "early", Why: "w2", When: fact.Settled, Check: func(s fact.Snapshot) (int64, error) {
			if s.At > until {
				return 1, errors.New("too late")
			}
			return int64(len(s.Nodes)), nil
		}},
	}
}

func parse(t *testing.T, text string) *scenarios.Scenario {
	t.Helper()
	s, err := scenarios.Parse("run.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const threeSteps = `name: three-steps
timeline:
  - {at: 10s, do: kill-agent, node: node-1, for: 5s}
  - {when: settled, do: restart-vpp, node: all}
  - {after: 3s, do: stop-store, optional: true}
  - {at: 11s, do: gc, node: node-2}
duration: 30s
`

// Goal: Run does the timeline in order at its times, waits for quiet where asked, lasts as long as the break phase,
// heals, settles, and passes when nothing is wrong. Method: a scripted world writes down what it was told.
func TestRunOrder(t *testing.T) {
	w := &script{}
	var told []string
	r := result.Run(t.Context(), w, parse(t, threeSteps), twoLaws(time.Hour), result.Options{
		Seed: 4, OnMark: func(m result.Mark) { told = append(told, m.Text) },
	})
	want := []string{
		"10s kill-agent node=node-1 for=5s",
		"10s settle 5m0s",
		"11s restart-vpp node=all",
		"14s stop-store",
		"14s gc node=node-2", // its time has passed: at once
		"30s heal",
		"30s settle 5m0s",
	}
	if diff := cmp.Diff(want, w.log); diff != "" {
		t.Error(diff)
	}
	marks := []result.Mark{
		{AtSeconds: 10, EndSeconds: 15, Kind: "fault", Node: "node-1", Text: "kill-agent node=node-1 for=5s"},
		{AtSeconds: 11, EndSeconds: 11, Kind: "settled", Text: "quiet before restart-vpp node=all"},
		{AtSeconds: 11, EndSeconds: 11, Kind: "action", Text: "restart-vpp node=all"},
		{AtSeconds: 14, EndSeconds: 30, Kind: "fault", Text: "stop-store"},
		{AtSeconds: 14, EndSeconds: 14, Kind: "action", Node: "node-2", Text: "gc node=node-2"},
		{AtSeconds: 30, EndSeconds: 30, Kind: "action", Text: "heal"},
		{AtSeconds: 31, EndSeconds: 31, Kind: "settled", Text: "quiet after healing"},
	}
	if diff := cmp.Diff(marks, r.Timeline); diff != "" {
		t.Error(diff)
	}
	if len(told) != len(marks) {
		t.Errorf("told %d marks", len(told))
	}
	laws := []result.LawResult{
		{Name: "no-delete", Why: "w1", Status: result.HeldStatus}, {Name: "early", Why: "w2", Status: result.HeldStatus, Checks: 2, Occasions: 2},
		{Name: "settles", Rule: r.Laws[2].Rule, Why: r.Laws[2].Why, Status: result.HeldStatus, Checks: 2, Occasions: 2},
	}
	if diff := cmp.Diff(laws, r.Laws); diff != "" {
		t.Error(diff)
	}
	if r.Verdict != result.Pass || r.Error != "" || r.VirtualSeconds != 31 || r.Digest != "d1" || r.Events != 7 || r.Nodes != 1 ||
		r.Replay != "vppdrill run run.yaml --world script --seed 4" {
		t.Errorf("result %+v", r)
	}
}

// Goal: each way a run can end has its verdict and one line that says why. Method: a table of worlds.
func TestRunVerdicts(t *testing.T) {
	deleted := fact.Fact{At: 12500 * time.Millisecond, Node: "node-2", What: fact.Deleted{}}
	for _, c := range []struct {
		name, more string
		world      script
		until      time.Duration
		verdict    result.Verdict
		err        string
		law        string
	}{
		{name: "watched law", world: script{facts: []fact.Fact{deleted}},
			verdict: result.Fail, err: "no-delete on node-2 at 12.5s: something was deleted", law: "no-delete"},
		{name: "settled law", until: 20 * time.Second, verdict: result.Fail, err: "early at 31s: too late", law: "early"},
		{name: "never quiet", world: script{busy: map[time.Duration]error{30 * time.Second: errors.New("node-1:\nwaits for an ID")}},
			verdict: result.Fail, err: "settles at 30s: not quiet within 5m after healing: node-1: waits for an ID", law: "settles"},
		{name: "unsupported", world: script{refuse: map[string]error{"gc node=node-2": result.ErrUnsupported, "stop-store": result.ErrUnsupported}},
			verdict: result.Error, err: "world script cannot do stop-store, gc"},
		{name: "broken although unsupported", world: script{facts: []fact.Fact{deleted}, refuse: map[string]error{"gc node=node-2": result.ErrUnsupported, "stop-store": result.ErrUnsupported}},
			verdict: result.Fail, err: "no-delete on node-2 at 12.5s: something was deleted", law: "no-delete"},
		{name: "senseless", world: script{refuse: map[string]error{"gc node=node-2": errors.New("no such node")}},
			verdict: result.Error, err: "gc node=node-2 at 14s: no such node"},
		{name: "senseless but optional", world: script{refuse: map[string]error{"stop-store": errors.New("it is down")}}, verdict: result.Pass},
		{name: "expected violation", more: "expect: {violation: no-delete}\n", world: script{facts: []fact.Fact{deleted}},
			verdict: result.Pass, law: "no-delete"},
		{name: "expected violation that does not come", more: "expect: {violation: no-delete}\n",
			verdict: result.Fail, err: "expected law no-delete to be broken, but it held"},
		{name: "expected exhaustion", more: "expect: {exhausted: true}\n",
			verdict: result.Fail, err: "expected a node to run out of addresses, but none did"},
		{name: "unexpected exhaustion", more: "expect: {exhausted: false}\n", world: script{facts: []fact.Fact{{At: time.Second, Node: "node-2", What: fact.Refused{PodUID: "u", Exhausted: true}}}},
			verdict: result.Fail, err: "expected no node to run out of addresses, but node-2 did"},
		{name: "pods", more: "expect: {pods: 3}\n", verdict: result.Fail, err: "expected 3 attached pods at the end, but found 0"},
		{name: "unknown law", more: "laws: [no-delet]\n",
			verdict: result.Error, err: `run.yaml:8:8: laws[0]: "no-delet" is not a law; did you mean "no-delete"?`},
		{name: "only the other law", more: "laws: [early, settles]\n", world: script{facts: []fact.Fact{deleted}}, verdict: result.Pass},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.until == 0 {
				c.until = time.Hour
			}
			r := result.Run(t.Context(), &c.world, parse(t, threeSteps+c.more), twoLaws(c.until), result.Options{})
			if r.Verdict != c.verdict || r.Error != c.err {
				t.Errorf("verdict %s: %s", r.Verdict, r.Error)
			}
			if c.law == "" {
				if r.Failure != nil {
					t.Errorf("failure %+v", r.Failure)
				}
				return
			}
			if r.Failure == nil || r.Failure.Law != c.law || r.Failure.Line != "bad" || r.Failure.Event != 7 || len(r.Failure.Tail) != 2 {
				t.Fatalf("failure %+v", r.Failure)
			}
			for _, l := range r.Laws {
				if want := map[bool]int64{true: 1}[l.Name == c.law]; l.Violations != want {
					t.Errorf("law %s: %d violations", l.Name, l.Violations)
				}
			}
		})
	}
}

// Goal: a law named settles among the given ones is the law that Run counts itself: once for each wait, its Check
// unused.
func TestRunCountsSettling(t *testing.T) {
	law := fact.Law{Name: result.LawSettles, Why: "given", When: fact.Settled,
		Check: func(fact.Snapshot) (int64, error) { return 0, errors.New("unused") }}
	r := result.Run(t.Context(), &script{}, parse(t, threeSteps), []fact.Law{law}, result.Options{})
	if want := []result.LawResult{{Name: "settles", Why: "given", Status: result.HeldStatus, Checks: 2, Occasions: 2}}; !cmp.Equal(r.Laws, want) {
		t.Errorf("laws %v, error %s", r.Laws, r.Error)
	}
}

// Goal: a law whose evidence the world does not deliver is not judged and says what is missing; one that finds nothing
// to judge says so; one that the scenario asks for by name or expects to be broken is an error of the run when it
// cannot be judged. Method: a world without rests, and laws that would break at the first fact or snapshot.
func TestRunWithoutEvidence(t *testing.T) {
	late := func(fact.Snapshot) (int64, error) {
		return 1, errors.New("judged although its evidence is missing")
	}
	laws := []fact.Law{
		{Name: "rests", Why: "w", When: fact.Always, Needs: []fact.Evidence{fact.Leases, fact.Rests}, Check: late,
			Watch: func() fact.Watcher { return &noDelete{} }},
		{Name: "fed", Why: "w", When: fact.Always, Needs: []fact.Evidence{fact.Leases}, Watch: func() fact.Watcher { return &noDelete{} }},
		{Name: "unfed", Why: "w", When: fact.Settled, Check: func(fact.Snapshot) (int64, error) { return 0, nil }},
	}
	world := func() *script {
		return &script{evidence: []fact.Evidence{fact.Leases}, facts: []fact.Fact{{At: time.Second, What: fact.Answered{}}}}
	}
	r := result.Run(t.Context(), world(), parse(t, threeSteps), laws, result.Options{})
	if r.Verdict != result.Pass {
		t.Errorf("%s: %s", r.Verdict, r.Error)
	}
	var have []string
	for _, l := range r.Laws {
		have = append(have, fmt.Sprintf("%s: %s (%d, %d)", l.Name, l.StatusText(), l.Checks, l.Occasions))
	}
	want := []string{"rests: not judged: no rests (0, 0)", "fed: held (1, 1)", "unfed: held, 0 occasions (0, 0)", "settles: held (2, 2)"}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Error(diff)
	}
	for more, want := range map[string]string{
		"laws: [rests]\n":               "the scenario names law rests, which world script cannot judge: not judged: no rests",
		"expect: {violation: rests}\n":  "the scenario names law rests, which world script cannot judge: not judged: no rests",
		"laws: [fed]\n":                 "",
		"laws: [fed, settles, unfed]\n": "the scenario names law unfed, which found nothing to judge",
		"laws: all\n":                   "",
	} {
		w := world()
		r := result.Run(t.Context(), w, parse(t, threeSteps+more), laws, result.Options{})
		refused := strings.Contains(want, "cannot judge")
		if r.Error != want || (r.Verdict == result.Pass) != (want == "") || (r.Verdict == result.Error) != refused {
			t.Errorf("%s: %s %q", more, r.Verdict, r.Error)
		}
		if refused && (len(w.log) > 0 || r.Laws[0].Status != result.NotJudgedStatus) {
			t.Errorf("%s: ran %v, laws %v", more, w.log, r.Laws)
		}
	}
}

// Goal: a cancelled run is an error, never a pass.
func TestRunCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := &script{busy: map[time.Duration]error{10 * time.Second: context.Canceled}}
	if r := result.Run(ctx, w, parse(t, threeSteps), nil, result.Options{}); r.Verdict != result.Error {
		t.Errorf("verdict %s", r.Verdict)
	}
}

// Goal: without a duration the break phase lasts until the last item and the last fault with a time of its own is over;
// with one, it ends then. Method: when healing comes.
func TestRunEnd(t *testing.T) {
	const timeline = "\ntimeline: [{at: 5s, do: stop-store, for: 20s}, {at: 10s, do: stop-api}]"
	for text, want := range map[string]string{
		"name: x":                           "0s heal",
		"name: x" + timeline:                "25s heal",
		"name: x\nduration: 12s" + timeline: "12s heal",
		"name: x\nchurn: {every: 1s, until: 40s}" + timeline:                   "40s heal",
		"name: x\nworkload: {format: pods/1, rows: a web 3 50.5 -}" + timeline: "50.5s heal",
	} {
		w := &script{}
		result.Run(t.Context(), w, parse(t, text), nil, result.Options{})
		if !slices.Contains(w.log, want) {
			t.Errorf("%s: %v, want %s", text, w.log, want)
		}
	}
}

// Goal: a result's addresses are the spans in which pods held them. Method: facts in, spans out.
func TestRunAddresses(t *testing.T) {
	at := func(seconds int, node string, what fact.What) fact.Fact {
		return fact.Fact{At: time.Duration(seconds) * time.Second, Node: node, What: what}
	}
	answered := func(container string) fact.What {
		return fact.Answered{Owner: owner(container), Pod: "default/" + container}
	}
	w := &script{facts: []fact.Fact{
		at(1, "node-1", answered("a")),
		at(2, "node-2", answered("a")),
		at(2, "node-2", answered("a")), // a repeated ADD
		at(3, "node-1", answered("b")),
		at(4, "node-1", fact.Released{Owner: owner("a")}),
		at(4, "node-1", fact.Deleted{Owner: owner("a")}),
		at(5, "node-1", fact.NodeGone{}),
		at(6, "node-2", answered("beyond the limit")),
	}}
	r := result.Run(t.Context(), w, parse(t, "name: x\nduration: 9s"), nil, result.Options{AddressesMax: 3})
	var have []string
	for _, h := range r.Addresses {
		have = append(have, fmt.Sprint(h.Node, " ", h.Pod, " ", h.FromSeconds, " ", h.UntilSeconds))
	}
	want := []string{"node-1 default/a 1 4", "node-2 default/a 2 -1", "node-1 default/b 3 5"}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Error(diff)
	}
}

// Goal: the schema is JSON that names every verb, so that editors can complete it.
func TestSchemaNamesVerbs(t *testing.T) {
	var schema struct {
		Defs map[string]any `json:"$defs"`
	}
	if err := json.Unmarshal(scenarios.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	for _, verb := range scenarios.Verbs() {
		if schema.Defs[verb] == nil {
			t.Errorf("no definition of %s", verb)
		}
	}
	if strings.Contains(string(scenarios.Schema()), "yaml:") {
		t.Error("a tag leaked into the schema")
	}
}

// Goal: a run counts as many broken laws as its scenario bears, reports the first, and ends with the last that it
// bears. Method: three deletions under a law against them, and limits from the default to more than there are.
func TestViolationsCounted(t *testing.T) {
	for _, c := range []struct {
		limit, broken int
		end           float64
	}{{1, 1, 10}, {2, 2, 20}, {9, 3, 61}} {
		w := &script{}
		for _, at := range []time.Duration{10, 20, 30} {
			w.facts = append(w.facts, fact.Fact{At: at * time.Second, Node: fmt.Sprintf("node-%d", at), What: fact.Deleted{}})
		}
		s := parse(t, fmt.Sprintf("# G.\nname: counted\nduration: 60s\nlimits: {violations: %d}\n", c.limit))
		r := result.Run(t.Context(), w, s, twoLaws(time.Hour), result.Options{})
		if r.Verdict != result.Fail || r.Failure == nil || r.Failure.AtSeconds != 10 || r.Laws[0].Violations != int64(c.broken) || r.VirtualSeconds != c.end {
			t.Errorf("limit %d: %s, broken %d times, ended at %vs, failure %+v", c.limit, r.Verdict, r.Laws[0].Violations, r.VirtualSeconds, r.Failure)
		}
	}
}
