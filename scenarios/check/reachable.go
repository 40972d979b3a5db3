package check

import (
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/walk"
)

const reachableName = "reachable"

// reachable: every path that the design promises exists, in both directions:
//
//   - Every answered pod reaches every other one, VPP at its gateway, every node's address, every node's Linux side
//     (its end of the link to VPP and its management addresses), and other machines on the network between the nodes.
//   - Every host reaches every pod.
//   - Packets to a node's NIC, from another node or from outside of the cluster, reach all of these.
//   - Packets to an unassigned pod address are dropped.
//
// A packet's path is a chain of lookups. Between two lookups the path depends on the destination only through the
// matching routes. So the pairs fall into classes, and the law proves all of them with few walks:
//
//   - Egress. A pod's or host's namespace has a handful of routes. All destinations between two route boundaries leave
//     alike. One step per namespace and range shows that all its packets are looked up next in one table of its node.
//   - Transit. The boundaries of all prefixes in a table cut the ascending list of destinations into ranges that the
//     table treats alike. One step per next hop, or per range where a route names none, shows the node and table of the
//     range's next lookup. A range with a lookup in another table of the node shares that table's result.
//   - Delivery. Each address is walked from a table of its own node to its owner.
//
// The path from pod p to pod q is p's egress, followed by the transit of the range that q lies in, followed by q's
// delivery where the transit ended: if all three hold, the pair holds, and each was checked once for all pairs that
// share it. Wherever a part does not have this shape (a step that looked at the destination itself, a transit that ends
// at a third node, a namespace whose routes part ways) every pair concerned is walked.
//
// All packets have the size of the smallest MTU of any pod or host, and DF: the law packets-fit ensures that there is
// one MTU.
//
// Boundaries come from VPP's API routes, interface addresses and static neighbors; a table entry that comes from
// neither of them (a learned neighbor's, NAT's) is seen only if it happens to represent a range.
func reachable() fact.Law {
	return fact.Law{
		Name:    reachableName,
		Rule:    "Every pod and host reaches every other one, and packets to an address without a pod are dropped.",
		Why:     "Kubernetes promises every pod a path to every other pod and to all nodes, and applications rely on it.",
		When:    fact.Settled,
		Foreign: true,
		Needs: []fact.Evidence{fact.Sandboxes, fact.NodeIDs, fact.Management, fact.Blocks, fact.VPPTables,
			fact.LinuxTables},
		Check: checkReachable,
	}
}

func checkReachable(s fact.Snapshot) (occasions int64, err error) {
	dests, err := collect(s)
	if err != nil {
		return 1, err
	}
	p := &proof{s: s, w: walk.New(s), dests: dests, nodes: make(map[string]int32, len(s.Nodes))}
	for slot := range p.delivered {
		p.delivered[slot] = make([]verdict, len(dests.list))
	}
	p.sizes()
	for i := range s.Nodes {
		p.nodes[s.Nodes[i].Name] = int32(i)
	}
	for i := range s.Nodes {
		if !lives(&s.Nodes[i]) {
			continue
		}
		for _, pod := range s.Nodes[i].Pods {
			if pod.Addr.IsValid() {
				occasions++
			}
		}
		if err := p.node(i); err != nil {
			return occasions, err
		}
	}
	return occasions, nil
}
