package check

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/walk"
)

const policiesKeptName = "policies-kept"

// policiesKept: where there are network policies, a new connection between two pods, at any port that a policy names and
// beside it, gets through if and only if the policies allow it, and so do its answers; from a pod's own node it always
// does. What is allowed and does not arrive for want of a way is other laws' affair.
func policiesKept() fact.Law {
	return fact.Law{
		Name: policiesKeptName,
		Rule: "What network policies forbid never arrives, and what they allow does, with its answers.",
		Why: "A policy that is not enforced protects nobody and nobody notices; one that forbids too much cuts off programs, " +
			"or a kubelet's probes.",
		When:    fact.Settled,
		Foreign: true,
		Needs:   []fact.Evidence{fact.Policies, fact.Sandboxes, fact.NodeIDs, fact.VPPTables, fact.LinuxTables},
		Check:   checkPoliciesKept,
	}
}

// exchangesMost bounds how many connections are tried for one snapshot; of more, some clients are left out.
const exchangesMost = 50_000

// knock is a port that is tried.
type knock struct {
	proto scenarios.Protocol
	port  uint16
}

// resident is a pod with an address.
type resident struct {
	node   string
	netns  string
	addr   netip.Addr
	labels []scenarios.Label
}

func checkPoliciesKept(s fact.Snapshot) (occasions int64, err error) {
	p := &s.Policies
	if len(p.Policies) == 0 {
		return 0, nil
	}
	var pods []resident
	w := walk.New(s)
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if !lives(n) || n.VPP == nil || n.Linux == nil || n.ID == 0 {
			continue
		}
		for _, x := range n.Pods {
			if labels, known := p.Labels[x.Pod]; known && x.Addr.IsValid() {
				pods = append(pods, resident{n.Name, x.Netns, x.Addr, labels})
			}
		}
	}
	ports := knocks(p.Policies)
	stride := 1 + len(pods)*len(pods)*len(ports)/exchangesMost
	for i := 0; i < len(pods); i += stride {
		from := &pods[i]
		for k := range pods {
			to := &pods[k]
			if from.addr == to.addr || from.addr.Is4() != to.addr.Is4() {
				continue
			}
			for _, x := range ports {
				occasions++
				if err := kept(&s, w, walk.FromPod(from.node, from.netns), from, to, x, allowed(p, from, to, x)); err != nil {
					return occasions, err
				}
			}
		}
		if n, _ := s.Node(from.node); n.HostVPP.IsValid() {
			occasions++
			if err := kept(&s, w, walk.FromHost(from.node), &resident{node: from.node}, from, ports[0], true); err != nil {
				return occasions, err
			}
		}
	}
	return occasions, nil
}

// knocks are the ports that policies name, those beside them, and one of each protocol.
func knocks(list []scenarios.Policy) []knock {
	out := []knock{{scenarios.TCP, 8080}, {scenarios.UDP, 8080}}
	for i := range list {
		for _, x := range list[i].Ports {
			proto, first, last, _ := x.Read()
			for _, port := range [...]uint16{first - 1, first, last, last + 1} {
				if k := (knock{proto, port}); port != 0 && !slices.Contains(out, k) {
					out = append(out, k)
				}
			}
		}
	}
	return out
}

func kept(s *fact.Snapshot, w *walk.Walker, at walk.Point, from, to *resident, k knock, may bool) error {
	p := walk.Packet{Dst: to.addr, Proto: protoTCP, SrcPort: clientPort, DstPort: k.port}
	if k.proto == scenarios.UDP {
		p.Proto = protoUDP
	}
	draw := func(int) int { return 0 }
	x := w.Exchange(at, p, draw)
	say := func(what string) error {
		b := broken(policiesKeptName, s.At, to.node, "%s to %s port %d of %s, from %s: %s", k.proto, to.netns, k.port, to.addr, at, what)
		b.After = w.ExchangeWay(at, p, draw)
		return b
	}
	arrives := x.There.To(to.node, to.netns)
	switch {
	case !may && arrives:
		return say("network policies forbid it, and it arrives")
	case may && x.There.Refused():
		return say("network policies allow it, and an ACL drops it (" + x.There.Why + ")")
	case may && arrives && x.Back.Refused():
		return say("network policies allow it, and an ACL drops its answer (" + x.Back.Why + ")")
	}
	return nil
}

// allowed is what policies say of a new connection, read as Kubernetes' documentation puts it.
func allowed(s *scenarios.PolicyState, from, to *resident, k knock) bool {
	return one(s, scenarios.Egress, from, to, k) && one(s, scenarios.Ingress, to, from, k)
}

// one is allowed at one end: pod is there, peer at the other one.
func one(s *scenarios.PolicyState, d scenarios.Direction, pod, peer *resident, k knock) bool {
	selected := false
	for i := range s.Policies {
		p := &s.Policies[i]
		if !p.Is(d) || slices.ContainsFunc(p.Pods, func(l scenarios.Label) bool { return !labelled(pod, l) }) {
			continue
		}
		selected = true
		if slices.ContainsFunc(p.Peers, func(x scenarios.PolicyPeer) bool { return is(s, x, peer) }) && opens(p, k) {
			return true
		}
	}
	return !selected
}

// labelled reports whether a pod has a label: the last of its labels under a key counts.
func labelled(pod *resident, l scenarios.Label) bool {
	key, _, _ := strings.Cut(string(l), "=")
	has := false
	for _, x := range pod.labels {
		if k, _, _ := strings.Cut(string(x), "="); k == key {
			has = x == l
		}
	}
	return has
}

// is reports whether a peer of a policy is a pod.
func is(s *scenarios.PolicyState, x scenarios.PolicyPeer, pod *resident) bool {
	r, _ := x.Read()
	switch {
	case r.All:
		return true
	case r.Namespace != "":
		return labelled(&resident{labels: s.Namespace}, r.Namespace)
	case r.Pods != "":
		return labelled(pod, r.Pods)
	}
	return r.Block.Contains(pod.addr) && !slices.ContainsFunc(r.Except, func(e netip.Prefix) bool { return e.Contains(pod.addr) })
}

// opens reports whether a policy names a port, or none.
func opens(p *scenarios.Policy, k knock) bool {
	return len(p.Ports) == 0 || slices.ContainsFunc(p.Ports, func(x scenarios.PolicyPort) bool {
		proto, first, last, _ := x.Read()
		return proto == k.proto && first <= k.port && k.port <= last
	})
}
