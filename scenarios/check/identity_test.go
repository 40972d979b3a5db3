package check

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// Goal: node-ids-rest, records-owned and unwired-before-reuse break by what they are about, name it, and stay silent
// where it is right. Method: short histories; the last fact breaks the law or does not.
func TestIdentityAndReuse(t *testing.T) {
	left := func(node string, at time.Duration) fact.Fact {
		return fact.Fact{At: at, Node: node, What: fact.NodeGone{Left: true, Rest: time.Minute}}
	}
	acts := func(node string, at time.Duration, id uint32) fact.Fact {
		return fact.Fact{At: at, Node: node, What: fact.NodeID{ID: id}}
	}
	record := func(before, after fact.NodeRecord) fact.Fact {
		return fact.Fact{Node: after.Name, What: fact.RecordChange{ID: 2, Before: before, After: after}}
	}
	two, three := fact.NodeRecord{Name: "node-2", UID: "uid-2"}, fact.NodeRecord{Name: "node-3", UID: "uid-3"}
	released := two
	released.Released = true
	wiped := fact.Fact{What: fact.Disturbed{By: "wipe-store"}}
	a, web, api := netip.MustParseAddr("10.1.1.5"), ipam.Owner{ContainerID: "web"}, ipam.Owner{ContainerID: "api"}
	leftover := &fact.Leftover{Node: "node-1", Thing: "route in table vrf-1", Owner: web}
	has := func(node string, at time.Duration, prefix string) fact.Fact {
		return fact.Fact{At: at, Node: node, What: fact.NodeBlocks{Blocks: []ipam.Block{{Prefix: netip.MustParsePrefix(prefix)}}}}
	}
	for _, tc := range []watched{
		{"a block within its quarantine", nodeIDsRest(), []fact.Fact{record(fact.NodeRecord{}, two), acts("node-2", 0, 2), has("node-2", 0, "10.1.2.0/24"), left("node-2", time.Second),
			has("node-3", 31*time.Second, "10.1.2.0/26")}, "node-3 allocates from 10.1.2.0/26, 30s after node-2 left with 10.1.2.0/24"},
		{"a block after it", nodeIDsRest(), []fact.Fact{record(fact.NodeRecord{}, two), acts("node-2", 0, 2), has("node-2", 0, "10.1.2.0/24"), left("node-2", time.Second),
			has("node-3", 61*time.Second, "10.1.2.0/24")}, ""},
		{"another block", nodeIDsRest(), []fact.Fact{record(fact.NodeRecord{}, two), acts("node-2", 0, 2), has("node-2", 0, "10.1.2.0/24"), left("node-2", time.Second),
			has("node-3", 2*time.Second, "10.1.3.0/24")}, ""},
		{"an ID within its quarantine", nodeIDsRest(), []fact.Fact{record(fact.NodeRecord{}, two), acts("node-2", 0, 2), left("node-2", time.Second), acts("node-3", 31*time.Second, 2)},
			"node-3 acts on node ID 2, 30s after node-2 left"},
		{"after it", nodeIDsRest(), []fact.Fact{record(fact.NodeRecord{}, two), acts("node-2", 0, 2), left("node-2", time.Second), acts("node-3", 61*time.Second, 2)}, ""},
		{"by a later node of the same name", nodeIDsRest(), []fact.Fact{record(fact.NodeRecord{}, two), acts("node-2", 0, 2), left("node-2", 0), acts("node-2", time.Second, 2)}, "node-2 acts on node ID 2"},
		{"of a node that is only down", nodeIDsRest(), []fact.Fact{record(fact.NodeRecord{}, two), acts("node-2", 0, 2), {Node: "node-2", What: fact.NodeGone{}}, acts("node-2", time.Second, 2)}, ""},
		{"whose record the store has lost", nodeIDsRest(), []fact.Fact{record(fact.NodeRecord{}, two), acts("node-2", 0, 2), wiped, left("node-2", 0), acts("node-3", time.Second, 2)}, ""},
		{"a record written over", recordsOwned(), []fact.Fact{record(fact.NodeRecord{}, two), record(two, three)}, "owned by node-2 (UID uid-2), is overwritten by node-3 (UID uid-3)"},
		{"by the node itself", recordsOwned(), []fact.Fact{record(two, two)}, ""},
		{"released, and taken", recordsOwned(), []fact.Fact{record(two, released), record(released, three)}, ""},
		{"deleted, and taken", recordsOwned(), []fact.Fact{record(two, fact.NodeRecord{}), record(fact.NodeRecord{}, three)}, ""},
		{"released with its route", unwiredBeforeReuse(), []fact.Fact{{Node: "node-1", What: fact.Leased{Addr: a, Owner: web}},
			{Node: "node-1", What: fact.Released{Addr: a, Owner: web, Left: leftover}}}, "is released while node-1 still has its route in table vrf-1"},
		{"leased with another's route", unwiredBeforeReuse(), []fact.Fact{{Node: "node-1", What: fact.Leased{Addr: a, Owner: web}},
			{Node: "node-2", What: fact.Leased{Addr: a, Owner: api, Left: leftover}}}, "while node-1 still has the route in table vrf-1"},
		{"released and leased", unwiredBeforeReuse(), []fact.Fact{{Node: "node-1", What: fact.Leased{Addr: a, Owner: web}},
			{Node: "node-1", What: fact.Released{Addr: a, Owner: web}}, {Node: "node-1", What: fact.Leased{Addr: a, Owner: api}}}, ""},
	} {
		t.Run(tc.name, tc.judge)
	}
}

