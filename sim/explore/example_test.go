package explore_test

import (
	"context"
	"fmt"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/sim/explore"
	"github.com/vppdrill/vppdrill/sim/fault"
)

// Whatever journal write of a small cluster fails, and however, every law holds.
func ExampleExplorer_CrashPoints() {
	s, err := scenarios.Parse("pair.yaml", []byte("name: pair\ntopology: {nodes: 2, podsPerNode: 1}\ntimeline: [{when: settled, do: settle}]\n"))
	if err != nil {
		panic(err)
	}
	var x explore.Explorer
	c, err := x.CrashPoints(context.Background(), s, 1, check.All(), fault.KindPersist, "node-1")
	if err != nil {
		panic(err)
	}
	fmt.Println(c.Hit == c.Total, len(c.Broken))
	// Output: true 0
}
