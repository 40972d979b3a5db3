package kube

import (
	"context"
	"fmt"
	"net/netip"
	"sync"

	v1 "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/policy"
)

// Reasons of events about a NetworkPolicy: agents enforce none, or not all of this one.
const (
	ReasonPolicy     = "NetworkPolicyNotEnforced"
	ReasonPolicyPart = "NetworkPolicyPartNotEnforced"
)

var unenforced = []shortcoming{{ReasonPolicy, "it is not enforced: agents wire pods without filters, and everybody reaches the pods that it selects; give agents NetworkPolicies: vpp"}}

// followPolicies tells of policies, and of the pods and namespaces that they select, until ctx ends; where agents
// enforce none, it tells users so.
func (f *Facts) followPolicies(ctx context.Context, say func(...agent.Event)) {
	of := func(p *networking.NetworkPolicy) v1.ObjectReference {
		return about("networking.k8s.io/v1", "NetworkPolicy", p)
	}
	one := func(p *networking.NetworkPolicy) agent.Event {
		read, short := policyOf(p)
		if !f.cfg.Policies {
			short = unenforced
		}
		f.short.tell(of(p), short)
		return agent.PolicySeen{Policy: read}
	}
	tell := say
	if !f.cfg.Policies {
		tell = func(...agent.Event) {}
	}
	var all sync.WaitGroup
	defer all.Wait()
	all.Go(func() {
		follow(ctx, f.cfg.Client, f.cfg.Client.NetworkingV1().NetworkPolicies(v1.NamespaceAll), "", &networking.NetworkPolicy{}, sink[*networking.NetworkPolicy]{
			listed: func(list []*networking.NetworkPolicy) {
				told := each(list, one)
				tell(append(told, selectables(policy.Policies, list))...)
			},
			put: func(p *networking.NetworkPolicy, _ bool) { tell(one(p)) },
			gone: func(p *networking.NetworkPolicy) {
				f.short.tell(of(p), nil)
				tell(agent.SelectableGone{Kind: policy.Policies, Name: nameOf(p)})
			},
		})
	})
	if !f.cfg.Policies {
		return
	}
	all.Go(func() {
		one := func(p *v1.Pod) agent.Event {
			if read, is := peerOf(p); is {
				return agent.PeerSeen{Pod: read}
			}
			return agent.SelectableGone{Kind: policy.Pods, Name: nameOf(p)}
		}
		follow(ctx, f.cfg.Client, f.cfg.Client.CoreV1().Pods(v1.NamespaceAll), "", &v1.Pod{}, sink[*v1.Pod]{
			listed: func(list []*v1.Pod) { say(append(each(list, one), selectables(policy.Pods, list))...) },
			put:    func(p *v1.Pod, _ bool) { say(one(p)) },
			gone:   func(p *v1.Pod) { say(agent.SelectableGone{Kind: policy.Pods, Name: nameOf(p)}) },
		})
	})
	all.Go(func() {
		one := func(n *v1.Namespace) agent.Event {
			return agent.NamespaceSeen{Namespace: policy.Namespace{Name: n.Name, Labels: n.Labels}}
		}
		follow(ctx, f.cfg.Client, f.cfg.Client.CoreV1().Namespaces(), "", &v1.Namespace{}, sink[*v1.Namespace]{
			listed: func(list []*v1.Namespace) { say(append(each(list, one), selectables(policy.Namespaces, list))...) },
			put:    func(n *v1.Namespace, _ bool) { say(one(n)) },
			gone:   func(n *v1.Namespace) { say(agent.SelectableGone{Kind: policy.Namespaces, Name: nameOf(n)}) },
		})
	})
}

func nameOf(o metav1.Object) policy.Name {
	return policy.Name{Namespace: o.GetNamespace(), Name: o.GetName()}
}

func selectables[T metav1.Object](k policy.Kind, list []T) agent.Event {
	names := make([]policy.Name, len(list))
	for i, o := range list {
		names[i] = nameOf(o)
	}
	return agent.SelectablesListed{Kind: k, Names: names}
}

// peerOf is what policies look at of a Pod; false for one that has ended, or is of its host's own network.
func peerOf(p *v1.Pod) (out policy.Pod, is bool) {
	out = policy.Pod{Name: nameOf(p), Labels: p.Labels}
	if p.Spec.HostNetwork || p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed {
		return out, false
	}
	for _, ip := range p.Status.PodIPs {
		if a, err := netip.ParseAddr(ip.IP); err == nil {
			out.Addrs = append(out.Addrs, a.Unmap())
		}
	}
	for _, list := range [][]v1.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for _, c := range list {
			for _, port := range c.Ports {
				if proto := protoOf(port.Protocol); port.Name != "" && proto != 0 {
					out.Ports = append(out.Ports, policy.NamedPort{Name: port.Name, Proto: proto, Port: uint16(port.ContainerPort)})
				}
			}
		}
	}
	return out, true
}

