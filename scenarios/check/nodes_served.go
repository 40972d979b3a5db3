package check

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const nodesServedName = "nodes-served"

// nodesServed: a node whose pods wait gets a block while the controller or cloud has a free one, or while its ID
// defines its own blocks.
//
// Where blocks are assigned it judges only the assigning side. The law grants-used judges nodes that do not use a
// block, and settles judges pods that wait although there is an address.
func nodesServed() fact.Law {
	return fact.Law{
		Name: nodesServedName,
		Rule: "A node whose pods wait gets a block while one is free.",
		Why: "If the controller forgets a node's request, the node runs no pod until an operator deletes it or restarts " +
			"the controller.",
		When:  fact.Settled,
		Needs: []fact.Evidence{fact.AssignedBlocks, fact.Blocks, fact.NodeIDs, fact.FreeBlocks, fact.WaitingPods},
		Check: checkNodesServed,
	}
}

func checkNodesServed(s fact.Snapshot) (occasions int64, err error) {
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if !lives(n) || !n.AgentUp || n.Waiting == 0 {
			continue
		}
		if s.Settled && n.ByID && n.ID != 0 && n.PodSubnet.IsValid() && !n.Misfit {
			occasions++
			if p, without := rangeWithout(n, n.Blocks); without {
				return occasions, broken(nodesServedName, s.At, n.Name,
					"%s for an address, and %s with node ID %d has no block of %s: check how blocks are derived "+
						"from IDs", waitOf(n), n.Name, n.ID, p)
			}
		}
		if !s.FreeBlock {
			continue
		}
		occasions++
		if len(n.Assigned) == 0 {
			return occasions, broken(nodesServedName, s.At, n.Name,
				"%s for an address and %s has no block, although there are free ones",
				waitOf(n), n.Name)
		}
		if n.Second == nil { // else a pod gets an address of each family, or none
			continue
		}
		if p, without := rangeWithout(n, n.Assigned); without {
			return occasions, broken(nodesServedName, s.At, n.Name,
				"%s for an address and %s has no block of %s, although there are free ones",
				waitOf(n), n.Name, p)
		}
	}
	return occasions, nil
}

// rangeWithout is a pod range of one family of which there is none among a node's blocks.
func rangeWithout(n *fact.NodeState, blocks []ipam.Block) (netip.Prefix, bool) {
	ranges := []netip.Prefix{n.PodSubnet}
	if n.Second != nil {
		ranges = append(ranges, n.Second.PodSubnet)
	}
	for _, r := range ranges {
		if !slices.ContainsFunc(blocks, func(b ipam.Block) bool { return b.Prefix.Addr().Is4() == r.Addr().Is4() }) {
			return r, true
		}
	}
	return netip.Prefix{}, false
}
