package gen_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/catalog"
	"github.com/vppdrill/vppdrill/scenarios/gen"
)

// splitMix is a chooser that needs no seed table: SplitMix64 (Steele, Lea, Flood 2014).
type splitMix struct{ state uint64 }

func (s *splitMix) Pick(_ string, n int) int {
	s.state += 0x9e3779b97f4a7c15
	z := s.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return int((z ^ z>>31) % uint64(n))
}

// drawn lets rapid make the picks, so that it can shrink them.
type drawn struct{ t *rapid.T }

func (d drawn) Pick(label string, n int) int { return rapid.IntRange(0, n-1).Draw(d.t, label) }

// Goal: whatever is picked, the scenario is valid, comes back from its file equal, and stays within its profile. Method:
// random picks; Draw itself panics on an invalid scenario.
func TestDraw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SampledFrom(gen.Profiles()[:2]).Draw(t, "profile")
		s := gen.Draw(drawn{t}, p, "random")
		again, err := scenarios.Parse("random.yaml", s.Marshal())
		if err != nil || !again.Equal(s) {
			t.Fatalf("Marshal wrote another scenario, %v\n%s", err, s.Marshal())
		}
		if s.BreakEnd() != p.Duration || s.Topology.Nodes != p.Nodes {
			t.Fatalf("%s with %d nodes", s.BreakEnd(), s.Topology.Nodes)
		}
		nodes := p.Nodes
		for _, step := range s.Timeline {
			if !step.Optional {
				t.Fatalf("%s is not optional", step)
			}
			switch step.Action.(type) {
			case scenarios.AddNode:
				nodes++
			case scenarios.RemoveNode:
				nodes--
			}
			if nodes < p.NodesMin || nodes > p.NodesMax {
				t.Fatalf("%d nodes after %s", nodes, step)
			}
		}
	})
}

// Goal: equal seeds give equal scenarios, other seeds others.
func TestDrawRepeats(t *testing.T) {
	draw := func(seed uint64) []byte { return gen.Draw(&splitMix{seed}, gen.Small(), "x").Marshal() }
	if !bytes.Equal(draw(1), draw(1)) {
		t.Error("one seed, two scenarios")
	}
	if bytes.Equal(draw(1), draw(2)) {
		t.Error("two seeds, one scenario")
	}
}

// Goal: a few hundred seeds use every verb that random scenarios are meant to use and every probability, each also absent
// from some. Method: count.
func TestDrawReaches(t *testing.T) {
	const seeds = 400
	verbs, faults, said := map[string]int{}, map[string]int{}, map[string]int{}
	words := []string{"(Kind store-watch (Jitter", "(Kind api-watch (Jitter", "(Kind control-watch (Jitter", "(Kind control-watch Vanish", "(Kind control-list (Jitter", "newestByClock: true"}
	var schema struct {
		Properties struct {
			Faults struct{ Properties map[string]any }
		}
	}
	if err := json.Unmarshal(scenarios.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(seeds) {
		profile := gen.Small()
		if seed%4 == 3 {
			profile = gen.Systems()
		}
		s := gen.Draw(&splitMix{seed}, profile, "x")
		used := map[string]bool{}
		for _, step := range s.Timeline {
			used[step.Action.Verb()] = true
		}
		for verb := range used {
			verbs[verb]++
		}
		_, text, _ := strings.Cut(string(s.Marshal()), "\nfaults:")
		text, _, _ = strings.Cut(text, "\nlimits:")
		for name := range schema.Properties.Faults.Properties {
			if strings.Contains(text, "\n  "+name+":") {
				faults[name]++
			}
		}
		for _, word := range words {
			if strings.Contains(string(s.Marshal()), word) {
				said[word]++
			}
		}
	}
	for _, word := range words {
		if n := said[word]; n == 0 || n == seeds {
			t.Errorf("%s in %d of %d scenarios", word, n, seeds)
		}
	}
	// What random scenarios leave out: these need a certain configuration or name, or belong to Run.
	left := map[string]bool{"set-pod-cidr": true, "change-management": true, "settle": true,
		"claim-address": true,                                                              // what is learned of it stays without neighborAge
		"rename-node":   true,                                                              // the node's other name is one that no drawn action says
		"kill-plugin":   true, "kill-runtime": true, "fill-disk": true, "lose-state": true, // only for plugins: --cni
		"change-policy": true, "remove-policy": true, "label-pods": true, "label-namespace": true} // only where VPP enforces policies
	for _, verb := range scenarios.Verbs() {
		if n := verbs[verb]; left[verb] != (n == 0) || n == seeds {
			t.Errorf("%s in %d of %d scenarios", verb, n, seeds)
		}
	}
	for name := range schema.Properties.Faults.Properties {
		fixed := name == "nodes" || name == "asItWas" // drawn as actions instead, or broken on purpose
		if n := faults[name]; fixed != (n == 0) || n == seeds {
			t.Errorf("faults.%s in %d of %d scenarios", name, n, seeds)
		}
	}
}

func BenchmarkDraw(b *testing.B) {
	c := &splitMix{1}
	for b.Loop() {
		gen.Draw(c, gen.Small(), "x")
	}
}

// Goal: whatever is picked, a variation of a random scenario or of one of the catalogue is valid, comes back from its file equal, has its items
// in order of time, waits for no quiet before all is healed, and expects nothing. Method: random picks, and a variation of the variation.
func TestVary(t *testing.T) {
	catalogued, err := catalog.All()
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SampledFrom([]gen.Profile{gen.Tiny(), gen.Systems()}).Draw(t, "profile")
		c := drawn{t}
		a := gen.Draw(c, p, "a")
		if rapid.Bool().Draw(t, "of the catalogue") {
			a = rapid.SampledFrom(catalogued).Draw(t, "scenario")
			p = gen.Like(a)
		}
		b := gen.Draw(c, p, "b")
		for range 3 {
			before := string(a.Marshal())
			v := gen.Vary(c, p, a, b, "v")
			if string(a.Marshal()) != before {
				t.Fatal("the variation changed what it is one of")
			}
			again, err := scenarios.Parse("v.yaml", v.Marshal())
			if err != nil || !again.Equal(v) {
				t.Fatalf("Marshal wrote another scenario, %v\n%s", err, v.Marshal())
			}
			last, healed := time.Duration(0), false
			for i, step := range v.Timeline {
				_, heals := step.Action.(scenarios.Heal)
				healed = healed || heals
				switch {
				case step.Trigger == scenarios.AtTime && step.Time < last:
					t.Fatalf("item %d is before the one in front of it\n%s", i, v.Marshal())
				case step.Trigger == scenarios.AtTime:
					last = step.Time
				case step.Trigger == scenarios.WhenSettled && !healed:
					t.Fatalf("item %d waits for quiet that may not come\n%s", i, v.Marshal())
				}
			}
			if v.Expect != (scenarios.Expect{}) {
				t.Fatalf("it expects what its original does\n%s", v.Marshal())
			}
			a, b = v, a
		}
	})
}
