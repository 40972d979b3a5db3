// Package permitted tells which connections a scenario's network policies allow.
//
// It reads policies as Kubernetes' documentation puts it, by itself: it knows neither the compiler of agents nor package
// selected, which tells them. A law calls it for what it walks, and worlds with real packets for what they send, so that
// both judge by one reading. It decides nothing about a pod's own node, which always reaches it, nor about services.
//
// Start at Allowed.
package permitted

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/scenarios"
)

// Port is where a connection goes. The zero Port is a packet of a protocol without ports, such as a ping.
type Port struct {
	Proto  scenarios.Protocol
	Number uint16
}

// Pod is one end of a connection: a pod with one of its addresses and all of its labels. One without any is no pod: no policy
// selects it, and only blocks and all are about it.
type Pod struct {
	Addr   netip.Addr
	Labels []scenarios.Label
}

// Ports are the ports at which policies can differ: those that they name and the ones beside them, and one of each
// protocol that may be named by none.
func Ports(list []scenarios.Policy) []Port {
	out := []Port{{scenarios.TCP, 8080}, {scenarios.UDP, 8080}}
	for i := range list {
		for _, x := range list[i].Ports {
			proto, first, last, _ := x.Read()
			for _, n := range [...]uint16{first - 1, first, last, last + 1} {
				if p := (Port{proto, n}); n != 0 && !slices.Contains(out, p) {
					out = append(out, p)
				}
			}
		}
	}
	return out
}

// Allowed reports whether policies allow a new connection between two pods. Its answers pass then, too.
func Allowed(s *scenarios.PolicyState, from, to *Pod, at Port) bool {
	return Sends(s, from, to, at) && Gets(s, from, to, at)
}

// Sends reports whether the policies of the pod that begins let it.
func Sends(s *scenarios.PolicyState, from, to *Pod, at Port) bool {
	return end(s, scenarios.Egress, from, to, at)
}

// Gets reports whether the policies of the pod that is asked let it.
func Gets(s *scenarios.PolicyState, from, to *Pod, at Port) bool {
	return end(s, scenarios.Ingress, to, from, at)
}

// end is allowed at one end: pod is there, peer at the other one.
func end(s *scenarios.PolicyState, d scenarios.Direction, pod, peer *Pod, at Port) bool {
	if pod.Labels == nil {
		return true
	}
	selected := false
	for i := range s.Policies {
		p := &s.Policies[i]
		if !p.Is(d) || slices.ContainsFunc(p.Pods, func(l scenarios.Label) bool { return !labelled(pod.Labels, l) }) {
			continue
		}
		selected = true
		if slices.ContainsFunc(p.Peers, func(x scenarios.PolicyPeer) bool { return is(s, x, peer) }) && opens(p, at) {
			return true
		}
	}
	return !selected
}

// labelled reports whether a label is among some: the last of a key counts.
func labelled(list []scenarios.Label, l scenarios.Label) bool {
	key, _, _ := strings.Cut(string(l), "=")
	has := false
	for _, x := range list {
		if k, _, _ := strings.Cut(string(x), "="); k == key {
			has = x == l
		}
	}
	return has
}

// is reports whether a peer of a policy is a pod.
func is(s *scenarios.PolicyState, x scenarios.PolicyPeer, pod *Pod) bool {
	r, _ := x.Read()
	switch {
	case r.All:
		return true
	case r.Namespace != "":
		return pod.Labels != nil && labelled(s.Namespace, r.Namespace)
	case r.Pods != "":
		return labelled(pod.Labels, r.Pods)
	}
	return r.Block.Contains(pod.Addr) && !slices.ContainsFunc(r.Except, func(e netip.Prefix) bool { return e.Contains(pod.Addr) })
}

// opens reports whether a policy names a port, or none.
func opens(p *scenarios.Policy, at Port) bool {
	return len(p.Ports) == 0 || slices.ContainsFunc(p.Ports, func(x scenarios.PolicyPort) bool {
		proto, first, last, _ := x.Read()
		return proto == at.Proto && first <= at.Number && at.Number <= last
	})
}
