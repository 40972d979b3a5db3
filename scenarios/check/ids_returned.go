package check

import (
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const idsReturnedName = "ids-returned"

// idsReturned: long after a node has left, its record no longer holds its ID: the record is released or gone.
//
// Only a node that acts on an ID and whose agent and machine run can release it. An ID that a node has claimed again
// under its present UID belongs to that node.
func idsReturned() fact.Law {
	return fact.Law{
		Name: idsReturnedName,
		Rule: "The ID of a node that left is released in the store, or its record is gone.",
		Why: "IDs of departed nodes, with all their addresses, stay unusable until an operator deletes the records by " +
			"hand.",
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
			return occasions, broken(idsReturnedName, s.At, r.Name,
				"node ID %d belongs to %s (UID %s), which left long ago, but neither %s nor another node has released it: check "+
					"which agents were notified that the node is gone",
				r.ID, r.Name, r.UID, acting)
		}
	}
	return occasions, nil
}
