// Package selected tells what a scenario's network policies select, in the words that agents are told.
//
// It decides nothing: a scenario's policy is written down as Kubernetes would have it. Worlds call it, and laws do not:
// they read a scenario's policies by themselves.
//
// Start at Policy. All pods of a scenario are in namespace default.
package selected

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/policy"
)

// namespaceName is the namespace of everything.
const namespaceName = "default"

// Name is the name of an object in it.
func Name(name string) policy.Name { return policy.Name{Namespace: namespaceName, Name: name} }

// Policy is a scenario's policy.
func Policy(p scenarios.Policy) policy.Policy {
	out := policy.Policy{Name: Name(p.Name), Pods: policy.Selector{Labels: labels(p.Pods)}, Ingress: p.Is(scenarios.Ingress), Egress: p.Is(scenarios.Egress)}
	if len(p.Peers) == 0 {
		return out
	}
	var r policy.Rule
	for _, x := range p.Peers {
		s, _ := x.Read()
		switch {
		case s.All: // below
		case s.Namespace != "":
			r.Peers = append(r.Peers, policy.Peer{Namespaces: &policy.Selector{Labels: labels([]scenarios.Label{s.Namespace})}})
		case s.Pods != "":
			r.Peers = append(r.Peers, policy.Peer{Pods: &policy.Selector{Labels: labels([]scenarios.Label{s.Pods})}})
		default:
			r.Peers = append(r.Peers, policy.Peer{Block: s.Block, Except: s.Except})
		}
	}
	if slices.Contains(p.Peers, "all") {
		r.Peers = nil
	}
	for _, x := range p.Ports {
		proto, first, last, _ := x.Read()
		port := policy.Port{Proto: vppwire.TCP, First: first, Last: last}
		if proto == scenarios.UDP {
			port.Proto = vppwire.UDP
		}
		r.Ports = append(r.Ports, port)
	}
	if out.Ingress {
		out.IngressRules = []policy.Rule{r}
	}
	if out.Egress {
		out.EgressRules = []policy.Rule{r}
	}
	return out
}

// Pod is a pod with its application and its further labels; it may have no address yet.
func Pod(name, app string, more []scenarios.Label, addrs ...netip.Addr) policy.Pod {
	p := policy.Pod{Name: Name(name), Labels: labels(more)}
	if app != "" {
		p.Labels["app"] = app
	}
	for _, a := range addrs {
		if a.IsValid() {
			p.Addrs = append(p.Addrs, a)
		}
	}
	return p
}

// Namespace is the namespace with its labels.
func Namespace(list []scenarios.Label) policy.Namespace {
	return policy.Namespace{Name: namespaceName, Labels: labels(list)}
}

func labels(list []scenarios.Label) map[string]string {
	out := map[string]string{}
	for _, l := range list {
		if k, v, ok := l.Split(); ok {
			out[k] = v
		}
	}
	return out
}
