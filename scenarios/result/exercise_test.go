package result_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// Goal: each exercise is noted by exactly what it stands for. Method: one story for each, and what a run without it
// lacks.
func TestExercises(t *testing.T) {
	type facts = []fact.Fact
	down, up := fact.Fact{What: fact.AgentDown{}}, fact.Fact{What: fact.AgentUp{}}
	answered := fact.Fact{What: fact.Answered{PodUID: "u"}}
	waits := fact.Fact{What: fact.Refused{PodUID: "u", Exhausted: true}}
	told := func(what fact.What) fact.Fact { return fact.Fact{What: what} }
	vppUp, removed := told(fact.Disturbed{By: fact.VPPUp}), told(fact.Removed{})
	record := func(before, after string) fact.Fact {
		return fact.Fact{What: fact.RecordChange{ID: 1, Before: fact.NodeRecord{Name: before}, After: fact.NodeRecord{Name: after}}}
	}
	for _, c := range []struct {
		facts facts
		want  []string
	}{
		{facts{}, nil},
		{facts{up}, nil},
		{facts{up, down, up}, []string{"agent-restarted"}},
		{facts{up, told(fact.AgentDown{Why: fact.CleanStop})}, []string{"clean-stop"}},
		{facts{{What: fact.AgentUp{Leases: make([]ipam.Lease, 1)}}}, []string{"journal-read"}},
		{facts{vppUp, answered}, nil},
		{facts{answered, vppUp}, []string{"vpp-restarted"}},
		{facts{told(fact.NodeGone{Left: true}), up}, []string{"node-left"}},
		{facts{told(fact.NodeGone{}), up}, []string{"machine-returned"}},
		{facts{waits}, []string{"addresses-exhausted"}},
		{facts{waits, answered}, []string{"addresses-exhausted", "wait-ended"}},
		{facts{{What: fact.NodeBlocks{Blocks: make([]ipam.Block, 1)}}}, nil},
		{facts{{What: fact.NodeBlocks{Blocks: []ipam.Block{{Draining: true}}}}}, []string{"range-drained"}},
		{facts{up, removed}, nil},
		{facts{up, down, up, removed}, []string{"agent-restarted", "stale-removed"}},
		{facts{record("", "a"), record("a", "a"), record("a", "")}, nil},
		{facts{record("a", "b")}, []string{"id-passed-on"}},
		{facts{told(fact.Checked{Code: 1}), told(fact.Checked{Broken: "x"}), told(fact.Status{Code: 1})}, nil},
		{facts{told(fact.Checked{Broken: "x", Code: 1})}, []string{"check-refused"}},
		{facts{told(fact.Status{Broken: "x", Code: 1})}, []string{"status-refused"}},
		{facts{{What: fact.Counted{Counts: fact.Counts{Faults: 2, LostReplies: 1}}}}, []string{"reply-lost", "fault-struck"}},
		{storyOfTwoNodes(), []string{"address-reused", "addresses-exhausted", "wait-ended", "node-left", "fault-struck"}},
	} {
		for i := range c.facts {
			if c.facts[i].Node == "" {
				c.facts[i].Node = "node-1"
			}
		}
		r := result.Run(t.Context(), &script{facts: c.facts}, parse(t, "name: x\nduration: 10s"), nil, result.Options{})
		if diff := cmp.Diff(c.want, r.Exercised); diff != "" && len(c.want)+len(r.Exercised) > 0 {
			t.Errorf("%v: %s", c.facts, diff)
		}
	}
	all := result.Exercises()
	never := result.NotExercised(all, []result.Result{{Exercised: []string{"node-left"}}, {Exercised: []string{"law-idle"}}})
	if len(never) != len(all)-2 || slices.ContainsFunc(never, func(e result.Exercise) bool { return e.Name == "node-left" || e.Name == "law-idle" }) {
		t.Errorf("never: %v", never)
	}
}

// Goal: an action that found nothing to act on is said to have done nothing, and the run goes on.
func TestRunDidNothing(t *testing.T) {
	w := &script{refuse: map[string]error{"stop-store": fmt.Errorf("stop-store: %w", result.ErrNothing)}}
	r := result.Run(t.Context(), w, parse(t, threeSteps), nil, result.Options{})
	if want := []string{"stop-store"}; r.Verdict != result.Pass || !slices.Equal(r.DidNothing, want) {
		t.Errorf("%s %s: %q did nothing, want %q", r.Verdict, r.Error, r.DidNothing, want)
	}
	if !slices.ContainsFunc(r.Timeline, func(m result.Mark) bool { return m.Text == "stop-store: did nothing" }) {
		t.Errorf("timeline %v", r.Timeline)
	}
}

// Goal: an application that no pod has is a mistake of the file, found before anything runs, with the nearest one that
// pods have.
func TestUnknownApp(t *testing.T) {
	const head, del = "name: x\ntopology: {podsPerNode: 1}\n", "timeline: [{at: 1s, do: delete-pods, all: true, app: "
	for file, want := range map[string]string{
		head + del + "wep}]":             `x.yaml:3:54: timeline[0].app: no pod of this scenario belongs to "wep"`,
		head + del + "per-node}]":        "",
		"name: x\n" + del + "per-node}]": `x.yaml:2:54: timeline[0].app: no pod of this scenario belongs to "per-node"`,
		"name: x\nchurn: {every: 1s, until: 9s, app: web}\n" + del + "wep}]":                             `x.yaml:3:54: timeline[0].app: no pod of this scenario belongs to "wep"; did you mean "web"?`,
		"name: x\nchurn: {every: 1s, until: 9s}\n" + del + "churn}]":                                     "",
		"name: x\ntimeline: [{at: 1s, do: create-pods}, {at: 2s, do: delete-pods, all: true, app: pod}]": "",
	} {
		_, err := scenarios.Parse("x.yaml", []byte(file))
		if got := fmt.Sprint(errors.Unwrap(fmt.Errorf("%w", err))); (err == nil) != (want == "") || err != nil && got != want {
			t.Errorf("%s\nhave %v\nwant %s", file, err, want)
		}
	}
}
