package check

import (
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const asConfiguredName = "as-configured"

// asConfigured: what people have configured is what VPP and Linux have at rest: MTUs, rings, how long neighbors and sessions are kept, weights of
// endpoints, the node's own address and gateway. A packet that gets through tells none of them; the agent's own word is not asked.
func asConfigured() fact.Law {
	return fact.Law{
		Name:  asConfiguredName,
		Why:   "A setting that reaches no VPP is found out under load: queues that drop, sessions that end or never end, a link that nobody sized.",
		When:  fact.Settled,
		Needs: []fact.Evidence{fact.ReachedSettings},
		Check: checkConfigured,
	}
}

func checkConfigured(s fact.Snapshot) (occasions int64, err error) {
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if !lives(n) || !n.AgentUp || n.VPP == nil || n.ID == 0 || n.Settings == nil {
			continue
		}
		for set := range n.Settings {
			occasions++
			if set.Wanted != set.Found {
				return occasions, broken(asConfiguredName, s.At, n.Name, "%s is %s, and the configuration has it be %s", set.Of, set.Found, set.Wanted)
			}
		}
	}
	return occasions, nil
}
