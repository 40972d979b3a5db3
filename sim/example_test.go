package sim_test

import (
	"context"
	"fmt"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/sim"
)

// A law of one's own judges beside those that come along.
func ExampleRun() {
	fewBlocks := fact.Law{
		Name: "few-blocks", Why: "Every block is a route on every other node.", When: fact.Always,
		Needs: []fact.Evidence{fact.Blocks},
		Check: func(s fact.Snapshot) (occasions int64, err error) {
			for _, n := range s.Nodes {
				occasions++
				if len(n.Blocks) > 2 {
					return occasions, &fact.Violation{Law: "few-blocks", At: s.At, Node: n.Name, What: fmt.Sprintf("it holds %d blocks", len(n.Blocks))}
				}
			}
			return occasions, nil
		},
	}
	s, err := scenarios.Parse("mine.yaml", []byte("name: mine\nlaws: [few-blocks]\ntimeline: [{at: 5s, do: create-pods, count: 9}]\n"))
	if err != nil {
		panic(err)
	}
	r, err := sim.Run(context.Background(), s, sim.Options{Seed: 1, Laws: append(check.All(), fewBlocks)})
	if err != nil {
		panic(err)
	}
	fmt.Println(r.Verdict, r.Error)
	// Output: pass
}
