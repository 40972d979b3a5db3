package check

import (
	"iter"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// granting is a settled snapshot with one node that is as a node with one assigned block should be.
func granting() (fact.Snapshot, *fact.NodeState) {
	block := netip.MustParsePrefix("10.1.0.0/28")
	leases := []ipam.Lease{{Owner: ipam.Owner{Network: "k8s", ContainerID: "c", IfName: "eth0"}, Addr: netip.MustParseAddr("10.1.0.3")}}
	s := fact.Snapshot{Settled: true, Nodes: []fact.NodeState{{
		Name: "n1", MachineUp: true, AgentUp: true, ID: 1, Assigned: []ipam.Block{{Prefix: block}}, Blocks: []ipam.Block{{Prefix: block}},
		Leases: func() iter.Seq[ipam.Lease] { return slices.Values(leases) },
	}}}
	return s, &s.Nodes[0]
}

// Goal: ranges-counted holds what a controller counts against what objects show, both ways, in clusters at rest alone.
// Method: one range of each.
func TestRangesCounted(t *testing.T) {
	for _, tc := range []struct {
		name           string
		counted, shown uint64
		settled        bool
		says           string // none when empty
	}{
		{"as many", 3, 3, true, ""},
		{"one of a node that has gone", 4, 3, true, "counts 4 blocks of 10.1.0.0/24 as taken, but nodes and services have 3: check how it handled notifications of departed nodes"},
		{"one less than nodes have", 2, 3, true, "counts 2 blocks of 10.1.0.0/24 as taken, but nodes and services have 3: check how it handled the nodes"},
		{"while something goes on", 4, 3, false, ""},
	} {
		s := fact.Snapshot{Settled: tc.settled, Ranges: []fact.RangeCount{{Program: "controller-manager-1", Range: netip.MustParsePrefix("10.1.0.0/24"), Counted: tc.counted, Shown: tc.shown}}}
		occasions, err := checkRangesCounted(s)
		if (err != nil) != (tc.says != "") || err != nil && !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.says)
		}
		if (occasions > 0) != tc.settled {
			t.Errorf("%s: %d occasions", tc.name, occasions)
		}
	}
}

// Goal: cloud-routes sees a node that may get pods without a route, and that others' routes are gone. Method: a right
// network, and one change at a time.
func TestCloudRoutes(t *testing.T) {
	route := func(name, to, node string) fact.FabricRoute {
		return fact.FabricRoute{Name: name, Destination: netip.MustParsePrefix(to), Node: node}
	}
	for _, tc := range []struct {
		name   string
		change func(s *fact.Snapshot)
		says   string // none when empty
	}{
		{"right", func(*fact.Snapshot) {}, ""},
		{"no route", func(s *fact.Snapshot) { s.Fabric.Routes = s.Fabric.Routes[:1] }, "n1 may get pods, and the cloud's network has no route to its block 10.1.0.0/28"},
		{"to another", func(s *fact.Snapshot) { s.Fabric.Routes[1].Node = "n2" }, "n1 may get pods"},
		{"to more", func(s *fact.Snapshot) { s.Fabric.Routes[1].Destination = netip.MustParsePrefix("10.1.0.0/24") }, "n1 may get pods"},
		{"unavailable", func(s *fact.Snapshot) { s.Fabric.Routes[1].Node, s.Fabric.Unavailable["n1"] = "", true }, ""},
		{"no Node", func(s *fact.Snapshot) { s.Fabric.Routes[1].Node = ""; delete(s.Fabric.Unavailable, "n1") }, ""},
		{"other's gone", func(s *fact.Snapshot) { s.Fabric.Routes = s.Fabric.Routes[1:] }, "route b--x to 10.2.0.0/28 is not the cluster's, and gone"},
		{"while something goes on", func(s *fact.Snapshot) { s.Fabric.Routes, s.Settled = nil, false }, ""},
		{"no cloud", func(s *fact.Snapshot) { s.Fabric = nil }, ""},
	} {
		s, _ := granting()
		others := []fact.FabricRoute{route("b--x", "10.2.0.0/28", "")}
		s.Fabric = &fact.Fabric{Pods: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}, Others: others,
			Routes: []fact.FabricRoute{others[0], route("k--u", "10.1.0.0/28", "n1")}, Unavailable: map[string]bool{"n1": false}}
		tc.change(&s)
		if _, err := checkCloudRoutes(s); (err != nil) != (tc.says != "") || err != nil && !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.says)
		}
	}
}