// policyOf is what agents enforce of a NetworkPolicy, and what they cannot: that allows nothing.
func policyOf(p *networking.NetworkPolicy) (out policy.Policy, short []shortcoming) {
	refuse := func(format string, args ...any) {
		short = append(short, shortcoming{ReasonPolicyPart, fmt.Sprintf(format, args...) + ": it allows nothing, and the rest of the policy is enforced"})
	}
	out = policy.Policy{Name: nameOf(p), Pods: selectorOf("spec.podSelector", &p.Spec.PodSelector, refuse), Ingress: len(p.Spec.PolicyTypes) == 0, Egress: len(p.Spec.PolicyTypes) == 0 && len(p.Spec.Egress) > 0}
	for _, t := range p.Spec.PolicyTypes {
		switch t {
		case networking.PolicyTypeIngress:
			out.Ingress = true
		case networking.PolicyTypeEgress:
			out.Egress = true
		default:
			refuse("spec.policyTypes %q is not known", t)
			out.Ingress, out.Egress = true, true
		}
	}
	for i := range p.Spec.Ingress {
		r, at := &p.Spec.Ingress[i], fmt.Sprintf("spec.ingress[%d]", i)
		out.IngressRules = append(out.IngressRules, policy.Rule{Peers: peersOf(at+".from", r.From, refuse), Ports: portsOf(at+".ports", r.Ports, refuse)})
	}
	for i := range p.Spec.Egress {
		r, at := &p.Spec.Egress[i], fmt.Sprintf("spec.egress[%d]", i)
		out.EgressRules = append(out.EgressRules, policy.Rule{Peers: peersOf(at+".to", r.To, refuse), Ports: portsOf(at+".ports", r.Ports, refuse)})
	}
	return out, short
}

// refusal tells of a part that is not enforced.
type refusal func(format string, args ...any)

func selectorOf(at string, s *metav1.LabelSelector, refuse refusal) policy.Selector {
	out := policy.Selector{Labels: s.MatchLabels}
	for _, r := range s.MatchExpressions {
		op := map[metav1.LabelSelectorOperator]policy.Operator{metav1.LabelSelectorOpIn: policy.In, metav1.LabelSelectorOpNotIn: policy.NotIn,
			metav1.LabelSelectorOpExists: policy.Exists, metav1.LabelSelectorOpDoesNotExist: policy.DoesNotExist}[r.Operator]
		if op == 0 {
			refuse("%s: operator %q is not known", at, r.Operator)
		}
		out.Requirements = append(out.Requirements, policy.Requirement{Key: r.Key, Op: op, Values: r.Values})
	}
	return out
}

func peersOf(at string, list []networking.NetworkPolicyPeer, refuse refusal) (out []policy.Peer) {
	for i := range list {
		x, at := &list[i], fmt.Sprintf("%s[%d]", at, i)
		var peer policy.Peer
		if x.PodSelector != nil {
			s := selectorOf(at+".podSelector", x.PodSelector, refuse)
			peer.Pods = &s
		}
		if x.NamespaceSelector != nil {
			s := selectorOf(at+".namespaceSelector", x.NamespaceSelector, refuse)
			peer.Namespaces = &s
		}
		if x.IPBlock != nil {
			peer = blockOf(at+".ipBlock", x.IPBlock, refuse)
		}
		if x.PodSelector == nil && x.NamespaceSelector == nil && x.IPBlock == nil {
			refuse("%s has neither podSelector, namespaceSelector nor ipBlock", at)
		}
		out = append(out, peer)
	}
	return out
}

// blockOf is nobody where a part cannot be read: an exception that is passed over would open what it closes.
func blockOf(at string, b *networking.IPBlock, refuse refusal) (peer policy.Peer) {
	cidr, err := netip.ParsePrefix(b.CIDR)
	if err != nil {
		refuse("%s.cidr %q is no prefix", at, b.CIDR)
		return peer
	}
	peer.Block = cidr.Masked()
	for i, text := range b.Except {
		e, err := netip.ParsePrefix(text)
		if err != nil {
			refuse("%s.except[%d] %q is no prefix", at, i, text)
			return policy.Peer{}
		}
		peer.Except = append(peer.Except, e.Masked())
	}
	return peer
}

func portsOf(at string, list []networking.NetworkPolicyPort, refuse refusal) (out []policy.Port) {
	for i := range list {
		x, at := &list[i], fmt.Sprintf("%s[%d]", at, i)
		port := policy.Port{Proto: vppwire.TCP, Last: 65535}
		if x.Protocol != nil {
			port.Proto = protoOf(*x.Protocol)
		}
		if port.Proto == 0 {
			refuse("%s: protocol %s has no ports to agents, which know TCP and UDP", at, *x.Protocol)
			out = append(out, policy.Port{})
			continue
		}
		switch {
		case x.Port == nil:
		case x.Port.StrVal != "":
			port.Named, port.Last = x.Port.StrVal, 0
		default:
			port.First, port.Last = uint16(x.Port.IntVal), uint16(x.Port.IntVal)
			if x.EndPort != nil {
				port.Last = uint16(*x.EndPort)
			}
		}
		if port.First > port.Last || x.EndPort != nil && (x.Port == nil || x.Port.StrVal != "") {
			refuse("%s: endPort is no end of a range of ports", at)
			port = policy.Port{}
		}
		out = append(out, port)
	}
	return out
}
