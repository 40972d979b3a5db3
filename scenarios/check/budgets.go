package check

import "github.com/vppdrill/vppdrill/scenarios"

// spending is how much of each of meters.
type spending [5]int64

// meters are what budgets are about, as messages name them.
var meters = [...]string{"calls of VPP and Linux", "calls that change VPP or Linux", "requests to the store", "writes to the API server", "bytes of journals"}

func (s *spending) add(o spending) {
	for i := range s {
		s[i] += o[i]
	}
}

func (s spending) times(n int64) spending {
	for i := range s {
		s[i] *= n
	}
	return s
}

// budget is what occasions allow a cluster to ask for.
type budget struct {
	// slot is for each node and ten seconds, whatever happens, and once for the control plane.
	slot spending
	// node is for an agent or a VPP that starts, or a node that joins: dumps, and what is not about pods, peers and services.
	node spending
	// pod is for one attachment that is made, removed, looked at, or made again after a restart.
	pod spending
	// peer is for one node that hears of a change of another one.
	peer spending
	// service is for one node that serves an endpoint.
	service spending
	// trouble is for each fault, refused call and refused ADD: another try, and a look around.
	trouble spending
}

// The table of budgets, by ways of wiring pods and nodes and by systems. Measured over the catalogue's runs, a run needs two thirds of its budget at the most, and
// a third as a rule. A cluster at rest may look at all of a node each minute, and changes nothing.
var (
	//                     calls writes store API journal
	slotBudget    = spending{30, 1, 4, 2, 300}
	nodeBudget    = spending{200, 80, 20, 6, 6_000}
	serviceBudget = spending{12, 8, 1, 1, 100}
	troubleBudget = spending{60, 20, 6, 3, 1_500}

	podBudgets = map[scenarios.PodWiring]spending{
		scenarios.PodVETH:    {50, 26, 1, 1, 1_200},
		scenarios.PodTAP:     {40, 20, 1, 1, 1_200},
		scenarios.PodMACVLAN: {40, 20, 1, 1, 1_200},
	}
	peerBudgets = map[scenarios.NodeWiring]spending{
		scenarios.NodeVXLAN: {20, 14, 6, 2, 600},
		scenarios.NodeL2:    {12, 8, 6, 2, 600},
	}
)

// budgetOf is a cluster's by the table.
func budgetOf(c *scenarios.Config) budget {
	pod := podBudgets[c.Wiring.Pod]
	more := c.IPAM.Row().Attachment
	pod.add(spending{2: more.Store, 3: more.API})
	return budget{slot: slotBudget, node: nodeBudget, pod: pod, peer: peerBudgets[c.Wiring.Node], service: serviceBudget, trouble: troubleBudget}
}
