package museum

import (
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// kubelets are the faults between container runtimes and IPAM plugins.
func kubelets() []Exhibit {
	return []Exhibit{
		{
			Name: "leases-forgotten", Incidents: []string{"kubernetes/kubernetes#43910", "kubernetes/kubernetes#51322", "projectcalico/calicoctl#1523"}, Law: "one-owner",
			Upstream: "After a node agent's restart with empty state, new pods got the addresses of pods that were still running.",
			Fault:    "What the journal says of pods and their addresses is lost with every restart.",
			Plant: func() *sim.Plant {
				return &sim.Plant{Records: func(_ string, records []agent.Record) []agent.Record {
					return without(records, func(r *agent.Record) bool {
						return r.Kind == agent.RecordSandbox || r.Kind == agent.RecordIPAM && r.IPAM.Owner != (ipam.Owner{})
					})
				}}
			},
		},
		{
			Name: "repeated-del-frees-other", Incidents: []string{"kubernetes/kubernetes#19523", "kubernetes/kubernetes#36746"}, Law: "one-owner",
			Upstream: "A DEL that was repeated for the same sandbox released an address that somebody else had by then.",
			Fault:    "A DEL of an owner that holds nothing releases whoever holds the address that it once had.",
			Plant: func() *sim.Plant {
				h := newHolders()
				return &sim.Plant{Agent: agents(func(l *life, now time.Time, ev agent.Event) []agent.Effect {
					if del, ok := ev.(agent.PodDel); ok {
						addr := h.last[del.Owner]
						if other, held := h.now[l.node][addr]; held && other != del.Owner {
							ev = agent.PodDel{Request: del.Request, Owner: other}
						}
					}
					effects := l.inner(now, ev)
					h.note(l.node, effects)
					return effects
				})}
			},
		},
		{
			Name: "del-of-unknown-refused", Incidents: []string{"aws/amazon-vpc-cni-k8s#590", "aws/amazon-vpc-cni-k8s#123", "aws/amazon-vpc-cni-k8s#3777"}, Law: "settles",
			Upstream: "A DEL of a pod that was not known returned an error, so the kubelet repeated it for ever.",
			Fault:    "A DEL of an owner without an address is refused.",
			Plant: func() *sim.Plant {
				known := map[ipam.Owner]bool{}
				return &sim.Plant{Agent: agents(func(l *life, now time.Time, ev agent.Event) []agent.Effect {
					switch e := ev.(type) {
					case agent.PodAdd:
						known[e.Sandbox.Owner] = true
					case agent.PodDel:
						if !known[e.Owner] {
							return []agent.Effect{agent.Answer{Request: e.Request, Code: agent.CodeUnknownContainer, Message: "unknown pod"}}
						}
						delete(known, e.Owner)
					}
					return l.PlantedAgent.Step(now, ev)
				})}
			},
		},
	}
}
