package kube

import (
	"context"

	v1 "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
)

// ReasonPolicy is the event about a NetworkPolicy.
const ReasonPolicy = "NetworkPolicyNotEnforced"

var unenforced = []shortcoming{{ReasonPolicy, "it is not enforced: agents wire pods without filters, and everybody reaches the pods that it selects"}}

// followPolicies tells of each NetworkPolicy that nobody enforces it, until ctx ends.
func (f *Facts) followPolicies(ctx context.Context) {
	of := func(p *networking.NetworkPolicy) v1.ObjectReference {
		return about("networking.k8s.io/v1", "NetworkPolicy", p)
	}
	follow(ctx, f.cfg.Client, f.cfg.Client.NetworkingV1().NetworkPolicies(v1.NamespaceAll), "", &networking.NetworkPolicy{}, sink[*networking.NetworkPolicy]{
		listed: func(list []*networking.NetworkPolicy) {
			for _, p := range list {
				f.short.tell(of(p), unenforced)
			}
		},
		put:  func(p *networking.NetworkPolicy, _ bool) { f.short.tell(of(p), unenforced) },
		gone: func(p *networking.NetworkPolicy) { f.short.tell(of(p), nil) },
	})
}
