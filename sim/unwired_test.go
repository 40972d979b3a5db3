package sim_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
)

// Goal: a cluster without wiring answers questions about addresses as a wired one does. Method: random small clusters of every system, with
// pods that come and go, agents and machines that restart, and blocks that run out; each runs wired and without wiring. How many pods were
// made, never got an address, and have one at the end is the same, and no law breaks in either.
func TestUnwiredAgrees(t *testing.T) {
	rand := rand.New(rand.NewPCG(1, 2))
	for _, system := range []string{"contiv", "nodeipam", "nodeipam, nodeipam: {allocator: IPAMFromCloud}", "cilium, cilium: {mode: cluster-pool}", "cilium",
		"cilium, ranges: [10.1.8.0/24], cilium: {mode: crd, preAllocate: 4}", "cilium, cilium: {mode: eni}", "datastore", "datastore, datastore: {prefixDelegation: true}", "calico"} {
		for range 6 {
			nodes, node := 2+rand.IntN(5), 1+rand.IntN(2)
			text := fmt.Sprintf(`# Random.
name: agrees
topology: {nodes: %d, podsPerNode: %d, maxPodsPerNode: 40}
config:
  wiring: {pod: %%s}
  ipam: {system: %s}
churn: {every: %ds, lifetime: %ds, until: 2m}
timeline:
  - {at: 20s, do: restart-agent, node: node-%d}
  - {at: 30s, do: create-pods, node: node-1, count: %d}
  - {at: 40s, do: add-node}
  - {at: 60s, do: reboot-node, node: node-%d}
  - {when: settled, do: create-pods, node: node-2, count: %d}
  - {when: settled, do: delete-pods, node: node-1, count: 2}
`, nodes, rand.IntN(9), system, 1+rand.IntN(4), 10+rand.IntN(50), node, 1+rand.IntN(30), 3-node, 1+rand.IntN(30))
			var figures [2]string
			for k, wiring := range []string{"macvlan", "none"} {
				s, err := scenarios.Parse("agrees.yaml", []byte(fmt.Sprintf(text, wiring)))
				if err != nil {
					t.Fatal(err)
				}
				r, err := sim.Run(t.Context(), s, sim.Options{Seed: 1, Laws: check.All()})
				if err != nil || r.Verdict != result.Pass {
					t.Fatalf("%s: %v %s\n%s", wiring, err, r.Error, text)
				}
				figures[k] = fmt.Sprintf("%d pods made, %d never placed (%d of them unscheduled, %d waiting), %d at the end on %d nodes", r.Summary.PodsCreated, r.Summary.PodsNeverPlaced,
					r.Summary.PodsUnscheduled, r.Summary.PodsWaiting, r.Pods, r.Nodes)
			}
			if figures[0] != figures[1] {
				t.Errorf("wired: %s\nunwired: %s\n%s", figures[0], figures[1], text)
			}
		}
	}
}
