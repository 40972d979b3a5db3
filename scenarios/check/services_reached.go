package check

import (
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/endpoints"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/walk"
)

const servicesReachedName = "services-reached"

// servicesReached: from every pod and host, and from outside through each node's NIC, each address and port of a
// service leads to exactly the ready endpoints that the client may get. The reply comes from the address that the
// client asked. Every mapping in VPP belongs to a service.
func servicesReached() fact.Law {
	return fact.Law{
		Name: servicesReachedName,
		Rule: "Each address and port of a service leads to exactly its ready endpoints, from pods, hosts and outside.",
		Why: "An endpoint missing on a node gets no load, a stale endpoint swallows a share of the connections, and " +
			"clients discard replies from another address.",
		When:    fact.Settled,
		Foreign: true,
		Needs:   []fact.Evidence{fact.Services, fact.Sandboxes, fact.NodeIDs, fact.VPPTables, fact.LinuxTables},
		Check:   checkServicesReached,
	}
}

// Numbers of IP protocols.
const (
	protoTCP = 6
	protoUDP = 17
)

// clientPort is the clients' source port: Linux' first ephemeral port.
const clientPort = 32768

// serving is the law's state over one snapshot.
type serving struct {
	s fact.Snapshot
	w *walk.Walker
}

func checkServicesReached(s fact.Snapshot) (occasions int64, err error) {
	v := &serving{s: s}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if !lives(n) || n.VPP == nil || n.Linux == nil || n.ID == 0 {
			continue
		}
		c, on := n.VPP.NAT()
		if !on {
			continue
		}
		if v.w == nil {
			v.w = walk.New(s)
		}
		if err := v.mapped(n, &c); err != nil {
			return occasions, err
		}
		if err := v.told(n); err != nil {
			return occasions, err
		}
		for _, from := range v.clients(n) {
			for k := range s.Services {
				if err := v.balanced(n, from, &s.Services[k]); err != nil {
					return occasions, err
				}
			}
			for k := range s.Services {
				for _, f := range from.fronts(&s.Services[k], n, s.Nodes) {
					occasions++
					if err := v.ask(n, from, &s.Services[k], f); err != nil {
						return occasions, err
					}
				}
			}
		}
	}
	return occasions, nil
}

// client is a sender of requests to services.
type client struct {
	walk.Point
	// outside is its address if it is a machine outside of the cluster.
	outside netip.Addr
}

func (c client) String() string {
	if c.outside.IsValid() {
		return c.outside.String() + " outside"
	}
	return c.Point.String()
}

func (c client) fronts(svc *scenarios.ServiceState, n *fact.NodeState, nodes []fact.NodeState) []endpoints.Front {
	if c.outside.IsValid() {
		return endpoints.OuterFronts(svc, n)
	}
	return endpoints.Fronts(svc, n.Name, nodes)
}

// answered reports whether the client gets the reply of an exchange.
func (c client) answered(x *walk.Exchange) bool {
	if !c.outside.IsValid() {
		return x.Back.To(c.Node, c.Netns)
	}
	return x.Back.Kind == walk.Left && x.To == netip.AddrPortFrom(c.outside, clientPort)
}

// clients are the node's pods with an address, its host, and a machine outside.
func (v *serving) clients(n *fact.NodeState) []client {
	var out []client
	for _, p := range n.Pods {
		if p.Addr.IsValid() {
			out = append(out, client{Point: walk.FromPod(n.Name, p.Netns)})
		}
	}
	if n.HostVPP.IsValid() {
		out = append(out, client{Point: walk.FromHost(n.Name)})
	}
	if _, _, ok := v.w.NIC(n.Name, n.Address.Addr()); !ok {
		return out
	}
	if addr := endpoints.Outsider(n, v.s.Nodes); addr.IsValid() {
		out = append(out, client{walk.FromWire(n.Name), addr})
	}
	return out
}

func protoOf(svc *scenarios.ServiceState) uint8 {
	if svc.Protocol == scenarios.UDP {
		return protoUDP
	}
	return protoTCP
}

// ask connects a client to each of a mapping's locals once.
func (v *serving) ask(n *fact.NodeState, from client, svc *scenarios.ServiceState, f endpoints.Front) error {
	if f.Pods && from.Netns == "" {
		return nil
	}
	want := f.Expected(svc)
	p := walk.Packet{Src: from.outside, Dst: f.Addr.Addr(), Proto: protoOf(svc), SrcPort: clientPort,
		DstPort: f.Addr.Port()}
	got := map[netip.Addr]bool{}
	for i, of := 0, 1; i < of; i++ {
		drawn := false
		draw := func(n int) int { drawn, of = true, n; return min(i, n-1) }
		x := v.w.Exchange(from.Point, p, draw)
		say := func(format string, args ...any) error {
			b := broken(servicesReachedName, v.s.At, n.Name, format, args...)
			b.After = v.w.ExchangeWay(from.Point, p, draw)
			return b
		}
		if x.There.Refused() || x.Back.Refused() {
			return nil // whether that is right is policies-kept's affair
		}
		switch {
		case !drawn && len(want) == 0:
			return nil // no endpoint, and no mapping
		case !drawn:
			return say("%s of service %s leads %s to no endpoint: %s", f.Addr, svc.Name, from, x.There)
		}
		k := slices.IndexFunc(want, func(e scenarios.EndpointState) bool { return e.Addr == x.At.Addr() })
		switch {
		case k < 0:
			return say("%s of service %s leads %s to %s, which is not one of its endpoints", f.Addr, svc.Name, from, x.At)
		case !x.There.To(want[k].Node, want[k].Netns):
			return say("%s of service %s does not lead %s to endpoint %s on %s: %s", f.Addr, svc.Name, from, x.At, want[k].Node,
				x.There)
		case uint32(x.At.Port()) != svc.TargetPort:
			return say("%s of service %s leads %s to port %d of its endpoints, not %d", f.Addr, svc.Name, from, x.At.Port(),
				svc.TargetPort)
		case f.KeepsClients(want) && from.outside.IsValid() && x.Client.Addr() != from.outside:
			return say("endpoint %s of service %s, which only endpoints of %s serve, sees %s as %s", x.At, svc.Name, n.Name,
				from, x.Client)
		case !from.answered(&x):
			return say("the reply of endpoint %s of service %s does not reach %s: %s", x.At, svc.Name, from, x.Back)
		case x.From != f.Addr:
			return say("%s gets a reply from %s to its request to %s of service %s", from, x.From, f.Addr, svc.Name)
		}
		got[x.At.Addr()] = true
	}
	for _, e := range want {
		if !got[e.Addr] {
			return broken(servicesReachedName, v.s.At, n.Name,
				"endpoint %s on %s of service %s is ready, but %s never gets it from %s", e.Addr, e.Node, svc.Name, from, f.Addr)
		}
	}
	return nil
}

