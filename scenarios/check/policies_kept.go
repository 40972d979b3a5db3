package check

import (
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/permitted"
	"github.com/vppdrill/vppdrill/scenarios/walk"
)

const policiesKeptName = "policies-kept"

// policiesKept: where there are network policies, a new connection between two pods, at any port that a policy names and
// beside it, gets through if and only if the policies allow it, and so do its answers; from a pod's own node it always
// does. So do services' addresses, as far as a client may send to each of their endpoints. What is allowed and does not arrive for want of a way is other laws' affair.
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

// resident is a pod with an address.
type resident struct {
	permitted.Pod
	node, netns string
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
				pods = append(pods, resident{permitted.Pod{Addr: x.Addr, Labels: labels}, n.Name, x.Netns})
			}
		}
	}
	ports := permitted.Ports(p.Policies)
	stride := 1 + len(pods)*len(pods)*len(ports)/exchangesMost
	for i := 0; i < len(pods); i += stride {
		from := &pods[i]
		for k := range pods {
			to := &pods[k]
			if from.Addr == to.Addr || from.Addr.Is4() != to.Addr.Is4() {
				continue
			}
			for _, x := range ports {
				occasions++
				if err := kept(&s, w, walk.FromPod(from.node, from.netns), from, to, x, permitted.Allowed(p, &from.Pod, &to.Pod, x)); err != nil {
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
	more, err := frontsKept(&s, w, pods)
	return occasions + more, err
}

func kept(s *fact.Snapshot, w *walk.Walker, at walk.Point, from, to *resident, k permitted.Port, may bool) error {
	p := walk.Packet{Dst: to.Addr, Proto: protoTCP, SrcPort: clientPort, DstPort: k.Number}
	if k.Proto == scenarios.UDP {
		p.Proto = protoUDP
	}
	draw := func(int) int { return 0 }
	x := w.Exchange(at, p, draw)
	say := func(what string) error {
		b := broken(policiesKeptName, s.At, to.node, "%s to %s port %d of %s, from %s: %s", k.Proto, to.netns, k.Number, to.Addr, at, what)
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
