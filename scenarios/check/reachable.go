package check

import (
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/walk"
)

const reachableName = "reachable"

// reachable: whoever the design promises a way has it, and back:
//
//   - Every answered pod reaches every other one, VPP by way of its gateway, every node's address, every node's Linux side (its end
//     of the link to VPP and its management addresses), and whoever else is on the network between the nodes.
//   - Every host reaches every pod.
//   - What comes to a node's NIC, from another node or from outside of the cluster, reaches all of that through it.
//   - What any of them sends to an address of the pods' that nobody holds is dropped.
//
// A packet's way is a chain of lookups, and what happens between two of them depends on the destination only through
// the routes that it meets. So the pairs fall into classes, and the law proves all of them with few walks:
//
//   - Egress. A namespace, a pod's or the host's, has a handful of routes; the destinations between two route boundaries leave
//     alike. One step per namespace and such range shows that everything it sends is looked up next in one table of its node.
//   - Transit. The boundaries of all prefixes in a table cut the ascending list of destinations into ranges that the table treats
//     alike. One step per next hop, or per range where a route names none, shows the node, and the table there, where that range is
//     looked up next. A range that is looked up in another table of the node ends as well as that one's.
//   - Delivery. Each address is walked from a table of its own node to where it belongs.
//
// The way from pod p to pod q is p's egress, followed by the transit of the range that q lies in, followed by q's
// delivery where the transit ended: if all three hold, the pair holds, and each was checked once for all pairs that
// share it. Wherever a part does not have this shape (a step that looked at the destination itself, a transit that ends
// at a third node, a namespace whose routes part ways) every pair concerned is walked.
//
// All packets have the size of the smallest MTU of any pod or host, and DF: packets-fit sees to it that there is one MTU.
//
// Boundaries come from VPP's API routes, interface addresses and static neighbors; a table entry that comes from
// neither of them (a learned neighbor's, NAT's) is seen only where a range happens to be represented by it.
func reachable() fact.Law {
	return fact.Law{
		Name:    reachableName,
		Why:     "Kubernetes promises every pod a way to every other pod and to all nodes, and applications take the promise for granted.",
		When:    fact.Settled,
		Foreign: true,
		Needs:   []fact.Evidence{fact.Sandboxes, fact.NodeIDs, fact.Management, fact.Blocks, fact.VPPTables, fact.LinuxTables},
		Check:   checkReachable,
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
