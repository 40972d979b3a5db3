package check

import "github.com/vppdrill/vppdrill/scenarios"

const nodesServedName = "nodes-served"

// nodesServed: no node whose pods wait is left without a block while whatever gives blocks has one to give.
//
// It judges the giver alone: a node that has a block and does not use it is another law's affair (grants-used), and so are
// pods that wait although there is an address (settles).
func nodesServed() scenarios.Law {
	return scenarios.Law{
		Name:  nodesServedName,
		Why:   "A node that was forgotten when it asked runs no pod until a person deletes it or restarts the controller.",
		When:  scenarios.Settled,
		Needs: []scenarios.Evidence{scenarios.AssignedBlocks, scenarios.FreeBlocks, scenarios.WaitingPods},
		Check: checkNodesServed,
	}
}

func checkNodesServed(s scenarios.Snapshot) (occasions int64, err error) {
	if !s.FreeBlock {
		return 0, nil
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if !lives(n) || !n.AgentUp || n.Waiting == 0 {
			continue
		}
		occasions++
		if len(n.Assigned) == 0 {
			return occasions, broken(nodesServedName, s.At, n.Name, "%d pods of %s wait for an address and %s has no block, although there are free ones",
				n.Waiting, n.Name, n.Name)
		}
	}
	return occasions, nil
}
