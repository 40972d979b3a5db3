package check_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// Goal: what a sandbox leaves is told with its kind as the cause, a node without remains counts its removed sandboxes, and
// one that is off is not judged. Method: snapshots by hand.
func TestNothingStays(t *testing.T) {
	law, _ := check.ByName("nothing-stays")
	file := fact.Remain{Kind: "file in /var/lib/cni/networks/net", What: "file /var/lib/cni/networks/net/10.1.1.2"}
	for _, c := range []struct {
		node      fact.NodeState
		occasions int64
		says      string
	}{
		{fact.NodeState{Name: "node-1", MachineUp: true}, 0, ""},
		{fact.NodeState{Name: "node-1", MachineUp: true, Removed: 3}, 3, ""},
		{fact.NodeState{Name: "node-1", Removed: 3, Remains: []fact.Remain{file}}, 0, ""},
		{fact.NodeState{Name: "node-1", MachineUp: true, Removed: 3, Remains: []fact.Remain{file}}, 3, "10.1.1.2 is left of a pod that is gone"},
		{fact.NodeState{Name: "node-1", MachineUp: true, Remains: []fact.Remain{file, file, file}}, 1, "gone, and 2 more"},
	} {
		n, err := law.Check(fact.Snapshot{Settled: true, Nodes: []fact.NodeState{c.node}})
		v, _ := err.(*fact.Violation)
		switch {
		case n != c.occasions:
			t.Errorf("%+v: %d occasions, want %d", c.node, n, c.occasions)
		case (v == nil) != (c.says == ""), v != nil && (!strings.Contains(v.What, c.says) || v.Cause != file.Kind):
			t.Errorf("%+v: %v, want %q", c.node, err, c.says)
		}
	}
}

// Goal: a ping without an answer is told with both pods and where they are; answered ones are counted. Method: facts by
// hand.
func TestPodsReachPods(t *testing.T) {
	law, _ := check.ByName("pods-reach-pods")
	w := law.Watch()
	ping := fact.Pinged{From: "default/a", To: "default/b", On: "node-1", Addr: netip.MustParseAddr("10.1.1.3")}
	if err := w.Observe(&fact.Fact{Node: "node-1", What: ping}); err != nil || w.Checks() != 1 {
		t.Errorf("%v, %d checks", err, w.Checks())
	}
	if err := w.Observe(&fact.Fact{Node: "node-1", What: fact.Quiet{}}); err != nil || w.Checks() != 1 {
		t.Errorf("%v, %d checks", err, w.Checks())
	}
	ping.Failed = "no answer"
	for node, want := range map[string]string{"node-1": "default/a does not reach default/b (10.1.1.3) on the same node: no answer", "node-2": "(10.1.1.3) on node-1"} {
		if err := w.Observe(&fact.Fact{Node: node, What: ping}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
