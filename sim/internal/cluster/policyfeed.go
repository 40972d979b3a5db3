package cluster

import (
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/policy"
)

// WithPolicies adds network policies, all pods and namespaces to the feed, each with its SelectablesListed. told is what
// policies look at of a pod. It is called before Start.
func (f *AgentFeed) WithPolicies(told func(*Pod) policy.Pod) {
	api, at := f.Nodes.api, f.Nodes.cfg.At
	add := func(kind Kind, of policy.Kind, seen func(Object) agent.Event) *Informer {
		h := &feedSelectables{feed: f, of: of, seen: seen}
		h.informer = api.NewInformer(InformerConfig{Name: AgentProgram, At: at, Kind: kind, Fresh: true, Handler: h})
		return h.informer
	}
	f.Policies = add(KindPolicy, policy.Policies, func(o Object) agent.Event { return agent.PolicySeen{Policy: o.(*Policy).Value} })
	f.Peers = add(KindPod, policy.Pods, func(o Object) agent.Event { return agent.PeerSeen{Pod: told(o.(*Pod))} })
	f.Namespaces = add(KindNamespace, policy.Namespaces, func(o Object) agent.Event { return agent.NamespaceSeen{Namespace: o.(*Namespace).Value} })
}

type feedSelectables struct {
	feed     *AgentFeed
	informer *Informer
	of       policy.Kind
	seen     func(Object) agent.Event
}

func selectableName(o Object) policy.Name {
	return policy.Name{Namespace: o.Common().Namespace, Name: o.Common().Name}
}

// Listed is called by the informer.
func (f *feedSelectables) Listed(objects []Object, _ int64) {
	names := make([]policy.Name, len(objects))
	for i, o := range objects {
		names[i] = selectableName(o)
	}
	tellList(f.informer, objects, func(o Object) { f.feed.sink(f.seen(o)) }, func() { f.feed.sink(agent.SelectablesListed{Kind: f.of, Names: names}) })
}

// Changed is called by the informer.
func (f *feedSelectables) Changed(c Change) {
	if c.Type == Deleted {
		f.feed.sink(agent.SelectableGone{Kind: f.of, Name: selectableName(c.Object)})
	} else {
		f.feed.sink(f.seen(c.Object))
	}
}
