package check

import (
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const idsReturnedName = "ids-returned"

// idsReturned: long after a node has left, its record does not hold its ID any more: it is released or gone.
//
// Somebody has to do it: a node that acts on an ID and whose agent and machine run. An ID that a node has taken again under its present UID is
// that node's.
func idsReturned() fact.Law {
	return fact.Law{
		Name:  idsReturnedName,
		Why:   "IDs of nodes that left are given to nobody, with all their addresses, until a person deletes records by hand.",
		When:  fact.Settled,
		Needs: []fact.Evidence{fact.HeldIDs, fact.NodeIDs},
		Check: checkIDsReturned,
	}
}

func checkIDsReturned(s fact.Snapshot) (occasions int64, err error) {
	if !s.Settled || len(s.HeldIDs) == 0 {
		return 0, nil
	}
	uids := map[string]bool{}
	acting := ""
	for i := range s.Nodes {
		n := &s.Nodes[i]
		uids[n.UID] = true
		if acting == "" && lives(n) && n.AgentUp && n.VPPUp && n.ID != 0 && n.UID != "" {
			acting = n.Name
		}
	}
	if acting == "" {
		return 0, nil
	}
	for _, r := range s.HeldIDs {
		occasions++
		if !uids[r.UID] {
			return occasions, broken(idsReturnedName, s.At, r.Name, "node ID %d is %s's (UID %s), which left long ago, and %s and others have not released it: look at who was told that the node is gone",
				r.ID, r.Name, r.UID, acting)
		}
	}
	return occasions, nil
}