// watched is a story for a law's watcher: want is part of what it says of the last fact, "" for nothing. It may say
// nothing of those before.
type watched struct {
	name  string
	law   fact.Law
	facts []fact.Fact
	want  string
}

func (tc watched) judge(t *testing.T) {
	w := tc.law.Watch()
	var err error
	for _, f := range tc.facts {
		if err != nil {
			t.Fatalf("too early: %v", err)
		}
		err = w.Observe(&f)
	}
	switch {
	case tc.want == "" && err != nil:
		t.Error(err)
	case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
		t.Errorf("%v: want %q", err, tc.want)
	}
}

// Goal: ids-returned breaks by a record that no agent releases, and by nothing else. Method: a cluster long after node-2
// has left, of which one thing is changed at a time.
func TestIDsReturned(t *testing.T) {
	left := fact.HeldID{ID: 2, Name: "node-2", UID: "uid-2"}
	for _, tc := range []struct {
		name      string
		change    func(s *fact.Snapshot)
		occasions int64
		want      string
	}{
		{"its own record", func(*fact.Snapshot) {}, 1, ""},
		{"of a node that left", func(s *fact.Snapshot) { s.HeldIDs = append(s.HeldIDs, left) }, 2, "node ID 2 belongs to node-2 (UID uid-2), which left long ago"},
		{"of an earlier node of the same name", func(s *fact.Snapshot) { s.HeldIDs[0].UID = "uid-0" }, 1, "node ID 1 belongs to node-1 (UID uid-0)"},
		{"not settled", func(s *fact.Snapshot) { s.HeldIDs, s.Settled = append(s.HeldIDs, left), false }, 0, ""},
		{"no running agent to release it", func(s *fact.Snapshot) { s.HeldIDs, s.Nodes[0].AgentUp = append(s.HeldIDs, left), false }, 0, ""},
		{"no node has an ID", func(s *fact.Snapshot) { s.HeldIDs, s.Nodes[0].ID = append(s.HeldIDs, left), 0 }, 0, ""},
	} {
		s := fact.Snapshot{Settled: true, HeldIDs: []fact.HeldID{{ID: 1, Name: "node-1", UID: "uid-1"}},
			Nodes: []fact.NodeState{{Name: "node-1", UID: "uid-1", MachineUp: true, AgentUp: true, VPPUp: true, ID: 1}}}
		tc.change(&s)
		occasions, err := idsReturned().Check(s)
		if occasions != tc.occasions || tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %d occasions, %v: want %d, %q", tc.name, occasions, err, tc.occasions, tc.want)
		}
	}
}
