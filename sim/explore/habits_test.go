package explore

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/catalog"
	"github.com/vppdrill/vppdrill/scenarios/cause"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/gen"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/sim/engine"
)

var rewrite = flag.Bool("rewrite", false, "learn from runs that break no law what they do, or keep those of the catalogue: chains of causes compare with them; takes two minutes, or half of one")

// seedsKept is how many of the seeds that a plain run of the catalogue takes are kept of one scenario.
const seedsKept = 10

// passing runs a scenario with all laws and tells what it does, and in how many events; nil where it breaks one.
func passing(t *testing.T, s *scenarios.Scenario, seed uint64) (told *cause.Recorder, events int64) {
	x := tellerOf(s.Topology.Nodes, 0)
	r, err := sim.Run(t.Context(), s, sim.Options{Seed: seed, Account: x, Laws: check.All()})
	if err != nil || r.Verdict != scenarios.Pass {
		return nil, 0
	}
	return &x.told, r.Events
}

// Goal: what chains of causes say that runs which break no law always do, such runs do. Method: some of the catalogue and random runs that
// nothing was learned from are held against it; hardly any may break a habit, and most must have kept many.
func TestHabits(t *testing.T) {
	all, err := catalog.All()
	if err != nil {
		t.Fatal(err)
	}
	told := func(s *scenarios.Scenario, seed uint64) *cause.Recorder {
		r, events := passing(t, s, seed)
		if events > 60_000 {
			return nil
		}
		return r
	}
	random := func(first, n uint64, take func(s *scenarios.Scenario, seed uint64)) {
		for _, p := range []gen.Profile{gen.Small(), gen.Systems(), gen.Tiny()} {
			for seed := first; seed < first+n; seed++ {
				take(gen.Draw(engine.Seeded(seed), p, fmt.Sprintf("random-%d", seed)), seed)
			}
		}
	}
	if *rewrite {
		var l cause.Learner
		learn := func(s *scenarios.Scenario, seed uint64) {
			if r := told(s, seed); r != nil {
				l.Learn(r)
			}
		}
		for _, s := range all {
			learn(s, 1)
		}
		random(10_001, 40, learn)
		for name, text := range map[string]string{"habits.txt": cause.WriteHabits(l.Habits(14, 5, 0.995)), "known.txt": l.Known()} {
			if err := os.WriteFile("../../scenarios/cause/"+name, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	kept, broken := 0, 0
	judge := func(s *scenarios.Scenario, seed uint64) {
		if r := told(s, seed); r != nil {
			k, b := r.Habits()
			kept, broken = kept+k, broken+len(b)
			if len(b) > 0 && testing.Verbose() {
				t.Logf("%s seed %d: %d of %d, as %s", s.Name, seed, len(b), k+len(b), b[0])
			}
		}
	}
	for i := 0; i < len(all); i += 24 {
		judge(all[i], 2)
	}
	random(20_001, 3, judge)
	if kept < 10_000 || broken*100 > kept {
		t.Errorf("%d habits are kept and %d broken by runs that break no law; go test ./sim/explore -run TestHabits -rewrite learns them anew", kept, broken)
	}
	t.Logf("%d kept, %d broken", kept, broken)
}

// Goal: the catalogue's runs that chains of causes compare with are as they were kept, or at least most are: a chain that compares with a run
// of another version names what was changed on purpose. Method: a part of the catalogue, event by event.
func TestPrecedents(t *testing.T) {
	all, err := catalog.All()
	if err != nil {
		t.Fatal(err)
	}
	if *rewrite {
		var p cause.Precedents
		for _, s := range all {
			for seed := uint64(1); seed <= uint64(min(max(s.Seeds, 1), seedsKept)); seed++ {
				if r, _ := passing(t, s, seed); r != nil {
					p.Keep(cause.NameOf(s, seed), r)
				}
			}
		}
		var archive strings.Builder
		if err := p.Write(&archive); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("../../scenarios/cause/passed.zip", []byte(archive.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	same, others := 0, 0
	for i := 0; i < len(all); i += 12 {
		name := cause.NameOf(all[i], 1)
		r, _ := passing(t, all[i], 1)
		p, err := cause.Passed(name)
		if err != nil {
			t.Fatal(err)
		}
		if r == nil {
			continue
		}
		where, err := p.Leaves(name, r)
		if err != nil {
			t.Fatal(err)
		}
		if where == "" {
			same++
			continue
		}
		others++
		t.Logf("%s: %s", all[i].Name, where)
	}
	t.Logf("%d as they were kept, %d otherwise", same, others)
	if same < others {
		t.Errorf("of the catalogue's runs %d are as they were kept and %d are not: go test ./sim/explore -run TestPrecedents -rewrite keeps them anew", same, others)
	}
}
