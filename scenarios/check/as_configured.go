package check

import (
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const asConfiguredName = "as-configured"

// asConfigured: in a settled cluster VPP and Linux have the configured MTUs, ring sizes, neighbor and session timeouts,
// endpoint weights, node addresses and gateways. Packets that get through show none of these, and the agent's own
// reports are not trusted.
func asConfigured() fact.Law {
	return fact.Law{
		Name: asConfiguredName,
		Rule: "VPP and Linux have the configured MTUs, ring sizes, timeouts, weights, addresses and gateways.",
		Why: "A setting that never reaches VPP shows up under load: full queues, sessions that end too early or never, " +
			"wrong link sizes.",
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
				return occasions, broken(asConfiguredName, s.At, n.Name, "%s is %s, but the configuration says %s", set.Of,
					set.Found, set.Wanted)
			}
		}
	}
	return occasions, nil
}
