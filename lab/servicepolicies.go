package lab

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/lab/internal/probe"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/endpoints"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/permitted"
)

// policed are the pods of a snapshot with policies, by address; nil where there are none.
type policed struct {
	state *scenarios.PolicyState
	at    map[netip.Addr]*subject
}

func (w *World) policed(s *fact.Snapshot) *policed {
	if len(s.Policies.Policies) == 0 {
		return nil
	}
	out := &policed{&s.Policies, map[netip.Addr]*subject{}}
	pods, _ := w.subjects(s)
	for i := range pods {
		out.at[pods[i].Addr] = &pods[i]
	}
	return out
}

// front is what policies say of a client and a service's address: open, that it is to get each endpoint, and which endpoints it
// must not get. Where that depends on what a client's address becomes on its way, it is neither.
func (p *policed) front(c *client, svc *scenarios.ServiceState, f *endpoints.Front) (open bool, forbidden map[netip.Addr]bool) {
	if p == nil {
		return true, nil
	}
	port := permitted.Port{Proto: svc.Protocol, Number: uint16(svc.TargetPort)}
	from := p.at[c.place.Addr]
	pod := !c.host && !c.outside
	// VPP looks before it has chosen an endpoint, and knows the cluster's address alone as one of its own.
	open = !pod || from != nil && (f.Addr.Addr() == svc.ClusterIP || permitted.Sends(p.state, &from.Pod, &permitted.Pod{}, permitted.Port{}))
	forbidden = map[netip.Addr]bool{}
	for _, e := range f.Expected(svc) {
		to := p.at[e.Addr]
		switch {
		case pod && (from == nil || to == nil):
			open = false
		case pod && from != to && !permitted.Allowed(p.state, &from.Pod, &to.Pod, port):
			open, forbidden[e.Addr] = false, true
		case !pod && to != nil && !(c.host && to.node == c.node.Name) && !permitted.Gets(p.state, &permitted.Pod{}, &to.Pod, port):
			open = false
		}
	}
	return open, forbidden
}

// tries and tryPatience are how often a client asks an address that it must not get every endpoint of.
const (
	tries       = 3
	tryPatience = 300 * time.Millisecond
)

// askForbidden opens sessions with an address, and says which endpoint answers that policies forbid.
func askForbidden(ctx context.Context, c *client, svc *scenarios.ServiceState, f *endpoints.Front, forbidden map[netip.Addr]bool) string {
	if len(forbidden) == 0 {
		return ""
	}
	for range tries {
		if who, err := probe.WhoServes(ctx, c.place, network(svc), f.Addr, tryPatience); err == nil && forbidden[who] {
			return fmt.Sprintf("%s of service %s leads %s to endpoint %s, which network policies forbid", f.Addr, svc.Name, c.place.Name, who)
		}
	}
	return ""
}
