package lab

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/lab/internal/probe"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/endpoints"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// servicesLaw is the law of package check that real sessions judge too: what the mappings promise, connections do.
const servicesLaw = "services-reached"

const (
	// askedMost bounds the pairs of a client and a front whose service real sessions ask in one check.
	askedMost = 96
	// sessionsPer is how many sessions a client opens for each endpoint that it is to get, at the most. VPP draws each
	// time: of n, all but one in a million are drawn within some 14 n + n ln n sessions.
	sessionsPer = 40
	// sessionPatience is how long one session may take; a first packet may be lost to a neighbor that VPP has to ask for.
	sessionPatience = time.Second
	// silent is how many sessions in a row may get no answer.
	silent = 3
)

// client is who asks services: a pod, a host, or somebody on the wire.
type client struct {
	place probe.Place
	node  *fact.NodeState
	host  bool
	// outside: it asks the node, from the wire.
	outside bool
}

func (c *client) fronts(svc *scenarios.ServiceState, nodes []fact.NodeState) []endpoints.Front {
	if c.outside {
		return endpoints.OuterFronts(svc, c.node)
	}
	return endpoints.Fronts(svc, c.node.Name, nodes)
}

// checkServices opens real sessions with services until each endpoint that a client may get has answered it, from one
// pod of each node, from each host, and from the wire of each node; its error is a violation. A scenario that does not
// want the law gets no sessions.
func (w *World) checkServices(ctx context.Context) error {
	if w.scenario().Laws != nil && !slices.Contains(w.scenario().Laws, servicesLaw) {
		return nil
	}
	w.services.mu.Lock()
	none := len(w.services.told) == 0
	w.services.mu.Unlock()
	if none {
		return nil
	}
	s, err := w.look(ctx, true)
	if err != nil {
		return err
	}
	echoes, err := w.endpointsAnswer(s)
	defer func() {
		for _, e := range echoes {
			e.Close()
		}
	}()
	if err != nil {
		return err
	}
	if w.enforcing() && len(s.Policies.Labels) == 0 {
		return nil // somebody has not heard of them, and what passes there is not known
	}
	asked, sessions, unanswered, policies := 0, 0, 0, w.policed(&s)
	clients, err := w.clients(s)
	if err != nil {
		return err
	}
	for i, c := range clients {
		if err := w.enter(&c, s.Services); err != nil {
			return err
		}
		for k := range s.Services {
			svc := &s.Services[k]
			if what := askHealth(ctx, &c, svc); what != "" {
				return &fact.Violation{Law: servicesLaw, At: w.Now(), What: "the lab is quiet, but " + what}
			}
			fronts := c.fronts(svc, s.Nodes)
			for j := range fronts {
				// Of the fronts of all nodes each client asks another one.
				if f := &fronts[j]; f.Pods && (c.host || (j+i)%2 > 0) || len(f.Expected(svc)) == 0 || asked == askedMost || ctx.Err() != nil {
					continue
				} else if open, forbidden := policies.front(&c, svc, f); !open {
					if what := askForbidden(ctx, &c, svc, f, forbidden); what != "" {
						return &fact.Violation{Law: policiesLaw, At: w.Now(), What: "the lab is quiet, but " + what}
					}
				} else if n, silent, what := ask(ctx, c, svc, f); what != "" {
					return &fact.Violation{Law: servicesLaw, At: w.Now(), What: "the lab is quiet, but " + what}
				} else {
					asked, sessions, unanswered = asked+1, sessions+n, unanswered+silent
				}
			}
		}
	}
	w.Record.Note(fmt.Sprintf("%d sessions got every endpoint of %d addresses of services, %d others got no answer", sessions, asked, unanswered))
	return nil
}

// askHealth asks a node from the wire what it tells load balancers about a service, and says what is wrong.
func askHealth(ctx context.Context, c *client, svc *scenarios.ServiceState) string {
	if svc.HealthPort == 0 || !c.outside {
		return ""
	}
	want := 0
	for _, e := range svc.Endpoints {
		if e.Node == c.node.Name {
			want++
		}
	}
	at := netip.AddrPortFrom(c.node.Address.Addr(), uint16(svc.HealthPort))
	got, err := -1, error(nil)
	for range silent {
		if got, err = probe.LocalEndpoints(ctx, c.place, at, sessionPatience); err == nil || ctx.Err() != nil {
			break
		}
	}
	switch {
	case ctx.Err() != nil:
		return ""
	case err != nil:
		return fmt.Sprintf("%s, where load balancers ask for service %s, does not answer: %v", at, svc.Name, err)
	case got != want:
		return fmt.Sprintf("%s tells load balancers of %d endpoints of service %s on %s, and there are %d", at, got, svc.Name, c.node.Name, want)
	}
	return ""
}