// Goal: grants-used and nodes-served see exactly what is wrong in a snapshot. Method: a right one, and one change at a
// time.
func TestGrantsInSnapshots(t *testing.T) {
	other := netip.MustParsePrefix("10.1.0.16/28")
	for _, tc := range []struct {
		name   string
		change func(s *fact.Snapshot, n *fact.NodeState)
		law    string // that breaks; none when empty
	}{
		{"right", func(*fact.Snapshot, *fact.NodeState) {}, ""},
		{"lease outside", func(_ *fact.Snapshot, n *fact.NodeState) { n.Assigned[0].Prefix = other }, grantsUsedName},
		{"lease outside, unsettled", func(s *fact.Snapshot, n *fact.NodeState) { s.Settled, n.Assigned[0].Prefix = false, other }, ""},
		{"unused", func(_ *fact.Snapshot, n *fact.NodeState) {
			n.Assigned = append(n.Assigned, ipam.Block{Prefix: other})
		}, grantsUsedName},
		{"unused, unsettled", func(s *fact.Snapshot, n *fact.NodeState) {
			s.Settled, n.Assigned = false, append(n.Assigned, ipam.Block{Prefix: other})
		}, ""},
		{"unused, no ID", func(_ *fact.Snapshot, n *fact.NodeState) {
			n.ID, n.Assigned = 0, append(n.Assigned, ipam.Block{Prefix: other})
		}, ""},
		{"unused, agent down", func(_ *fact.Snapshot, n *fact.NodeState) {
			n.Leases, n.Assigned = nil, append(n.Assigned, ipam.Block{Prefix: other})
		}, ""},
		{"blocked", func(_ *fact.Snapshot, n *fact.NodeState) {
			n.Assigned, n.Blocked = append(n.Assigned, ipam.Block{Prefix: other}), []netip.Prefix{other}
		}, ""},
		{"taken back by an administrator", func(_ *fact.Snapshot, n *fact.NodeState) {
			n.Assigned = append(n.Assigned, ipam.Block{Prefix: other, Draining: true})
		}, ""},
		{"draining", func(_ *fact.Snapshot, n *fact.NodeState) { n.Blocks[0].Draining = true }, grantsUsedName},
		{"nothing assigned, from the ID", func(_ *fact.Snapshot, n *fact.NodeState) { n.Assigned = nil }, ""},
		{"starving", func(s *fact.Snapshot, n *fact.NodeState) { s.FreeBlock, n.Waiting, n.Assigned = true, 2, nil }, nodesServedName},
		{"starving in one of two families", func(s *fact.Snapshot, n *fact.NodeState) {
			s.FreeBlock, n.Waiting = true, 2
			n.Second = &fact.SecondFamily{PodSubnet: netip.MustParsePrefix("fd00:1::/64")}
		}, nodesServedName},
		{"starving, no free block", func(_ *fact.Snapshot, n *fact.NodeState) { n.Waiting, n.Assigned = 2, nil }, ""},
		{"waiting with a block", func(s *fact.Snapshot, n *fact.NodeState) { s.FreeBlock, n.Waiting = true, 2 }, ""},
		{"starving, its own block by ID", func(_ *fact.Snapshot, n *fact.NodeState) { n.ByID, n.Waiting, n.Assigned = true, 2, nil }, ""},
		{"starving, no block of its ID", func(_ *fact.Snapshot, n *fact.NodeState) {
			n.ByID, n.Waiting, n.Assigned, n.Blocks = true, 2, nil, nil
		}, nodesServedName},
		{"starving, no block of its ID for one family", func(_ *fact.Snapshot, n *fact.NodeState) {
			n.ByID, n.Waiting, n.Assigned = true, 2, nil
			n.Second = &fact.SecondFamily{PodSubnet: netip.MustParsePrefix("fd00:1::/64")}
		}, nodesServedName},
		{"starving, its ID has no part in the ranges", func(_ *fact.Snapshot, n *fact.NodeState) {
			n.ByID, n.Waiting, n.Assigned, n.Blocks, n.Misfit = true, 2, nil, nil, true
		}, ""},
		{"starving, machine down", func(s *fact.Snapshot, n *fact.NodeState) {
			s.FreeBlock, n.Waiting, n.Assigned, n.MachineUp = true, 2, nil, false
		}, ""},
	} {
		s, n := granting()
		n.PodSubnet = netip.MustParsePrefix("10.1.0.0/16")
		tc.change(&s, n)
		for _, name := range []string{grantsUsedName, nodesServedName} {
			law, _ := ByName(name)
			if _, err := law.Check(s); (err != nil) != (name == tc.law) {
				t.Errorf("%s: %s says %v", tc.name, name, err)
			}
		}
	}
}

// Goal: a pool may overshoot, and be disturbed, without breaking grants-steady; one that goes on does. Method: sizes of
// grants and of what is used of them, with a pod's request in between where it says so.
func TestGrantsSteady(t *testing.T) {
	const asked, waits, answered, refused, exhausted, later = -1, -2, -3, -4, -5, -6
	requests := map[int]fact.What{asked: fact.Asked{}, waits: fact.Asked{Command: fact.AskedAddress}, answered: fact.Answered{},
		refused: fact.Refused{}, exhausted: fact.Refused{Exhausted: true}}
	granted := func(n int) fact.What { return fact.Assigned{Blocks: make([]ipam.Block, n)} }
	used := func(n int) fact.What { return fact.NodeBlocks{Blocks: make([]ipam.Block, n)} }
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
		{[]int{waits, 1, 2, 1, 2, 1, 2, 1}, false},
		{[]int{waits, 1, 2, 1, 2, answered, 1, 2, 1, 2, 1, 2}, true},
		{[]int{waits, refused, 1, 2, 1, 2, 1, 2}, true},
		{[]int{waits, exhausted, 1, 2, 1, 2, 1, 2}, false},
		{[]int{waits, exhausted, later, 1, 2, 1, 2, 1, 2}, true},
	} {
		for _, of := range []func(n int) fact.What{granted, used} {
			law, _ := ByName(grantsSteadyName)
			w, broken, after := law.Watch(), false, time.Duration(0)
			for i, n := range tc.sizes {
				if n == later {
					after = steadyRefused
					continue
				}
				what, is := requests[n]
				if !is {
					what = of(n)
				}
				broken = w.Observe(&fact.Fact{At: after + time.Duration(i)*time.Second, Node: "n1", What: what}) != nil || broken
			}
			if broken != tc.broken {
				t.Errorf("%v of %T: broken %t", tc.sizes, of(0), broken)
			}
		}
	}
}
