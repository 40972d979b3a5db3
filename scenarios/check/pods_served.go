package check

import (
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
				"%d pods of %s wait for an address, but %s is free and not cooling down: check which addresses the allocator "+
					"considers used",
				n.Waiting, n.Name, free)
		}
	}
	return occasions, nil
}
