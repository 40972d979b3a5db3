package lab_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
)

// Goal: chance takes the same victims in every world: which pods are deleted, which node restarts or comes anew, which
// pods churn brings and where each goes. Method: one scenario in the simulator and on real VPPs, and the pods of each
// node at the end.
func TestAlike(t *testing.T) {
	s, err := scenarios.Parse("alike.yaml", []byte(`# Chance everywhere, faults nowhere.
name: alike
topology: {nodes: 3, podsPerNode: 2}
churn: {every: 2s, count: 2, lifetime: 12s}
duration: 40s
timeline:
  - {at: 5s, do: create-pods, count: 6}
  - {at: 12s, do: delete-pods, count: 3}
  - {at: 16s, do: restart-agent, node: any}
  - {at: 20s, do: delete-pods, node: any, count: 2}
  - {at: 26s, do: replace-sandbox, node: any, count: 2}
  - {at: 32s, do: delete-pods, app: pod, count: 2}
`))
	if err != nil {
		t.Fatal(err)
	}
	var pods [2][]string
	at := func(i int) func(fact.Snapshot) {
		return func(end fact.Snapshot) {
			for _, n := range end.Nodes {
				for _, p := range n.Pods {
					pods[i] = append(pods[i], p.Pod+" on "+n.Name)
				}
			}
			slices.Sort(pods[i])
		}
	}
	o := options(t)
	o.Seed, o.AtEnd = 5, at(0)
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	real, err := lab.Run(ctx, s, o)
	if err != nil || real.Verdict != result.Pass {
		t.Fatalf("lab: %s %s, %v", real.Verdict, real.Error, err)
	}
	modelled, err := sim.Run(ctx, s, sim.Options{Seed: 5, Laws: o.Laws, AtEnd: at(1)})
	if err != nil || modelled.Verdict != result.Pass {
		t.Fatalf("sim: %s %s, %v", modelled.Verdict, modelled.Error, err)
	}
	if len(pods[0]) < 10 || !slices.Equal(pods[0], pods[1]) {
		t.Errorf("a lab ends with %d pods:\n%q\nthe simulator with %d:\n%q", len(pods[0]), pods[0], len(pods[1]), pods[1])
	}
}
