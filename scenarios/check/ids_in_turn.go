package check

import "github.com/vppdrill/vppdrill/scenarios"

const idsInTurnName = "ids-in-turn"

// refusedMost is how many claims in a row may be refused because another node was faster: of two that join together, one may not have heard of the other.
const refusedMost = 1

// idsInTurn: where nothing disturbs the cluster, nodes that join together claim IDs without a race, each the one behind those that are left to the others:
// no claim is refused again and again because another node was faster, and no more IDs are passed over than nodes are still to claim one.
//
// A snapshot has no history.
func idsInTurn() scenarios.Law {
	return scenarios.Law{
		Name:  idsInTurnName,
		Why:   "A thousand nodes that race for the same ID make half a million requests, and IDs that are passed over are those for which smaller address ranges have no room.",
		When:  scenarios.Always,
		Needs: []scenarios.Evidence{scenarios.Claims},
		Watch: func() scenarios.Watcher { return &turnIDWatcher{refused: map[string]int{}} },
	}
}

type turnIDWatcher struct {
	// refused counts each node's refused claims in a row.
	refused map[string]int
	checks  int64
}

func (w *turnIDWatcher) Checks() int64 { return w.checks }

func (w *turnIDWatcher) Observe(f *scenarios.Fact) error {
	switch f.Kind {
	case scenarios.FactAgentUp, scenarios.FactNodeGone:
		delete(w.refused, f.Node)
	case scenarios.FactClaimed:
		w.checks++
		switch c := f.Claim; {
		case !c.Refused && c.Skipped > c.Joining:
			return broken(idsInTurnName, f.At, f.Node, "%s has claimed node ID %d, where %d smaller ones are nobody's and %d other nodes are to claim one: look at how many IDs are left to those",
				f.Node, f.Number, c.Skipped, c.Joining)
		case !c.Refused:
			delete(w.refused, f.Node)
		default:
			if w.refused[f.Node]++; w.refused[f.Node] > refusedMost {
				return broken(idsInTurnName, f.At, f.Node, "the claim of node ID %d is the %dth of %s in a row for which another node was faster: look at which IDs nodes that join together leave to each other",
					f.Number, w.refused[f.Node], f.Node)
			}
		}
	}
	return nil
}
