package explore_test

import (
	"context"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
)

// found are failures that explorations came upon, as small as they got. Each
// guards against its return.
var found = []struct{ why, scenario string }{
	{why: "a DEL is never answered when VPP dies a second time after the pod's links are gone", scenario: `
name: vpp-dies-twice-while-a-pod-goes
topology: {nodes: 1, podsPerNode: 2}
timeline:
  - {when: settled, do: inject, fault: "(First 2 (Request ip_route_add_del_v2 CrashBefore))"}
  - {after: 0s, do: delete-pods, count: 1}
  - {after: 20s, do: settle}
`},
	{why: "a late store watch took the place of a newer one, and a re-created node never counted its new blocks as published", scenario: `
name: blocks-never-published
topology: {nodes: 1}
timeline:
  - {when: settled, do: recreate-node, node: node-1}
  - {at: 7s, do: change-cidr, podSubnetCIDR: 10.3.64.0/18}
faults:
  inject: ["(Nth 1 (Node node-1 (Request watch (Refuse 0))))", "(Nth 3 (Node node-1 (Request watch (Delay 1s))))", "(Nth 3 (Node node-1 (Request create (Refuse 0))))"]
`},
	{why: "an agent whose ID has no part in the ranges never came to rest, as it wanted to take away what it may not, and its pods never counted as waiting", scenario: `
name: id-has-no-room-for-good
topology: {nodes: 2, podsPerNode: 3}
timeline:
  - {at: 5s, do: remove-node, node: node-1}
  - {at: 6s, do: add-node}
  - {at: 20s, do: change-cidr, podSubnetCIDR: 10.1.0.0/23, podSubnetOneNodePrefixLen: 24}
  - {at: 40s, do: restart-agent, node: node-3}
  - {at: 50s, do: create-pods, node: node-3, count: 2}
`},
}

// Goal: what was found once stays fixed. Method: the scenarios above, with a few seeds.
func TestFound(t *testing.T) {
	for _, f := range found {
		s := parse(t, f.scenario)
		t.Run(s.Name, func(t *testing.T) {
			for seed := range uint64(3) {
				r, err := sim.Run(context.Background(), s, sim.Options{Seed: seed + 1, Laws: check.All()})
				if err != nil {
					t.Fatal(err)
				}
				if r.Verdict != result.Pass {
					t.Errorf("%s: %s", f.why, r.Error)
				}
			}
		})
	}
}
