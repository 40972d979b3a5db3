package museum

import (
	"time"

	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// kubeProxy are the faults of kube-proxy, planted into VPP's service of the same facts.
func kubeProxy() []Exhibit {
	return []Exhibit{
		{
			Name: "last-endpoint-stays", Incidents: []string{"kubernetes/kubernetes#110301"}, Law: "services-reached",
			Upstream: "kube-proxy did not take the last endpoint of a service away, and clients went on being sent to it.",
			Fault:    "An agent does not listen to what is said of a service without endpoints.",
			Plant: func() *sim.Plant {
				return &sim.Plant{Agent: agents(func(l *life, now time.Time, ev agent.Event) []agent.Effect {
					if seen, ok := ev.(agent.EndpointsSeen); ok && len(seen.Slice.Endpoints) == 0 {
						return nil
					}
					return l.PlantedAgent.Step(now, ev)
				})}
			},
		},
		{
			Name: "stale-endpoint-kept", Incidents: []string{"kubernetes/kubernetes#67875"}, Law: "services-reached",
			Upstream: "kube-proxy kept the address of a node that had left among a service's endpoints, as if it had heard nothing.",
			Fault:    "One agent goes on with the endpoints that it has heard of, and adds new ones.",
			Plant: func() *sim.Plant {
				known := map[string]agent.EndpointsSeen{}
				return &sim.Plant{Agent: agents(func(l *life, now time.Time, ev agent.Event) []agent.Effect {
					if seen, ok := ev.(agent.EndpointsSeen); ok && l.node == "node-2" {
						name := seen.Slice.Name.String()
						if more := known[name].Slice.Endpoints; len(seen.Slice.Endpoints) < len(more) {
							seen.Slice.Endpoints = more
						}
						known[name], ev = seen, seen
					}
					return l.PlantedAgent.Step(now, ev)
				})}
			},
		},
	}
}
