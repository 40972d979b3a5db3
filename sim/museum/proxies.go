package museum

import (
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/agent/nodeid"
	"github.com/vppdrill/vppdrill/vppwire/service"
)

// facts plants a function that changes the events of agents. An event that it drops reaches no agent.
func facts(change func(l *life, ev agent.Event) (agent.Event, bool)) *sim.Plant {
	return &sim.Plant{Agent: agents(func(l *life, now time.Time, ev agent.Event) []agent.Effect {
		ev, ok := change(l, ev)
		if !ok {
			return nil
		}
		return l.PlantedAgent.Step(now, ev)
	})}
}

// endpointFacts plants a function that changes slices of endpoints. It gets a slice of its own.
func endpointFacts(change func(l *life, s *service.Slice)) *sim.Plant {
	return facts(func(l *life, ev agent.Event) (agent.Event, bool) {
		if seen, is := ev.(agent.EndpointsSeen); is {
			seen.Slice.Endpoints = slices.Clone(seen.Slice.Endpoints)
			change(l, &seen.Slice)
			return seen, true
		}
		return ev, true
	})
}

// serviceFacts is endpointFacts for services.
func serviceFacts(change func(l *life, s *service.Service)) *sim.Plant {
	return facts(func(l *life, ev agent.Event) (agent.Event, bool) {
		if seen, is := ev.(agent.ServiceSeen); is {
			seen.Service.Ports = slices.Clone(seen.Service.Ports)
			change(l, &seen.Service)
			return seen, true
		}
		return ev, true
	})
}

// proxies are faults of kube-proxy's replacements, and of its modes, planted into what agents make of services and
// nodes.
func proxies() []Exhibit {
	return []Exhibit{
		{
			Name: "unready-endpoint-served", Incidents: []string{"kubernetes/kubernetes#75889"}, Law: "services-reached",
			Upstream: "Pods whose readiness probe failed stood among a service's endpoints and were sent clients.",
			Fault:    "Every endpoint counts as a ready one.",
			Plant: func() *sim.Plant {
				return endpointFacts(func(_ *life, s *service.Slice) {
					for i := range s.Endpoints {
						s.Endpoints[i].Ready = true
					}
				})
			},
		},
		{
			Name: "node-port-missing-on-a-new-node", Incidents: []string{"projectcalico/calico#2737"}, Law: "services-reached",
			Upstream: "Node ports did not answer on a node that had joined, until it was rebooted.",
			Fault:    "In a node's first life after the start its agent overlooks node ports.",
			Plant: func() *sim.Plant {
				return serviceFacts(func(l *life, s *service.Service) {
					for i := range s.Ports {
						if l.node == "node-3" && l.number == 1 {
							s.Ports[i].NodePort = 0
						}
					}
				})
			},
		},
		{
			Name: "first-endpoint-missed", Incidents: []string{"kubernetes/kubernetes#70493"}, Law: "services-reached",
			Upstream: "Less than half of the nodes had the only endpoint of a service, the others a service without any.",
			Fault:    "One agent does not hear that a service has got its first endpoint.",
			Plant: func() *sim.Plant {
				known := map[service.Name]int{}
				return facts(func(l *life, ev agent.Event) (agent.Event, bool) {
					seen, is := ev.(agent.EndpointsSeen)
					if !is || l.node != "node-2" {
						return ev, true
					}
					had, heard := known[seen.Slice.Name]
					known[seen.Slice.Name] = len(seen.Slice.Endpoints)
					return ev, !heard || had > 0
				})
			},
		},
		{
			Name: "protocols-mixed-up", Incidents: []string{"cilium/cilium#9207"}, Law: "services-reached",
			Upstream: "Cilium knew services by address and port alone, so that TCP and UDP on one port were the same service.",
			Fault:    "A service takes the place of one with its address and port and another protocol.",
			Plant:    protocolsMixedUp,
		},
		{
			Name: "local-policy-ignored", Incidents: []string{"kubernetes/kubernetes#66062"}, Law: "services-reached",
			Upstream: "With IPVS, kube-proxy sent clients of a node port to other nodes' endpoints in spite of the local policy, and they never heard the answer.",
			Fault:    "Agents overlook the policy of clients from outside.",
			Plant:    func() *sim.Plant { return serviceFacts(func(_ *life, s *service.Service) { s.ExternalLocal = false }) },
		},
		{
			Name: "own-node-not-recognized", Incidents: []string{"kubernetes/kubernetes#59678"}, Law: "services-reached",
			Upstream: "kube-proxy knew its node by another name than the API server, took no endpoint for its own, and dropped what a local policy kept on the node.",
			Fault:    "One agent reads other names of nodes in slices than its own.",
			Plant: func() *sim.Plant {
				return endpointFacts(func(l *life, s *service.Slice) {
					for i := range s.Endpoints {
						if l.node == "node-1" {
							s.Endpoints[i].Node += ".internal"
						}
					}
				})
			},
		},
		{
			Name: "target-port-kept", Incidents: []string{"cloudnativelabs/kube-router#716", "cloudnativelabs/kube-router#841"}, Law: "services-reached",
			Upstream: "kube-router left the old target port in its tables when a service got another one.",
			Fault:    "Agents keep the ports that a slice had first.",
			Plant: func() *sim.Plant {
				first := map[service.Name][]service.SlicePort{}
				return endpointFacts(func(_ *life, s *service.Slice) {
					if first[s.Name] == nil {
						first[s.Name] = s.Ports
					}
					s.Ports = first[s.Name]
				})
			},
		},
		{
			Name: "deleted-service-restored", Incidents: []string{"cilium/cilium#4455", "cilium/cilium#4457"}, Law: "services-reached",
			Upstream: "Cilium restored services from its maps that had been deleted while its agent was down, and kept them.",
			Fault:    "An agent that starts again adds the services of its earlier life that nobody tells it of any more.",
			Plant:    func() *sim.Plant { return (&restored{}).plant() },
		},
		{
			Name: "peer-address-change-ignored", Incidents: []string{"cilium/cilium#31066", "cilium/cilium#31528"}, Law: "tunnels-symmetric",
			Upstream: "When a node got another address by DHCP, the agents of other nodes went on with the old one until they were restarted.",
			Fault:    "Agents keep the address that they first heard of another node.",
			Plant:    peerAddressKept,
		},
	}
}

