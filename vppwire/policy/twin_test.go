package policy_test

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/policy"
)

// world is all facts as they are, without any order in which they were told.
type world struct {
	policies   map[policy.Name]policy.Policy
	pods       map[policy.Name]policy.Pod
	namespaces map[string]policy.Namespace
	place      policy.Place
}

// packet is what somebody sends.
type packet struct {
	src, dst netip.Addr
	proto    vppwire.Proto
	port     uint16
}

// allows is the obvious reading of Kubernetes' documentation for one pod and one direction, packet by packet: peer is at
// the other end.
func (w *world) allows(pod policy.Pod, egress bool, peer netip.Addr, p packet) bool {
	if slices.Contains(w.place.Node, peer) || slices.Contains(pod.Addrs, peer) {
		return true
	}
	isolated := false
	for _, x := range w.policies {
		about, rules := x.Ingress, x.IngressRules
		if egress {
			about, rules = x.Egress, x.EgressRules
		}
		if !about || x.Name.Namespace != pod.Name.Namespace || !selects(x.Pods, pod.Labels) {
			continue
		}
		isolated = true
		for _, r := range rules {
			if w.peer(x, r, peer) && w.port(r, pod, egress, peer, p) {
				return true
			}
		}
	}
	return !isolated
}

func selects(s policy.Selector, labels map[string]string) bool {
	ok := true
	for k, v := range s.Labels {
		have, is := labels[k]
		ok = ok && is && have == v
	}
	for _, r := range s.Requirements {
		have, is := labels[r.Key]
		switch r.Op {
		case policy.In:
			ok = ok && is && slices.Contains(r.Values, have)
		case policy.NotIn:
			ok = ok && !(is && slices.Contains(r.Values, have))
		case policy.Exists:
			ok = ok && is
		case policy.DoesNotExist:
			ok = ok && !is
		default:
			ok = false
		}
	}
	return ok
}

// holders are the pods that have an address.
func (w *world) holders(a netip.Addr) (list []policy.Pod) {
	for _, p := range w.pods {
		if slices.Contains(p.Addrs, a) {
			list = append(list, p)
		}
	}
	return list
}

func (w *world) peer(x policy.Policy, r policy.Rule, peer netip.Addr) bool {
	if r.Peers == nil {
		return true
	}
	for _, e := range r.Peers {
		if e.Block.IsValid() {
			if e.Block.Contains(peer) && !slices.ContainsFunc(e.Except, func(p netip.Prefix) bool { return p.Contains(peer) }) {
				return true
			}
			continue
		}
		for _, p := range w.holders(peer) {
			ns, known := w.namespaces[p.Name.Namespace]
			where := p.Name.Namespace == x.Name.Namespace
			if e.Namespaces != nil {
				where = known && selects(*e.Namespaces, ns.Labels)
			}
			if (e.Pods != nil || e.Namespaces != nil) && where && (e.Pods == nil || selects(*e.Pods, p.Labels)) {
				return true
			}
		}
	}
	return false
}

func (w *world) port(r policy.Rule, pod policy.Pod, egress bool, peer netip.Addr, p packet) bool {
	if r.Ports == nil {
		return true
	}
	for _, x := range r.Ports {
		if x.Proto == 0 || x.Proto != p.proto {
			continue
		}
		if x.Named == "" {
			if x.First <= p.port && p.port <= x.Last {
				return true
			}
			continue
		}
		who := []policy.Pod{pod}
		if egress {
			who = w.holders(peer)
		}
		for _, o := range who {
			for _, n := range o.Ports {
				if n.Name == x.Named && n.Proto == x.Proto && n.Port == p.port {
					return true
				}
			}
		}
	}
	return false
}

