package lab

import (
	"iter"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/podworker"
	"github.com/vppdrill/vppdrill/vppwire/agent/nodeid"
)

// waits is a pod of a node that was refused for want of an address.
func (l *liars) waits(n *node) {
	refused := podworker.New[*sandbox](&podworker.Config{})
	step, _ := refused.Plan()
	refused.Begin(step.Op)
	refused.Adding(&sandbox{})
	refused.Added(0, false, true)
	n.kubelet.Workers["uid"] = &worker{Worker: refused, k: n.kubelet, pod: &pod{name: "web-0", uid: "uid", node: n.name}}
}

// Goal: a lab's snapshot breaks pods-served when an agent has lost an address, and not as long as it rests. Method: a
// block of which all is taken but one address, which is released; a pod waits, and the lab's clock goes on over the end
// of the rest.
func TestPlantedOnPodsServed(t *testing.T) {
	l := newLiars(resting)
	l.two()
	n, x := l.nodes[1], lease(2, "pod-node-2", 10)
	l.waits(n)
	law, _ := check.ByName("pods-served")
	judge := func() (int64, error) {
		waiting, _ := n.kubelet.waiting()
		s := fact.NodeState{Name: n.name, MachineUp: true, ID: 2, Waiting: waiting, Resting: n.resting(), Blocks: n.blocks}
		s.Leases = func() iter.Seq[ipam.Lease] {
			return func(yield func(ipam.Lease) bool) {
				for last := range 256 {
					if byte(last) != x.Addr.As4()[3] && !yield(lease(2, "other", byte(last))) {
						return
					}
				}
			}
		}
		return law.Check(fact.Snapshot{Settled: true, Nodes: []fact.NodeState{s}})
	}
	l.holds(2, 2, plantedBlock(2), []ipam.Lease{x}, nil)
	changes := n.kubelet.changes
	if occasions, err := judge(); occasions != 1 || err != nil {
		t.Fatalf("while it rests: %d occasions, %v", occasions, err)
	}
	l.w.started = l.w.started.Add(-3 * time.Minute)
	if _, err := judge(); err == nil {
		t.Error("a lost address is not seen")
	}
	if n.kubelet.changes == changes {
		t.Error("nobody tries the pod again when the rest ends")
	}
}

// Goal: ids-returned breaks in a lab where nobody releases the ID of a node that left, and not before agents have had
// their time. Method: records as the store tells of them, and a clock that is set back.
func TestPlantedOnIDsReturned(t *testing.T) {
	h := HeldIDs{}
	for i, uid := range []string{"u1", "u2"} {
		c, _ := storedChange(plantedRecord(i+1, uid))
		h.Changed(&c)
	}
	law, _ := check.ByName("ids-returned")
	judge := func(list []fact.HeldID) (int64, error) {
		return law.Check(fact.Snapshot{Settled: true, HeldIDs: list, Nodes: []fact.NodeState{
			{Name: "node-1", UID: "u1", ID: 1, MachineUp: true, AgentUp: true, VPPUp: true}}})
	}
	list, _, _, found := h.List(2)
	if found || len(list) != 2 {
		t.Fatalf("of nodes that are there: %v, %t", list, found)
	}
	h.Left("u2")
	list, who, until, found := h.List(2)
	if !found || who.Name != "node-2" || time.Until(until) < releaseGrace {
		t.Fatalf("%v until %s, %t", who, until, found)
	}
	if _, err := judge(list); err == nil {
		t.Error("an ID that nobody releases is not seen")
	}
	c, _ := storedChange(nodeid.Record{ID: 2}.Key(), nodeid.Record{ID: 2, Name: "node-2", UID: "u2"}.String(),
		nodeid.Record{ID: 2, Name: "node-2", UID: "u2", ReleasedAt: time.Unix(1, 0)}.String())
	h.Changed(&c)
	list, _, _, found = h.List(2)
	if occasions, err := judge(list); found || occasions != 1 || err != nil {
		t.Errorf("released: %d occasions, %v, %t", occasions, err, found)
	}
}

// Goal: a lab's snapshot breaks nodes-served when the API server forgets a node whose pods wait. Method: a kubelet with
// a pod that was refused for want of an address, and the node's block taken away; with its block the law holds.
func TestPlantedOnNodesServed(t *testing.T) {
	l := newLiars(assigned)
	l.two()
	n := l.nodes[1]
	l.waits(n)
	law, _ := check.ByName("nodes-served")
	judge := func() (int64, error) {
		waiting, _ := n.kubelet.waiting()
		return law.Check(fact.Snapshot{Settled: true, FreeBlock: l.w.Play.FreeBlock(), Nodes: []fact.NodeState{
			{Name: n.name, MachineUp: true, AgentUp: true, Waiting: waiting, Assigned: n.assigned}}})
	}
	if n, err := judge(); n != 1 || err != nil {
		t.Fatalf("with its block: %d occasions, %v", n, err)
	}
	l.w.assign(n, nil)
	if _, err := judge(); err == nil {
		t.Error("a node without a block is not seen")
	}
}
