package explore_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/catalog"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/sim/explore"
	"github.com/vppdrill/vppdrill/sim/fault"
)

func parse(tb testing.TB, text string) *scenarios.Scenario {
	tb.Helper()
	s, err := scenarios.Parse("test.yaml", []byte(text))
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// allKinds are the kinds of operations that can fail.
var allKinds = []fault.OpKind{
	fault.KindEffect, fault.KindDataplane, fault.KindPersist, fault.KindStore, fault.KindStoreWatch, fault.KindAPIWatch, fault.KindCNI,
}

// life is a small cluster that does everything once: it starts, loses and gets a pod, its VPP and its agent restart.
const life = `
name: life
topology: {nodes: 2, podsPerNode: 1}
config: {wiring: {pod: %s, host: %s}}
timeline:
  - {when: settled, do: delete-pods, count: 1, node: node-1}
  - {when: settled, do: create-pods, node: node-1}
  - {when: settled, do: restart-vpp, node: node-1}
  - {when: settled, do: restart-agent, node: node-1}
  - {when: settled, do: settle}
`

// Goal: whatever single operation of a small cluster's life fails, in whatever way, every law holds. Method:
// exhaustive; a census says how many operations there are, and each is made to fail in a run of its own. A point that
// may fail would be listed beside life with the reason; there is none.
func TestCrashPoints(t *testing.T) {
	if testing.Short() {
		t.Skip("4000 runs")
	}
	for _, w := range [][2]string{{"tap", "tap"}, {"veth", "veth"}} {
		s := parse(t, fmt.Sprintf(life, w[0], w[1]))
		for _, kind := range allKinds {
			t.Run(w[0]+"/"+kind.String(), func(t *testing.T) {
				t.Parallel()
				noPointBreaks(t, s, kind)
			})
		}
	}
}

// lifeOfSystem is a small cluster whose blocks come from outside: it takes one more when pods come, gives it back when
// they go, loses a node, and its agent restarts.
const lifeOfSystem = `
name: life
topology: {nodes: 2, podsPerNode: 1}
config:
  ipam: {system: %s, podSubnetCIDR: 10.1.0.0/20, %s}
  agent: {nodeIDQuarantine: 10s}
timeline:
  - {when: settled, do: create-pods, node: node-1, count: %d}
  - {after: 30s, do: delete-pods, node: node-1, count: %d}
  - {after: 8s, do: restart-agent, node: node-1}
  - {when: settled, do: recreate-node, node: node-2}
  - {after: %s, do: settle}
`

// Goal: a crash, of a node or of a controller, at any step at which blocks are given, taken, used or given back loses
// and doubles nothing, whatever system they come from. Method: exhaustive, as TestCrashPoints.
func TestCrashPointsOfSystems(t *testing.T) {
	if testing.Short() {
		t.Skip("660 runs")
	}
	for _, system := range []struct {
		name, more string
		pods       int
		end        string // until ipamd has given an ENI back, which it does once a minute
	}{
		{"nodeipam", "podSubnetOneNodePrefixLen: 28", 3, "20s"},
		{"cilium", "podSubnetOneNodePrefixLen: 28, cilium: {preAllocate: 2}", 12, "20s"},
		{"datastore", "datastore: {instanceType: t3.nano, cooling: 1s, warmIPTarget: 3, warmPrefixTarget: 0}", 20, "3m"},
	} {
		s := parse(t, fmt.Sprintf(lifeOfSystem, system.name, system.more, system.pods, system.pods, system.end))
		for _, kind := range []fault.OpKind{fault.KindControl, fault.KindPersist, fault.KindStore, fault.KindAPIWatch} {
			t.Run(system.name+"/"+kind.String(), func(t *testing.T) {
				t.Parallel()
				noPointBreaks(t, s, kind)
			})
		}
	}
}

// Goal: whatever fails while a VPP takes its host's only NIC, dies, and takes it again, the host stays in reach (law host-reachable) and
// all else holds. Method: exhaustive, as TestCrashPoints, over a scenario of the catalogue, and the same in VRFs of its own.
func TestCrashPointsOfSteal(t *testing.T) {
	if testing.Short() {
		t.Skip("1600 runs")
	}
	s, err := catalog.ByName("nic-step-by-step")
	if err != nil {
		t.Fatal(err)
	}
	vrfs := *s
	vrfs.Config.Wiring.MainVRF, vrfs.Config.Wiring.PodVRF, vrfs.Config.Wiring.Node = 1, 2, scenarios.NodeVXLAN
	for i, of := range []*scenarios.Scenario{s, &vrfs} {
		for _, kind := range []fault.OpKind{fault.KindEffect, fault.KindDataplane, fault.KindPersist, fault.KindStore} {
			t.Run(fmt.Sprint(i, "/", kind), func(t *testing.T) {
				t.Parallel()
				noPointBreaks(t, of, kind)
			})
		}
	}
}

// noPointBreaks tries every point of a kind.
func noPointBreaks(t *testing.T, s *scenarios.Scenario, kind fault.OpKind) {
	t.Helper()
	points, census := pointsOf(t, s, kind)
	t.Log(len(points), census)
	for _, p := range points {
		r, err := sim.Run(context.Background(), p.Scenario(s), sim.Options{Seed: 1, Laws: check.All()})
		if err != nil {
			t.Fatal(err)
		}
		if r.Summary.Faults == 0 {
			t.Errorf("%s was not hit", p)
		}
		if r.Verdict != result.Pass {
			t.Errorf("%s\n\tinject %s\n\t%s", p, p.Inject(), r.Error)
		}
	}
}

func pointsOf(tb testing.TB, s *scenarios.Scenario, kind fault.OpKind) ([]explore.Point, []fault.CensusLine) {
	tb.Helper()
	var x explore.Explorer
	points, census, err := x.Points(context.Background(), s, 1, check.All(), kind, "")
	if err != nil {
		tb.Fatal(err)
	}
	if len(points) == 0 {
		tb.Fatal("no points")
	}
	return points, census
}
