package sim_test

import (
	"context"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/sim"
)

// Goal: each way of breaking a pod's wiring by hand is seen by packets and by CHECK, and put right. Method: one break, one CHECK, a
// rest, another CHECK; with each way of wiring pods.
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
			w.Watch(func(f scenarios.Fact) error {
				switch {
				case f.Kind != scenarios.FactChecked || f.Pod != "default/node-1-pod-0":
				case f.Broken != "" && f.Number != 0:
					broken++
				case f.Broken == "" && f.Number == 0:
					mended++
				}
				return nil
			})
			r := scenarios.Run(context.Background(), w, s, check.All(), scenarios.Options{})
			wantBroken, wantMended := 1, 1
			switch what {
			case scenarios.BreakNamespace: // stays broken until the sandbox is replaced, which keeps the node busy: nothing is certain
				wantMended = 0
			case scenarios.BreakVPPRoute: // the neighbor's own route still brings packets there
				wantBroken = 0
			}
			if r.Verdict != scenarios.Pass || broken != wantBroken || mended != wantMended {
				t.Errorf("%s %s: %s %s; found broken %d times, whole %d times", pod, what, r.Verdict, r.Error, broken, mended)
			}
		}
	}
}
