package explore_test

import (
	"context"
	"fmt"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/sim/explore"
	"github.com/vppdrill/vppdrill/sim/fault"
)

// Whatever journal write of a small cluster fails, and however, every law holds.
func ExampleExplorer_Points() {
	s, err := scenarios.Parse("pair.yaml", []byte("name: pair\ntopology: {nodes: 2, podsPerNode: 1}\ntimeline: [{when: settled, do: settle}]\n"))
	if err != nil {
		panic(err)
	}
	var x explore.Explorer
	points, _, err := x.Points(context.Background(), s, 1, check.All(), fault.KindPersist, "node-1")
	if err != nil {
		panic(err)
	}
	broken := 0
	for _, p := range points {
		r, err := sim.Run(context.Background(), p.Scenario(s), sim.Options{Seed: 1, Laws: check.All()})
		if err != nil {
			panic(err)
		}
		if r.Verdict != result.Pass {
			broken++
		}
	}
	fmt.Println(len(points) > 0, broken)
	// Output: true 0
}
