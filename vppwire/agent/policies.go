package agent

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/mode"
	"github.com/vppdrill/vppdrill/vppwire/policy"
)

// policyFact files what is told of policies, and of the pods and namespaces that they select. Nobody listens where
// policies are not enforced.
func (a *Agent) policyFact(ev Event) {
	t := a.policies
	if t == nil {
		return
	}
	switch e := ev.(type) {
	case PolicySeen:
		t.PolicySeen(e.Policy)
	case PeerSeen:
		t.PodSeen(e.Pod)
	case NamespaceSeen:
		t.NamespaceSeen(e.Namespace)
	case SelectableGone:
		t.Gone(e.Kind, e.Name)
	case SelectablesListed:
		t.Listed(e.Kind, e.Names)
		a.todo |= todoPermit
	default:
		panic(fmt.Sprintf("agent: %T is no fact about policies", ev))
	}
	// While rules are being written what is told is collected: each of 5,000 policies that come at once would have the rules of
	// every pod of theirs made again.
	if !a.calling {
		a.todo |= todoPolicies
	} else if a.untaken.IsZero() {
		a.untaken = a.now
	}
}

// collectPolicies is how long policies wait at the most for calls that are under way.
const collectPolicies = 100 * time.Millisecond

// takePolicies opens the decision about what was collected, when nothing is being written any more or it has waited long enough.
func (a *Agent) takePolicies() bool {
	if a.untaken.IsZero() || a.calling && a.now.Sub(a.untaken) < collectPolicies {
		return false
	}
	a.untaken = time.Time{}
	a.todo |= todoPolicies
	return true
}

// policiesKnown reports whether all that policies depend on has been told, where that matters.
func (a *Agent) policiesKnown() bool { return a.policies == nil || a.policies.Known() }

// settlePolicies tells policies which addresses are the node's own, and which its services stand at.
func (a *Agent) settlePolicies() {
	if a.policies != nil {
		a.policies.Settle(policy.Place{Node: nodeAddrs(&a.node), Fronts: a.fronts()})
	}
}

// wirePolicies gives the node's pods the rules that policies want now. Before all is known, rules that VPP has stay.
func (a *Agent) wirePolicies() {
	if a.policies == nil || a.node.ID == 0 {
		return
	}
	a.settlePolicies()
	var here []policy.Name
	for _, t := range a.pods.byOwner { // in any order: a set
		here = append(here, policy.Name{Namespace: t.sandbox.PodNamespace, Name: t.sandbox.PodName})
	}
	a.policies.Hold(here)
	changes, refused := a.policies.Changes()
	for _, c := range changes {
		delete(a.unreached, c.Pod)
	}
	for _, r := range refused {
		if a.unreached[r.Pod] == nil {
			a.unreached[r.Pod] = map[netip.AddrPort]bool{}
		}
		if told := a.unreached[r.Pod]; !told[r.Addr] {
			told[r.Addr] = true
			a.emit(Log{Level: levelWarn, Reason: ReasonUnreached, Namespace: r.Pod.Namespace, PodName: r.Pod.Name, Message: r.String()})
		}
	}
	for _, t := range a.pods.sorted() {
		name := policy.Name{Namespace: t.sandbox.PodNamespace, Name: t.sandbox.PodName}
		if t.phase < phaseWiring || t.phase > phaseUnhooking {
			continue
		}
		if _, changed := slices.BinarySearchFunc(changes, name, func(c policy.Change, n policy.Name) int { return c.Pod.Compare(n) }); changed {
			a.pods.wirePod(t)
		}
	}
}

// filter is what a pod may send and get, nil where policies are not enforced. It is held as long as nobody has said: a
// pod that has rules keeps them, and others are closed.
func (a *Agent) filter(namespace, name string) *mode.Filter {
	if a.policies == nil {
		return nil
	}
	f, known := a.policies.Filter(policy.Name{Namespace: namespace, Name: name})
	return &mode.Filter{Egress: vppwire.FormatACLRules(f.Egress), Ingress: vppwire.FormatACLRules(f.Ingress), Held: !known}
}

// nodeAddrs are the addresses of a node itself: its own, VPP's end and the host's, the gateways that pods see, and those
// of the host's other links.
func nodeAddrs(n *mode.Node) (list []netip.Addr) {
	for ; n != nil; n = n.Second {
		list = append(list, n.Address.Addr(), n.VXLAN.Addr(), n.HostVPP, n.HostLinux)
		for _, g := range n.Gateways {
			list = append(list, g.Addr())
		}
		list = append(list, n.HostAddrs...)
	}
	list = slices.DeleteFunc(list, func(a netip.Addr) bool { return !a.IsValid() })
	slices.SortFunc(list, netip.Addr.Compare)
	return slices.Compact(list)
}

// fronts are the addresses and ports of services on this node, with their endpoints.
func (a *Agent) fronts() (list []policy.Front) {
	for _, n := range slices.SortedFunc(maps.Keys(a.served), func(x, y policy.Name) int { return strings.Compare(x.String(), y.String()) }) {
		for _, o := range a.served[n] {
			s, is := o.(vppwire.Service)
			if !is {
				continue
			}
			f := policy.Front{Addr: netip.AddrPortFrom(s.Addr, s.Port), Proto: s.Proto}
			endpoints, _ := vppwire.ParseEndpoints(s.Endpoints)
			for _, e := range endpoints {
				f.Endpoints = append(f.Endpoints, e.Addr)
			}
			list = append(list, f)
		}
	}
	return list
}

// checkPolicies refuses what cannot be enforced.
func (cfg *Config) checkPolicies(refuse func(string, ...any)) {
	switch cfg.NetworkPolicies {
	case PoliciesNone:
	case PoliciesVPP:
		if cfg.PodInterconnect == PodInterconnectMacvlan {
			refuse("NetworkPolicies vpp: pods of PodInterconnect macvlan share one interface of VPP, and what they send each other never gets there; set PodInterconnect to veth or tap, or NetworkPolicies to none")
		}
	default:
		refuse("NetworkPolicies %q: want none or vpp", cfg.NetworkPolicies)
	}
}
