package explore_test

import (
	"context"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/sim/engine"
	"github.com/vppdrill/vppdrill/sim/explore"
)

// Goal: every way of putting two actions at five times into a small cluster's first second holds every law, and the
// search says that it saw them all. Method: exhaustive.
func TestExhaust(t *testing.T) {
	actions := []scenarios.Action{
		scenarios.RestartVPP{Node: "node-1"}, scenarios.RestartAgent{Node: "node-1"}, scenarios.RestartBoth{Node: "node-1"},
		scenarios.DeletePods{All: true},
	}
	build := func(c engine.Chooser, s *scenarios.Scenario) {
		at := time.Duration(0)
		for range 2 {
			at += time.Duration(1+c.Pick("gap", 5)) * 120 * time.Millisecond
			s.Timeline = append(s.Timeline, scenarios.Step{Time: at, Optional: true, Action: actions[c.Pick("action", len(actions))]})
		}
	}
	s := parse(t, "name: pair\ntopology: {nodes: 2, podsPerNode: 1}\n")
	var x explore.Explorer
	e, err := x.Exhaust(context.Background(), s, check.All(), 1000, build)
	if err != nil {
		t.Fatal(err)
	}
	if want := 5 * 4 * 5 * 4; e.Runs != want || !e.Complete {
		t.Errorf("%d runs of %d, complete %v", e.Runs, want, e.Complete)
	}
	for _, b := range e.Broken {
		t.Errorf("%s\n%s", b.Result.Error, b.Scenario.Marshal())
	}
	if len(s.Timeline) != 0 {
		t.Error("the caller's scenario was changed")
	}
}

// Goal: choices of the run itself are tried, failures are told with theirs, and the bound ends the search. Method: a
// law against one pod of four, of which chance deletes one.
func TestExhaustRuns(t *testing.T) {
	s := parse(t, "name: lottery\ntopology: {nodes: 2, podsPerNode: 2}\ntimeline: [{when: settled, do: delete-pods, count: 1}]\n")
	law := func() fact.Law {
		return watched(func() watcher {
			return func(f fact.Fact) string {
				if x, ok := f.What.(fact.Deleted); ok && x.Pod == "default/node-2-pod-0" {
					return "the wrong pod was deleted"
				}
				return ""
			}
		})
	}
	x := explore.Explorer{Run: under(law)}
	e, err := x.Exhaust(context.Background(), s, nil, 100, nil)
	if err != nil || !e.Complete || e.Runs != 4 || len(e.Broken) != 1 {
		t.Fatalf("%v: %d runs, complete %v, %d broken", err, e.Runs, e.Complete, len(e.Broken))
	}
	if p := e.Broken[0].Picks; len(p) != 1 || p[0] != (explore.Pick{Label: "timeline delete-pods 1 pod", Number: 1, Of: 4, Value: 2}) {
		t.Errorf("picks %+v", p)
	}
	small, err := x.Shrink(context.Background(), e.Broken[0].Scenario, e.Broken[0].Picks, e.Broken[0].Result, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := x.Replay(context.Background(), small, 0, sim.Options{}); err != nil || r.Failure == nil {
		t.Errorf("its capsule: %v\n%s", err, small)
	}
	if e, err = x.Exhaust(context.Background(), s, nil, 3, nil); err != nil || e.Complete || e.Runs != 3 {
		t.Errorf("%v: %d runs, complete %v", err, e.Runs, e.Complete)
	}
}
