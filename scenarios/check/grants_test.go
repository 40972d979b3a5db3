package check

import (
	"iter"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
)

// granting is a settled snapshot with one node that is as a node with one granted block should be.
func granting() (scenarios.Snapshot, *scenarios.NodeState) {
	block := netip.MustParsePrefix("10.1.0.0/28")
	leases := []ipam.Lease{{Owner: ipam.Owner{Network: "k8s", ContainerID: "c", IfName: "eth0"}, Addr: netip.MustParseAddr("10.1.0.3")}}
	s := scenarios.Snapshot{Settled: true, Nodes: []scenarios.NodeState{{
		Name: "n1", MachineUp: true, AgentUp: true, ID: 1, Granted: []netip.Prefix{block}, Blocks: []ipam.Block{{Prefix: block}},
		Leases: func() iter.Seq[ipam.Lease] { return slices.Values(leases) },
	}}}
	return s, &s.Nodes[0]
}

// Goal: grants-used and nodes-served see exactly what is wrong in a snapshot. Method: a right one, and one change at a time.
func TestGrantsInSnapshots(t *testing.T) {
	other := netip.MustParsePrefix("10.1.0.16/28")
	for _, tc := range []struct {
		name   string
		change func(s *scenarios.Snapshot, n *scenarios.NodeState)
		law    string // that breaks; none when empty
	}{
		{"right", func(*scenarios.Snapshot, *scenarios.NodeState) {}, ""},
		{"lease outside", func(_ *scenarios.Snapshot, n *scenarios.NodeState) { n.Granted[0] = other }, grantsUsedName},
		{"lease outside, unsettled", func(s *scenarios.Snapshot, n *scenarios.NodeState) { s.Settled, n.Granted[0] = false, other }, grantsUsedName},
		{"unused", func(_ *scenarios.Snapshot, n *scenarios.NodeState) { n.Granted = append(n.Granted, other) }, grantsUsedName},
		{"unused, unsettled", func(s *scenarios.Snapshot, n *scenarios.NodeState) {
			s.Settled, n.Granted = false, append(n.Granted, other)
		}, ""},
		{"unused, no ID", func(_ *scenarios.Snapshot, n *scenarios.NodeState) { n.ID, n.Granted = 0, append(n.Granted, other) }, ""},
		{"unused, agent down", func(_ *scenarios.Snapshot, n *scenarios.NodeState) {
			n.Leases, n.Granted = nil, append(n.Granted, other)
		}, ""},
		{"barred", func(_ *scenarios.Snapshot, n *scenarios.NodeState) {
			n.Granted, n.Barred = append(n.Granted, other), []netip.Prefix{other}
		}, ""},
		{"draining", func(_ *scenarios.Snapshot, n *scenarios.NodeState) { n.Blocks[0].Draining = true }, grantsUsedName},
		{"nothing granted, from the ID", func(_ *scenarios.Snapshot, n *scenarios.NodeState) { n.Granted = nil }, ""},
		{"starving", func(s *scenarios.Snapshot, n *scenarios.NodeState) { s.Vacant, n.Waiting, n.Granted = true, 2, nil }, nodesServedName},
		{"starving, nothing vacant", func(_ *scenarios.Snapshot, n *scenarios.NodeState) { n.Waiting, n.Granted = 2, nil }, ""},
		{"waiting with a block", func(s *scenarios.Snapshot, n *scenarios.NodeState) { s.Vacant, n.Waiting = true, 2 }, ""},
		{"starving, machine down", func(s *scenarios.Snapshot, n *scenarios.NodeState) {
			s.Vacant, n.Waiting, n.Granted, n.MachineUp = true, 2, nil, false
		}, ""},
	} {
		s, n := granting()
		tc.change(&s, n)
		for _, name := range []string{grantsUsedName, nodesServedName} {
			law, _ := ByName(name)
			if _, err := law.Check(s); (err != nil) != (name == tc.law) {
				t.Errorf("%s: %s says %v", tc.name, name, err)
			}
		}
	}
}

// Goal: a pool may overshoot, and be disturbed, without breaking grants-steady; one that goes on does. Method: sizes of grants,
// with a pod's request in between where it says so.
func TestGrantsSteady(t *testing.T) {
	const asked = -1
	for _, tc := range []struct {
		sizes  []int
		broken bool
	}{
		{[]int{1, 2, 3, 4, 5}, false},
		{[]int{3, 2, 1, 0}, false},
		{[]int{1, 3, 2, 3}, false},
		{[]int{1, 2, 1, 2, 1}, false},
		{[]int{1, 2, 1, 2, 1, 2}, true},
		{[]int{1, 2, 1, 2, asked, 1, 2, 1, 2}, false},
		{[]int{1, 1, 2, 2, 1, 1, 2, 2, 1, 1, 2}, true},
	} {
		law, _ := ByName(grantsSteadyName)
		w, broken := law.Watch(), false
		for i, n := range tc.sizes {
			f := scenarios.Fact{Kind: scenarios.FactGranted, At: time.Duration(i) * time.Second, Node: "n1"}
			if n == asked {
				f.Kind = scenarios.FactAsked
			} else {
				f.Blocks = make([]ipam.Block, n)
			}
			broken = w.Observe(f) != nil || broken
		}
		if broken != tc.broken {
			t.Errorf("%v: broken %t", tc.sizes, broken)
		}
	}
}
