package check

import "github.com/vppdrill/vppdrill/scenarios"

// spending is the amount of each meter.
type spending [5]int64

// meters are the kinds of cost that budgets limit, as messages name them.
var meters = [...]string{"calls of VPP and Linux", "calls that change VPP or Linux", "requests to the store",
	"writes to the API server", "bytes of journals"}

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

// budget is how many requests each occasion allows a cluster.
type budget struct {
	// slot is allowed unconditionally every ten seconds, for each node and once for the control plane.
	slot spending
	// node is for a starting agent or VPP, or a joining node: dumps, and work that is independent of pods, peers and
	// services.
	node spending
	// pod is for one attachment that is created, removed, checked, or recreated after a restart.
	pod spending
	// peer is for one node that is notified of a change of another node.
	peer spending
	// service is for one node that programs an endpoint.
	service spending
	// trouble is for each fault, refused call and refused ADD: a retry and a dump.
	trouble spending
}

// The table of budgets, by pod wiring, node wiring and IPAM system. Measured over the catalogue, a run needs at most
// two thirds of its budget, and typically a third. A settled cluster may dump a whole node each minute and changes
// nothing.
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

// budgetOf looks up a cluster's budget in the table.
func budgetOf(c *scenarios.Config) budget {
	pod := podBudgets[c.Wiring.Pod]
	more := c.IPAM.Row().Attachment
	pod.add(spending{2: more.Store, 3: more.API})
	return budget{slot: slotBudget, node: nodeBudget, pod: pod, peer: peerBudgets[c.Wiring.Node], service: serviceBudget,
		trouble: troubleBudget}
}
