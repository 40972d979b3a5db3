package sim_test

import (
	"context"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
)

// Goal: an agent that is asked to end gives its host the NIC back before it does. Method: VPP dies while no agent is there, behind one that
// was asked and one that was killed: only behind the second the host goes with it.
func TestNICReturned(t *testing.T) {
	for _, asked := range []string{"true", "false"} {
		s := parsed(t, "topology: {nodes: 1, podsPerNode: 1}\nconfig: {wiring: {pod: veth, host: veth, node: l2, stealNIC: true}}\n"+
			"timeline: [{when: settled, do: kill-agent, node: node-1, for: 1m, returnNIC: "+asked+"}, {after: 1s, do: kill-vpp, node: node-1, for: 30s}]\n")
		w, err := sim.New(s, sim.Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		reached, lost := 0, 0
		w.Watch(func(f fact.Fact) error {
			if x, ok := f.What.(fact.HostReach); ok && x.Reached {
				reached++
			} else if ok {
				lost++
			}
			return nil
		})
		r := result.Run(context.Background(), w, s, check.All(), result.Options{})
		if r.Verdict != result.Pass || reached == 0 || (lost == 0) != (asked == "true") {
			t.Errorf("returnNIC %s: %s, reached %d times and lost %d: %s", asked, r.Verdict, reached, lost, r.Error)
		}
	}
}
