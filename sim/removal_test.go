package sim_test

import (
	"context"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios/catalog"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
)

// Goal: every kind of removal is told when it happens, so that stays-wired does not hold because nobody speaks. Method:
// scenarios in which pods, nodes and ranges come and go under both ways of wiring pods; each kind must be told at least
// once. Kinds that the agent has no reason to take away anywhere are named with the reason.
func TestRemovalsAreTold(t *testing.T) {
	told := map[fact.Thing]int{}
	for _, name := range []string{"pods-come-and-go", "node-leaves", "pod-veth-node-vxlan-host-veth", "pod-range-moves", "node-address-changes", "tunnel-range-moves"} {
		s, err := catalog.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		w, err := sim.New(s, sim.Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		w.Watch(func(f fact.Fact) error {
			if x, ok := f.What.(fact.Removed); ok {
				told[x.Removal.What]++
			}
			return nil
		})
		result.Run(context.Background(), w, s, nil, result.Options{})
	}
	for _, what := range []fact.Thing{fact.RemovedInterface, fact.RemovedUp, fact.RemovedAddress, fact.RemovedUnnumbered,
		fact.RemovedMember, fact.RemovedTunnel, fact.RemovedRoute, fact.RemovedNeighbor, fact.RemovedFIB,
		fact.RemovedLink, fact.RemovedLinuxAddress, fact.RemovedLinuxRoute, fact.RemovedLinuxNeighbor} {
		if told[what] == 0 {
			t.Errorf("no %s is told: %v", what, told)
		}
	}
	t.Log(told)
}
