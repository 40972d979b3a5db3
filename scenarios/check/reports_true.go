package check

import "github.com/vppdrill/vppdrill/scenarios"

const reportsTrueName = "reports-true"

// reportsTrue: what a node's object in the API server says of the node at rest is so: which addresses a CiliumNode calls used, and whose they are.
func reportsTrue() scenarios.Law {
	return scenarios.Law{
		Name:  reportsTrueName,
		Why:   "Operators act on what objects say: an address that is called free may be taken from a pod that has it, and one that is called used by nobody never comes back.",
		When:  scenarios.Settled,
		Needs: []scenarios.Evidence{scenarios.Reports},
		Check: checkReports,
	}
}

func checkReports(s scenarios.Snapshot) (occasions int64, err error) {
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if !lives(n) || !n.AgentUp {
			continue
		}
		for _, r := range n.Reported {
			occasions++
			if r.Wanted != r.Found {
				return occasions, broken(reportsTrueName, s.At, n.Name, "%s says %s of %s, and it is %s: look at what says when it is written", r.Of, r.Found, n.Name, r.Wanted)
			}
		}
	}
	return occasions, nil
}
