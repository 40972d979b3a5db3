package explore_test

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/gen"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/sim/explore"
)

// steer does some runs of a search, each batch forwards or backwards, and returns what was run.
func steer(t *testing.T, s *explore.Steered, runs int, backwards bool) (done []byte) {
	t.Helper()
	for runs > 0 {
		batch := s.Batch(runs)
		runs -= len(batch)
		for _, trial := range batch {
			done = append(done, trial.Scenario.Marshal()...)
		}
		if backwards {
			slices.Reverse(batch)
		}
		for _, trial := range batch {
			r, err := trial.Run(context.Background(), sim.Options{Laws: check.All()})
			if err != nil || r.Verdict != result.Pass {
				t.Fatalf("%s with seed %d: %v %s\n%s", trial.Scenario.Name, trial.Seed, err, r.Error, trial.Scenario.Marshal())
			}
		}
		s.Learn()
	}
	return done
}

// seen counts what a search came by that steers it.
func seen(s *explore.Steered) (n int) {
	for _, g := range explore.Groups() {
		if g != explore.Exercises { // they are told and steer nothing
			n += len(s.Coverage().Names(g))
		}
	}
	return n
}

// Goal: a steered search follows from seed and corpus, in whatever order a batch is run; its corpus is smaller than its
// runs and comes by all that they came by; and it comes by more than as many new scenarios. Method: tiny scenarios,
// twice; and from another seed on, as one search may be unlucky.
func TestSteer(t *testing.T) {
	var x explore.Explorer
	const runs = 800 // one seed comes by a hundredth less by then, and another by a fifteenth more
	first, again := x.Steer(gen.Tiny(), 1, nil), x.Steer(gen.Tiny(), 1, nil)
	if !bytes.Equal(steer(t, first, runs, false), steer(t, again, runs, true)) {
		t.Error("two searches with one seed differ")
	}
	corpus := first.Corpus()
	if len(corpus) == 0 || len(corpus) > runs*3/4 {
		t.Errorf("%d members of %d runs", len(corpus), runs)
	}
	reread := x.Steer(gen.Tiny(), 1, corpus)
	steer(t, reread, len(corpus), false)
	for _, g := range explore.Groups() {
		if g == explore.Exercises {
			continue // they are told and steer nothing
		}
		if a, b := first.Coverage().Names(g), reread.Coverage().Names(g); !slices.Equal(a, b) {
			t.Errorf("%s: the runs came by %d, their corpus by %d", g, len(a), len(b))
		}
		if len(first.Coverage().Names(g)) == 0 {
			t.Errorf("nothing was seen of %s", g)
		}
	}
	const another = 5000
	other := x.Steer(gen.Tiny(), another, nil)
	steer(t, other, runs, false)
	unsteered := 0
	for _, seed := range [...]uint64{1, another} {
		plain := x.Draw(gen.Tiny(), seed)
		steer(t, plain, runs, false)
		unsteered += seen(plain)
	}
	if steered := seen(first) + seen(other); steered <= unsteered {
		t.Errorf("steered runs came by %d, as many new ones by %d", steered, unsteered)
	}
	if again := x.Steer(gen.Tiny(), 1, corpus); len(again.Batch(1)) != 1 || len(x.Draw(gen.Tiny(), 1).Corpus()) != 0 {
		t.Error("a search without runs has a corpus")
	}
}

// Goal: what a run comes by is said by name, and what is possible and was not come by is listed. Method: a scenario
// with one action and one fault.
func TestCoverage(t *testing.T) {
	s := parse(t, "name: covered\ntopology: {nodes: 2, podsPerNode: 1}\ntimeline: [{at: 5s, do: restart-agent, node: node-1}]\n"+
		"faults: {inject: ['(Nth 3 (Kind persist CrashAfter))']}\n")
	var x explore.Explorer
	search := x.Steer(gen.Tiny(), 1, []*explore.Member{{Scenario: s, Seed: 1, Kept: true}})
	for _, trial := range search.Batch(1) {
		if _, err := trial.Run(context.Background(), sim.Options{Laws: check.All()}); err != nil {
			t.Fatal(err)
		}
	}
	search.Learn()
	c := search.Coverage()
	for _, want := range []struct {
		group explore.Group
		name  string
	}{
		{explore.Actions, "restart-agent"}, {explore.Faults, "persist CrashAfter"}, {explore.Steps, "persist CrashAfter Persist"},
		{explore.States, "idle"}, {explore.Occasions, "reachable"},
	} {
		if !c.Has(want.group, want.name) {
			t.Errorf("%s: no %q among %q", want.group, want.name, c.Names(want.group))
		}
		if possible := explore.Possible(want.group, check.All()); possible != nil && (!slices.Contains(possible, want.name) || slices.Contains(c.Missing(want.group, check.All()), want.name)) {
			t.Errorf("%s: %q is not possible, or missing", want.group, want.name)
		}
	}
	if !slices.Contains(c.Missing(explore.Faults, check.All()), "dataplane Mute") || !slices.Contains(c.Missing(explore.Actions, check.All()), "wipe-store") {
		t.Error("what was not come by is not missing")
	}
	if len(search.Corpus()) != 1 {
		t.Error("a kept member is gone")
	}
}

// Goal: variations around a seed follow from their own seeds, whatever the first is, differ from one another, and half
// of them run with the seed's chance. Method: the same variations asked for in two ways.
func TestAround(t *testing.T) {
	x := explore.Explorer{}
	const around, first, n = 4711, 10, 40
	all := x.Around(gen.Tiny(), around, first)
	texts, same := map[string]bool{}, 0
	for i := range n {
		batch := x.Around(gen.Tiny(), around, first+uint64(i)).Batch(1)
		whole := all.Batch(1)
		text := string(batch[0].Scenario.Marshal())
		if text != string(whole[0].Scenario.Marshal()) || batch[0].Seed != whole[0].Seed {
			t.Fatalf("variation %d is another one when it comes first", first+i)
		}
		if texts[text] = true; batch[0].Seed == around {
			same++
		}
	}
	if len(texts) != n || same < n/4 || same > 3*n/4 {
		t.Errorf("%d different ones of %d, %d with seed %d", len(texts), n, same, around)
	}
}