// Goal: the rules of each pod let through exactly what policies allow, after any story of facts. Method: random
// policies, pods and namespaces, told in random order, changed and taken away; then packets between all addresses at
// interesting ports, by the rules and by the obvious reading.
func TestRulesSayWhatPoliciesSay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &world{policies: map[policy.Name]policy.Policy{}, pods: map[policy.Name]policy.Pod{}, namespaces: map[string]policy.Namespace{},
			place: policy.Place{Node: []netip.Addr{netip.MustParseAddr("172.30.1.1"), netip.MustParseAddr("fd00:30::1")}}}
		table := policy.New()
		table.Settle(w.place)
		told := map[policy.Name]policy.Filter{}
		for _, k := range []policy.Kind{policy.Policies, policy.Pods, policy.Namespaces} {
			table.Listed(k, nil)
		}
		for range rapid.IntRange(1, 14).Draw(t, "steps") {
			g := draw{t}
			switch g.n("step", 12) {
			case 0, 1, 2, 3:
				p := g.policy()
				w.policies[p.Name] = p
				table.PolicySeen(p)
			case 4:
				n := g.name("default", "p", 3)
				delete(w.policies, n)
				table.Gone(policy.Policies, n)
			case 5, 6, 7, 8:
				p := g.pod()
				w.pods[p.Name] = p
				table.PodSeen(p)
			case 9:
				n := g.name(g.namespace(), "pod", 4)
				delete(w.pods, n)
				table.Gone(policy.Pods, n)
			case 10:
				n := policy.Namespace{Name: g.namespace(), Labels: g.labels()}
				w.namespaces[n.Name] = n
				table.NamespaceSeen(n)
			case 11:
				var names []policy.Name
				for n := range w.pods {
					names = append(names, n)
				}
				table.Listed(policy.Pods, names)
			}
			var here []policy.Name
			for n := range w.pods {
				here = append(here, n)
			}
			table.Hold(here)
			if g.n("look", 2) == 0 {
				w.compare(t, table, told)
			}
		}
		w.compare(t, table, told)
	})
}

func (w *world) compare(t *rapid.T, table *policy.Table, told map[policy.Name]policy.Filter) {
	changes, _ := table.Changes()
	for _, c := range changes {
		told[c.Pod] = c.Filter
	}
	ends := []netip.Addr{netip.MustParseAddr("10.1.9.9"), netip.MustParseAddr("10.1.128.0"), netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("172.30.1.1"), netip.MustParseAddr("fd00::9:9")}
	for _, p := range w.pods {
		ends = append(ends, p.Addrs...)
	}
	for n, pod := range w.pods {
		for _, own := range pod.Addrs {
			for _, peer := range ends {
				if peer.Is4() != own.Is4() {
					continue
				}
				for _, proto := range []vppwire.Proto{vppwire.TCP, vppwire.UDP, 1} {
					for _, port := range []uint16{0, 79, 80, 81, 90, 8080, 65535} {
						in, out := packet{peer, own, proto, port}, packet{own, peer, proto, port}
						if got, want := vppwire.Permits(told[n].Ingress, peer, own, proto, port), w.allows(pod, false, peer, in); got != want {
							t.Fatalf("%s gets %v: %t by rules, %t by policies\n%s", n, in, got, want, vppwire.FormatACLRules(told[n].Ingress))
						}
						if got, want := vppwire.Permits(told[n].Egress, own, peer, proto, port), w.allows(pod, true, peer, out); got != want {
							t.Fatalf("%s sends %v: %t by rules, %t by policies\n%s", n, out, got, want, vppwire.FormatACLRules(told[n].Egress))
						}
					}
				}
			}
		}
		for _, rules := range [][]vppwire.ACLRule{told[n].Ingress, told[n].Egress} {
			text := vppwire.FormatACLRules(rules)
			if back, ok := vppwire.ParseACLRules(text); !ok || !slices.Equal(back, rules) {
				t.Fatalf("%q reads back as %v", text, back)
			}
		}
	}
}

// draw makes random facts from small alphabets, so that they meet.
type draw struct{ *rapid.T }

func (g draw) n(what string, of int) int { return rapid.IntRange(0, of-1).Draw(g.T, what) }

func (g draw) name(ns, word string, of int) policy.Name {
	return policy.Name{Namespace: ns, Name: fmt.Sprint(word, g.n(word, of))}
}

func (g draw) namespace() string { return []string{"default", "other"}[g.n("namespace", 2)] }

