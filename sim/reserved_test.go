package sim_test

import (
	"testing"

	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
)

// Goal: addresses that a system gives to no pod are not called free, whatever a block's size. Method: more pods than addresses, of Cilium's
// blocks with a gateway of their own and, shorter than sixteen addresses, without.
func TestFullBlocksHaveNoFreeAddress(t *testing.T) {
	for _, bits := range []string{"28", "29"} {
		s := parsed(t, "topology: {nodes: 2, podsPerNode: 1, maxPodsPerNode: 80}\n"+
			"config: {ipam: {system: cilium, podSubnetCIDR: 10.1.0.0/26, podSubnetOneNodePrefixLen: "+bits+", cilium: {mode: multi-pool, preAllocate: 1}}}\n"+
			"timeline: [{when: settled, do: create-pods, count: 70}]\n")
		r, err := sim.Run(t.Context(), s, sim.Options{Seed: 1, Laws: check.All()})
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != result.Pass || r.Summary.PodsNeverPlaced == 0 {
			t.Errorf("/%s: %s %+v; %d pods were never placed", bits, r.Verdict, r.Failure, r.Summary.PodsNeverPlaced)
		}
	}
}
