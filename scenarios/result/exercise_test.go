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

// Goal: each exercise is noted by exactly what it stands for. Method: one story for each, and what a run without it lacks.
func TestExercises(t *testing.T) {
	type facts = []fact.Fact
	down, up := fact.Fact{Kind: fact.FactAgentDown}, fact.Fact{Kind: fact.FactAgentUp}
	answered := fact.Fact{Kind: fact.FactAnswered, PodUID: "u"}
	waits := fact.Fact{Kind: fact.FactRefused, PodUID: "u", Exhausted: true}
	told := func(kind fact.FactKind, text string) fact.Fact {
		return fact.Fact{Kind: kind, Text: text}
	}
	judged := func(kind fact.FactKind, broken string, code uint32) fact.Fact {
		return fact.Fact{Kind: kind, Broken: broken, Number: code}
	}
	record := func(before, after string) fact.Fact {
		return fact.Fact{Kind: fact.FactRecord, Record: &fact.RecordChange{ID: 1, Before: fact.NodeRecord{Name: before}, After: fact.NodeRecord{Name: after}}}
	}
	for _, c := range []struct {
		facts facts
		want  []string
	}{
		{facts{}, nil},
		{facts{up}, nil},
		{facts{up, down, up}, []string{"agent-restarted"}},
		{facts{up, told(fact.FactAgentDown, fact.CleanStop)}, []string{"clean-stop"}},
		{facts{{Kind: fact.FactAgentUp, Leases: make([]ipam.Lease, 1)}}, []string{"journal-read"}},
		{facts{told(fact.FactDisturbed, fact.VPPUp), answered}, nil},
		{facts{answered, told(fact.FactDisturbed, fact.VPPUp)}, []string{"vpp-restarted"}},
		{facts{told(fact.FactNodeGone, fact.NodeLeft), up}, []string{"node-left"}},
		{facts{told(fact.FactNodeGone, ""), up}, []string{"machine-returned"}},
		{facts{waits}, []string{"addresses-exhausted"}},
		{facts{waits, answered}, []string{"addresses-exhausted", "wait-ended"}},
		{facts{{Kind: fact.FactBlocks, Blocks: make([]ipam.Block, 1)}}, nil},
		{facts{{Kind: fact.FactBlocks, Blocks: []ipam.Block{{Draining: true}}}}, []string{"range-drained"}},
		{facts{up, told(fact.FactRemoved, "")}, nil},
		{facts{up, down, up, told(fact.FactRemoved, "")}, []string{"agent-restarted", "stale-removed"}},
		{facts{record("", "a"), record("a", "a"), record("a", "")}, nil},
		{facts{record("a", "b")}, []string{"id-passed-on"}},
		{facts{judged(fact.FactChecked, "", 1), judged(fact.FactChecked, "x", 0), judged(fact.FactStatus, "", 1)}, nil},
		{facts{judged(fact.FactChecked, "x", 1)}, []string{"check-refused"}},
		{facts{judged(fact.FactStatus, "x", 1)}, []string{"status-refused"}},
		{facts{{Kind: fact.FactCounted, Counts: &fact.Counts{Faults: 2, LostReplies: 1}}}, []string{"reply-lost", "fault-struck"}},
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

// Goal: an application that no pod has is a mistake of the file, found before anything runs, with the nearest one that pods have.
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