func (g draw) labels() map[string]string {
	out := map[string]string{}
	for _, k := range []string{"app", "tier"} {
		if v := g.n(k, 3); v > 0 {
			out[k] = []string{"a", "b"}[v-1]
		}
	}
	return out
}

func (g draw) selector() policy.Selector {
	s := policy.Selector{}
	switch g.n("selector", 4) {
	case 1:
		s.Labels = map[string]string{"app": []string{"a", "b"}[g.n("app", 2)]}
	case 2:
		s.Requirements = []policy.Requirement{{Key: "tier", Op: policy.Operator(g.n("operator", 5)), Values: []string{"a"}}}
	case 3:
		s.Labels, s.Requirements = map[string]string{"tier": "b"}, []policy.Requirement{{Key: "app", Op: policy.NotIn, Values: []string{"a", "c"}}}
	}
	return s
}

func (g draw) pod() policy.Pod {
	ns := g.namespace()
	p := policy.Pod{Name: g.name(ns, "pod", 4), Labels: g.labels()}
	last := byte(len(ns) + int(p.Name.Name[3]))
	if g.n("addressed", 5) > 0 {
		p.Addrs = append(p.Addrs, netip.AddrFrom4([4]byte{10, 1, 1, last}))
	}
	if g.n("second", 3) > 0 {
		p.Addrs = append(p.Addrs, netip.AddrFrom16([16]byte{0: 0xfd, 15: last}))
	}
	if g.n("named", 2) == 0 {
		p.Ports = []policy.NamedPort{{"web", vppwire.TCP, []uint16{80, 90}[g.n("web", 2)]}, {"web", vppwire.UDP, 81}}
	}
	return p
}

func (g draw) policy() policy.Policy {
	p := policy.Policy{Name: g.name(g.namespace(), "p", 3), Pods: g.selector(), Ingress: g.n("ingress", 3) > 0, Egress: g.n("egress", 2) > 0}
	if p.Ingress {
		p.IngressRules = g.rules()
	}
	if p.Egress {
		p.EgressRules = g.rules()
	}
	return p
}

func (g draw) rules() (list []policy.Rule) {
	for range g.n("rules", 3) {
		var r policy.Rule
		if g.n("peers", 4) > 0 {
			r.Peers = []policy.Peer{}
			for range g.n("peer", 3) {
				r.Peers = append(r.Peers, g.peer())
			}
		}
		if g.n("ports", 3) > 0 {
			r.Ports = []policy.Port{}
			for range g.n("port", 3) {
				r.Ports = append(r.Ports, g.port())
			}
		}
		list = append(list, r)
	}
	return list
}

func (g draw) peer() (p policy.Peer) {
	switch g.n("kind of peer", 6) {
	case 0:
		p.Block = netip.MustParsePrefix([]string{"10.1.0.0/16", "0.0.0.0/0", "10.1.1.56/31", "fd00::/8", "10.1.1.7/24"}[g.n("block", 5)])
		for range g.n("exceptions", 3) {
			p.Except = append(p.Except, netip.MustParsePrefix([]string{"10.1.9.0/24", "10.1.128.0/17", "10.1.1.56/32", "fd00::38/128", "10.1.0.0/16", "0.0.0.0/0"}[g.n("exception", 6)]))
		}
	case 1, 2:
		s := g.selector()
		p.Pods = &s
	case 3:
		s := g.selector()
		p.Namespaces = &s
	case 4:
		pods, ns := g.selector(), g.selector()
		p.Pods, p.Namespaces = &pods, &ns
	}
	return p
}

func (g draw) port() policy.Port {
	proto := []vppwire.Proto{vppwire.TCP, vppwire.UDP, 0}[g.n("protocol", 3)]
	switch g.n("kind of port", 4) {
	case 0:
		return policy.Port{Proto: proto, Last: 65535}
	case 1:
		return policy.Port{Proto: proto, Named: []string{"web", "none"}[g.n("named port", 2)]}
	case 2:
		return policy.Port{Proto: proto, First: 80, Last: 90}
	}
	return policy.Port{Proto: proto, First: 80, Last: 80}
}
