package check

import (
	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const oneSandboxName = "one-sandbox"

// oneSandbox: a pod's new sandbox gets an address only after the agent has released the address of the pod's previous
// sandbox on the node, in whatever order the runtime sends DEL and ADD. Pods with one name and different UIDs are
// different pods.
//
// A sandbox's ADD names its pod. Settled snapshots never show two sandboxes of one pod, so only runs are judged.
func oneSandbox() fact.Law {
	return fact.Law{
		Name:    oneSandboxName,
		Rule:    "A pod's new sandbox gets an address only after the address of its previous sandbox was released.",
		Why:     "A pod with two addresses leaks one of them, and packets to it go to a dead sandbox.",
		When:    fact.Always,
		Foreign: true,
		Needs:   []fact.Evidence{fact.Leases, fact.Sandboxes},
		Watch:   func() fact.Watcher { return &sandboxWatcher{nodes: map[string]*podSandboxes{}} },
	}
}

// podInterface identifies what a node has at most one sandbox for.
type podInterface struct{ pod, uid, ifName string }

// podSandboxes are the sandboxes of one node. A request without a lease is forgotten when its sandbox ends.
type podSandboxes struct {
	// of is the pod of each sandbox, leased the sandbox of each pod that has an address.
	of     map[ipam.Owner]podInterface
	leased map[podInterface]ipam.Owner
}

type sandboxWatcher struct {
	nodes  map[string]*podSandboxes
	checks int64
}

func (w *sandboxWatcher) Checks() int64 { return w.checks }

func (w *sandboxWatcher) Observe(f *fact.Fact) error {
	n := w.nodes[f.Node]
	if n == nil {
		if _, ok := f.What.(fact.Asked); !ok {
			return nil
		}
		n = &podSandboxes{of: map[ipam.Owner]podInterface{}, leased: map[podInterface]ipam.Owner{}}
		w.nodes[f.Node] = n
	}
	switch x := f.What.(type) {
	case fact.Asked:
		if x.Command == fact.AskedAdd && x.Pod != "" && x.PodUID != "" {
			n.of[x.Owner] = podInterface{x.Pod, x.PodUID, x.Owner.IfName}
		}
	case fact.Leased:
		p, known := n.of[x.Owner]
		if !known {
			return nil
		}
		w.checks++
		before, had := n.leased[p]
		n.leased[p] = x.Owner
		if had && before != x.Owner {
			return broken(oneSandboxName, f.At, f.Node,
				"%s gets %s for %s while %s of the same pod still holds its address: check how sandboxes of one pod are matched",
				x.Owner, x.Addr, p.pod, before)
		}
	case fact.Released:
		if p := n.of[x.Owner]; n.leased[p] == x.Owner {
			delete(n.leased, p)
		}
	case fact.AgentUp:
		clear(n.leased)
		for i := range x.Leases {
			if p, known := n.of[x.Leases[i].Owner]; known {
				n.leased[p] = x.Leases[i].Owner
			}
		}
	case fact.SandboxGone:
		if p := n.of[x.Owner]; n.leased[p] != x.Owner {
			delete(n.of, x.Owner)
		}
	case fact.NodeGone:
		if x.Left {
			delete(w.nodes, f.Node)
		}
	}
	return nil
}