// told: the node says of each service that load balancers may ask it for how many of the ready endpoints are its own.
func (v *serving) told(n *fact.NodeState) error {
	if n.LoadBalancers == nil {
		return nil
	}
	for i := range v.s.Services {
		svc := &v.s.Services[i]
		if svc.HealthPort == 0 {
			continue
		}
		own := map[netip.Addr]bool{}
		for _, e := range svc.Endpoints {
			if e.Node == n.Name {
				own[e.Addr] = true
			}
		}
		if got, told := n.LoadBalancers[uint16(svc.HealthPort)]; !told || got != len(own) {
			return broken(servicesReachedName, v.s.At, n.Name, "%s tells load balancers at port %d that it has %d endpoints of service %s (answers: %t), and it has %d",
				n.Name, svc.HealthPort, got, svc.Name, told, len(own))
		}
	}
	return nil
}

// balanced: a load balancer on the wire that asks a node for a service at VPP's own address is answered by its host.
func (v *serving) balanced(n *fact.NodeState, from client, svc *scenarios.ServiceState) error {
	if svc.HealthPort == 0 || !from.outside.IsValid() || len(n.Management) == 0 {
		return nil
	}
	at := netip.AddrPortFrom(n.Address.Addr(), uint16(svc.HealthPort))
	p := walk.Packet{Src: from.outside, Dst: at.Addr(), Proto: protoTCP, SrcPort: clientPort, DstPort: at.Port()}
	draw := func(int) int { return 0 }
	if x := v.w.Exchange(from.Point, p, draw); !x.There.To(n.Name, "") || !from.answered(&x) || x.From != at {
		b := broken(servicesReachedName, v.s.At, n.Name, "%s, where load balancers ask for service %s, is not answered by the host of %s: %s; its answer: %s, from %s",
			at, svc.Name, n.Name, x.There, x.Back, x.From)
		b.After = v.w.ExchangeWay(from.Point, p, draw)
		return b
	}
	return nil
}

// mapped: every mapping in VPP belongs to a service.
func (v *serving) mapped(n *fact.NodeState, c *fact.NAT) error {
	for _, m := range c.Mappings {
		if m.Identity {
			continue
		}
		asked := func(svc *scenarios.ServiceState) bool { // by load balancers
			return m.Addr == n.Address.Addr() && m.Proto == protoTCP && svc.HealthPort != 0 && uint32(m.Port) == svc.HealthPort
		}
		k := slices.IndexFunc(v.s.Services, func(svc scenarios.ServiceState) bool {
			number := svc.Port
			switch {
			case asked(&svc):
				return true
			case m.Addr != svc.ClusterIP && m.Addr != svc.External:
				number = svc.NodePort
			}
			return protoOf(&svc) == m.Proto && uint32(m.Port) == number
		})
		if k < 0 {
			return broken(servicesReachedName, v.s.At, n.Name, "VPP of %s has a mapping for %s, which belongs to no service",
				n.Name, netip.AddrPortFrom(m.Addr, m.Port))
		}
		want := int64(v.s.Services[k].Affinity / time.Second)
		if asked(&v.s.Services[k]) {
			want = 0
		}
		if m.Affinity != want && m.Affinity != fact.AffinityUnknown &&
			len(m.Locals) > 1 {
			return broken(servicesReachedName, v.s.At, n.Name,
				"clients of %s keep their endpoint for %d s in VPP of %s, but service %s says %d s",
				netip.AddrPortFrom(m.Addr, m.Port), m.Affinity, n.Name, v.s.Services[k].Name, want)
		}
		for _, l := range m.Kept {
			if !slices.ContainsFunc(m.Locals, func(x fact.NATLocal) bool { return x.Addr == l.Addr && x.Table == l.Table }) {
				return broken(servicesReachedName, v.s.At, n.Name,
					"clients of %s with affinity still get %s, which is gone, from VPP of %s: check how that endpoint was removed",
					netip.AddrPortFrom(m.Addr, m.Port), l.Addr, n.Name)
			}
		}
	}
	return nil
}
