package check

import (
	"github.com/vppdrill/vppdrill/ipam/noun"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const podsServedName = "pods-served"

// podsServed: no pod waits for an address while its node has a free one that is not cooling down, or for the one that it
// asks for while that is. Free addresses are
// computed from the node's blocks and leases; the allocator is not asked.
func podsServed() fact.Law {
	return fact.Law{
		Name: podsServedName,
		Rule: "No pod waits for an address while its node has a free one that is not cooling down.",
		Why: "An address that the allocator has forgotten is lost until the agent restarts, and pods wait although it is " +
			"free.",
		When:  fact.Settled,
		Needs: []fact.Evidence{fact.WaitingPods, fact.Leases, fact.Blocks, fact.FullNodes},
		Check: checkPodsServed,
	}
}

func checkPodsServed(s fact.Snapshot) (occasions int64, err error) {
	if !s.Settled {
		return 0, nil
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if !lives(n) || n.Leases == nil || n.ID == 0 || n.Crowded {
			continue
		}
		for _, wanted := range n.WaitingFor {
			if occasions++; n.Grants(wanted) {
				return occasions, broken(podsServedName, s.At, n.Name,
					"a pod of %s waits for %s, which is free and not cooling down: check which addresses the allocator considers used",
					n.Name, wanted)
			}
		}
		if n.Waiting == 0 {
			continue
		}
		occasions++
		if free, ok := n.FreeAddress(); ok {
			return occasions, broken(podsServedName, s.At, n.Name,
				"%s for an address, but %s is free and not cooling down: check which addresses the allocator "+
					"considers used",
				waitOf(n), free)
		}
	}
	return occasions, nil
}

// waitOf is what a node's pods without an address do, in words.
func waitOf(n *fact.NodeState) string {
	text := noun.Count(n.Waiting, "pod") + " of " + n.Name
	if n.Waiting == 1 {
		return text + " waits"
	}
	return text + " wait"
}