func protocolsMixedUp() *sim.Plant {
	type place struct {
		node string
		at   netip.AddrPort
	}
	last := map[place]service.Service{}
	return &sim.Plant{Agent: agents(func(l *life, now time.Time, ev agent.Event) []agent.Effect {
		seen, is := ev.(agent.ServiceSeen)
		if !is || len(seen.Service.ClusterIPs) == 0 {
			return l.PlantedAgent.Step(now, ev)
		}
		at := place{l.node, netip.AddrPortFrom(seen.Service.ClusterIPs[0], seen.Service.Ports[0].Port)}
		var effects []agent.Effect
		if other, known := last[at]; known && other.Ports[0].Proto != seen.Service.Ports[0].Proto {
			effects = l.inner(now, agent.ServiceGone{Name: other.Name})
		}
		last[at] = seen.Service
		return append(effects, l.inner(now, ev)...)
	})}
}

// restored are the services that agents received in earlier lives, in that order.
type restored struct {
	order    []service.Name
	services map[service.Name]service.Service
	slices   map[service.Name]map[service.Name]service.Slice // by service
	told     map[request]map[service.Name]bool
}

func (r *restored) plant() *sim.Plant {
	r.services, r.slices, r.told = map[service.Name]service.Service{}, map[service.Name]map[service.Name]service.Slice{}, map[request]map[service.Name]bool{}
	return &sim.Plant{Agent: agents(r.step)}
}

func (r *restored) step(l *life, now time.Time, ev agent.Event) []agent.Effect {
	this := request{node: l.node, life: l.number}
	if r.told[this] == nil {
		r.told[this] = map[service.Name]bool{}
	}
	var effects []agent.Effect
	switch e := ev.(type) {
	case agent.ServiceSeen:
		if _, known := r.services[e.Service.Name]; !known {
			r.order = append(r.order, e.Service.Name)
		}
		r.services[e.Service.Name] = e.Service
		r.told[this][e.Service.Name] = true
	case agent.EndpointsSeen:
		of := service.Name{Namespace: e.Slice.Name.Namespace, Name: e.Slice.Service}
		if r.slices[of] == nil {
			r.slices[of] = map[service.Name]service.Slice{}
		}
		r.slices[of][e.Slice.Name] = e.Slice
	case agent.ServicesListed:
		for _, n := range r.former(l, this) {
			effects = append(effects, l.inner(now, agent.ServiceSeen{Service: r.services[n]})...)
			e.Names = append(slices.Clone(e.Names), n)
		}
		ev = e
	case agent.EndpointsListed:
		for _, n := range r.former(l, this) {
			for _, name := range slices.SortedFunc(maps.Keys(r.slices[n]), func(a, b service.Name) int { return strings.Compare(a.Name, b.Name) }) {
				effects = append(effects, l.inner(now, agent.EndpointsSeen{Slice: r.slices[n][name]})...)
				e.Names = append(slices.Clone(e.Names), name)
			}
		}
		ev = e
	}
	return append(effects, l.inner(now, ev)...)
}

// former are the services that only earlier lives have received.
func (r *restored) former(l *life, this request) []service.Name {
	if l.number == 1 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(r.order), func(n service.Name) bool { return r.told[this][n] })
}

func peerAddressKept() *sim.Plant {
	first := map[string]netip.Prefix{}
	return facts(func(l *life, ev agent.Event) (agent.Event, bool) {
		changed, is := ev.(agent.StoreChanged)
		if !is {
			return ev, true
		}
		changed.Items = slices.Clone(changed.Items)
		for i := range changed.Items {
			r, err := nodeid.ParseRecord(changed.Items[i].Value)
			if err != nil || r.Name == l.node || !r.Address.IsValid() {
				continue
			}
			if _, known := first[r.Name]; !known {
				first[r.Name] = r.Address
			}
			r.Address = first[r.Name]
			changed.Items[i].Value = r.String()
		}
		return changed, true
	})
}
