package sim_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// Goal: each way of breaking a pod's wiring by hand is seen by packets and by CHECK, and put right. Method: one break,
// one CHECK, a rest, another CHECK; with each way of wiring pods.
func TestCheckFindsEachBreakage(t *testing.T) {
	for _, pod := range []string{"veth", "tap", "macvlan"} {
		for _, what := range scenarios.Breakages() {
			if what == scenarios.BreakTrunk && pod != "macvlan" {
				continue // there is none
			}
			s := parsed(t, "topology: {nodes: 1, podsPerNode: 2}\nconfig: {wiring: {pod: "+pod+"}}\ntimeline:\n"+
				"  - {at: 9s, do: break-wiring, what: "+string(what)+", pod: default/node-1-pod-0}\n"+
				"  - {after: 1s, do: check-pods, node: all}\n  - {after: 5s, do: check-pods, node: all}\n")
			w, err := sim.New(s, sim.Options{Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			var broken, mended int
			w.Watch(func(f fact.Fact) error {
				switch x, ok := f.What.(fact.Checked); {
				case !ok || x.Pod != "default/node-1-pod-0":
				case x.Broken != "" && x.Code != 0:
					broken++
				case x.Broken == "" && x.Code == 0:
					mended++
				}
				return nil
			})
			r := result.Run(context.Background(), w, s, check.All(), result.Options{})
			wantBroken, wantMended := 1, 1
			switch what {
			case scenarios.BreakNamespace:
				// stays broken until the sandbox is replaced, which keeps the node busy: nothing is certain
				wantMended = 0
			case scenarios.BreakVPPRoute: // the neighbor's own route still brings packets there
				wantBroken = 0
			}
			if r.Verdict != result.Pass || broken != wantBroken || mended != wantMended {
				t.Errorf("%s %s: %s %s; found broken %d times, whole %d times", pod, what, r.Verdict, r.Error, broken, mended)
			}
		}
	}
}

// obliging is an agent that answers every CHECK with a success, and mends what it finds all the same.
type obliging struct {
	sim.PlantedAgent
	checks map[uint64]bool
}

func (o obliging) Step(now time.Time, ev agent.Event) []agent.Effect {
	if check, is := ev.(agent.PodCheck); is {
		o.checks[check.Request] = true
	}
	effects := slices.Clone(o.PlantedAgent.Step(now, ev))
	for i, e := range effects {
		if answer, is := e.(agent.Answer); is && o.checks[answer.Request] {
			effects[i] = agent.Answer{Request: answer.Request}
		}
	}
	return effects
}

// Goal: a CHECK that says yes to everything is seen, although the agent has put right what was broken by the time the
// answer is there. Method: each break that packets see, one CHECK by an agent whose refusals are lost.
func TestCheckThatAlwaysSucceeds(t *testing.T) {
	for _, what := range scenarios.Breakages() {
		if what == scenarios.BreakVPPRoute {
			continue // the neighbor's own route still brings packets there
		}
		s := parsed(t, "topology: {nodes: 1, podsPerNode: 2}\nconfig: {wiring: {pod: macvlan}}\ntimeline:\n"+
			"  - {at: 9s, do: break-wiring, what: "+string(what)+", pod: default/node-1-pod-0}\n  - {after: 1s, do: check-pods, node: all}\n")
		r, err := sim.Run(t.Context(), s, sim.Options{Seed: 1, Laws: check.All(), Plant: &sim.Plant{
			Agent: func(_ string, a sim.PlantedAgent) sim.PlantedAgent { return obliging{a, map[uint64]bool{}} }}})
		if err != nil {
			t.Fatal(err)
		}
		if r.Failure == nil || r.Failure.Law != "check-tells" {
			t.Errorf("%s: %s %+v", what, r.Verdict, r.Failure)
		}
	}
}

// Goal: CHECKs and STATUSes of a timeline's last action are judged, also where healing starts something on another node.
// Method: node-1 is without a program at the end; how many answers of node-2 laws hear of, with and without a duration.
func TestLastActionIsJudged(t *testing.T) {
	for _, before := range []string{"kill-agent", "kill-vpp", "restart-agent"} {
		for _, ask := range []string{"check-pods", "poll-status"} {
			for _, duration := range []string{"", "duration: 40s\n"} {
				s := parsed(t, duration+"topology: {nodes: 2, podsPerNode: 2}\ntimeline:\n  - {at: 9s, do: "+before+", node: node-1}\n"+
					"  - {after: 5s, do: "+ask+", node: node-2}\n")
				w, err := sim.New(s, sim.Options{Seed: 1})
				if err != nil {
					t.Fatal(err)
				}
				judged := 0
				w.Watch(func(f fact.Fact) error {
					switch f.What.(type) {
					case fact.Checked, fact.Status:
						judged++
					}
					return nil
				})
				r := result.Run(t.Context(), w, s, check.All(), result.Options{})
				if want := map[string]int{"check-pods": 2, "poll-status": 1}[ask]; r.Verdict != result.Pass || judged != want {
					t.Errorf("%s, then %s, %q: %s %s; %d answers judged, want %d", before, ask, duration, r.Verdict, r.Error, judged, want)
				}
			}
		}
	}
}
