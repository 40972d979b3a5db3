package check

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/endpoints"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/permitted"
	"github.com/vppdrill/vppdrill/scenarios/walk"
)

// frontsKept: a service's address leads a pod to no endpoint that policies forbid it, and the cluster's address leads it to
// each where it may send to all. Where it may send to some, VPP, which looks before it has chosen, lets nothing pass.
func frontsKept(s *fact.Snapshot, w *walk.Walker, pods []resident) (occasions int64, err error) {
	at := map[netip.Addr]*resident{}
	for i := range pods {
		at[pods[i].Addr] = &pods[i]
	}
	for i := range pods {
		from := &pods[i]
		n, _ := s.Node(from.node)
		if _, on := n.VPP.NAT(); !on || !from.Addr.Is4() {
			continue
		}
		for k := range s.Services {
			svc := &s.Services[k]
			for _, f := range endpoints.Fronts(svc, from.node, s.Nodes) {
				occasions++
				if err := frontKept(s, w, from, svc, &f, at); err != nil {
					return occasions, err
				}
			}
		}
	}
	return occasions, nil
}

// frontKept tries one front, with each endpoint that can be drawn there.
func frontKept(s *fact.Snapshot, w *walk.Walker, from *resident, svc *scenarios.ServiceState, f *endpoints.Front, at map[netip.Addr]*resident) error {
	port := permitted.Port{Proto: svc.Protocol, Number: uint16(svc.TargetPort)}
	p := walk.Packet{Dst: f.Addr.Addr(), Proto: protoOf(svc), SrcPort: clientPort, DstPort: f.Addr.Port()}
	want := f.Expected(svc)
	// The node's own address passes anyway, and so does the pod itself.
	all := len(want) > 0 && f.Addr.Addr() == svc.ClusterIP && !slices.ContainsFunc(want, func(e scenarios.EndpointState) bool {
		to := at[e.Addr]
		return to == nil || to != from && !permitted.Sends(&s.Policies, &from.Pod, &to.Pod, port)
	})
	for i, of := 0, 1; i < of; i++ {
		drawn := false
		draw := func(n int) int { drawn, of = true, n; return min(i, n-1) }
		x := w.Exchange(walk.FromPod(from.node, from.netns), p, draw)
		to := at[x.At.Addr()]
		what := ""
		switch {
		case !drawn && all && x.There.Refused():
			what = "it may send to each endpoint, and an ACL drops it before one is chosen (" + x.There.Why + ")"
		case !drawn || to == nil || to == from:
		case !permitted.Allowed(&s.Policies, &from.Pod, &to.Pod, port):
			if x.There.To(to.node, to.netns) {
				what = "network policies forbid endpoint " + x.At.String() + ", and it arrives there"
			}
		case all && x.There.Refused():
			what = "network policies allow endpoint " + x.At.String() + ", and an ACL drops it (" + x.There.Why + ")"
		case all && x.Back.Refused():
			what = "network policies allow endpoint " + x.At.String() + ", and an ACL drops its answer (" + x.Back.Why + ")"
		}
		if what != "" {
			b := broken(policiesKeptName, s.At, from.node, "%s to %s of service %s, from netns %s of %s: %s", svc.Protocol, f.Addr, svc.Name, from.netns, from.Addr, what)
			b.After = w.ExchangeWay(walk.FromPod(from.node, from.netns), p, draw)
			return b
		}
	}
	return nil
}