// ask opens sessions with one front until everybody whom the client may get has answered, and says what is wrong.
func ask(ctx context.Context, c client, svc *scenarios.ServiceState, f *endpoints.Front) (sessions, unanswered int, wrong string) {
	want := f.Expected(svc)
	missing := map[netip.Addr]bool{}
	for _, e := range want {
		missing[e.Addr] = true
	}
	quiet := 0
	for sessions < sessionsPer*len(want) && len(missing) > 0 {
		who, err := probe.WhoServes(ctx, c.place, network(svc), f.Addr, sessionPatience)
		switch {
		case ctx.Err() != nil:
			return sessions, unanswered, ""
		case err != nil && quiet < silent:
			quiet++
			unanswered++
			continue
		case err != nil:
			return sessions, unanswered, fmt.Sprintf("%s of service %s does not answer %s: %v", f.Addr, svc.Name, c.place.Name, err)
		case !slices.ContainsFunc(want, func(e scenarios.EndpointState) bool { return e.Addr == who }):
			return sessions, unanswered, fmt.Sprintf("%s of service %s leads %s to %s, which is no endpoint that it may get", f.Addr, svc.Name, c.place.Name, who)
		}
		quiet = 0
		sessions++
		delete(missing, who)
		if svc.Affinity > 0 {
			return sessions, unanswered, "" // the same one for ever
		}
	}
	for _, e := range want {
		if missing[e.Addr] {
			return sessions, unanswered, fmt.Sprintf("endpoint %s of service %s is ready, and %s gets it in none of %d sessions with %s", e.Addr, svc.Name, c.place.Name, sessions, f.Addr)
		}
	}
	return sessions, unanswered, ""
}

func network(svc *scenarios.ServiceState) string { return string(svc.Protocol) + "4" }

// enter has a client that is on the wire be there, with a way to the outer addresses by its node.
func (w *World) enter(c *client, services []scenarios.ServiceState) (err error) {
	if !c.outside {
		return nil
	}
	var dsts []netip.Addr
	for i := range services {
		if a := services[i].External; a.IsValid() {
			dsts = append(dsts, a)
		}
	}
	c.place.Netns, err = w.fabric.(Wired).Outsider(netip.PrefixFrom(c.place.Addr, c.node.Address.Bits()), c.node.Address.Addr(), dsts)
	return err
}

// clients are one pod of each node whose VPP runs and serves, its host, and where the fabric can have one somebody on
// the wire.
func (w *World) clients(s fact.Snapshot) ([]client, error) {
	var out []client
	_, wired := w.fabric.(Wired)
	wired = wired && w.dhcp == nil
	for i := range s.Nodes {
		n := &s.Nodes[i]
		at := w.node(n.Name)
		if at == nil || n.VPP == nil {
			continue
		}
		if _, on := n.VPP.NAT(); !on {
			continue
		}
		if k := slices.IndexFunc(n.Pods, func(p fact.PodState) bool { return p.Addr.IsValid() }); k >= 0 {
			p := &n.Pods[k]
			out = append(out, client{probe.Place{Name: n.Name + " " + strings.TrimPrefix(p.Pod, "default/"), Netns: at.machine.Netns(p.Netns), Addr: p.Addr}, n, false, false})
		}
		if n.HostVPP.IsValid() {
			out = append(out, client{probe.Place{Name: n.Name + " host", Netns: at.machine.Netns(""), Addr: n.HostLinux}, n, true, false})
		}
		if addr := endpoints.Outsider(n, s.Nodes); wired && addr.IsValid() && w.scenario().Topology.NIC != "" {
			out = append(out, client{probe.Place{Name: "somebody on the wire of " + n.Name, Addr: addr}, n, false, true})
		}
	}
	return out, nil
}

// endpointsAnswer has every endpoint say who it is, once for each of its ports. Those that were begun are returned with
// an error too.
func (w *World) endpointsAnswer(s fact.Snapshot) (out []*probe.Echo, err error) {
	begun := map[string]bool{}
	for i := range s.Services {
		svc := &s.Services[i]
		for _, e := range svc.Endpoints {
			key := fmt.Sprint(network(svc), e.Addr, svc.TargetPort)
			n := w.node(e.Node)
			if n == nil || begun[key] {
				continue
			}
			begun[key] = true
			echo, err := probe.StartEcho(probe.Place{Name: e.Node, Netns: n.machine.Netns(e.Netns), Addr: e.Addr}, network(svc), uint16(svc.TargetPort))
			if err != nil {
				return out, err
			}
			out = append(out, echo)
		}
	}
	return out, nil
}
