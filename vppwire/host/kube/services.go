package kube

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"

	v1 "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"

	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/service"
)

// proxyLabel says of a service that a proxy of that name serves it, and nobody else: kube-proxy's own convention.
const proxyLabel = "service.kubernetes.io/service-proxy-name"

// followServices tells services and their slices of endpoints until ctx ends. A gap has the kind listed again that it
// befell.
func (f *Facts) followServices(ctx context.Context, say func(...agent.Event)) {
	var both sync.WaitGroup
	defer both.Wait()
	both.Go(func() {
		one := func(s *v1.Service) agent.Event {
			read, served := serviceOf(s)
			if !served {
				f.short.tell(about("v1", "Service", s), nil)
				return agent.ServiceGone{Name: read.Name}
			}
			f.short.tell(about("v1", "Service", s), unserved(s))
			return agent.ServiceSeen{Service: read}
		}
		follow(ctx, f.cfg.Client, f.cfg.Client.CoreV1().Services(v1.NamespaceAll), "", &v1.Service{}, sink[*v1.Service]{
			listed: func(list []*v1.Service) {
				told := each(list, one)
				say(append(told, agent.ServicesListed{Names: seen(told)})...)
			},
			put: func(s *v1.Service, _ bool) { say(one(s)) },
			gone: func(s *v1.Service) {
				f.short.tell(about("v1", "Service", s), nil)
				say(agent.ServiceGone{Name: service.Name{Namespace: s.Namespace, Name: s.Name}})
			},
		})
	})
	both.Go(func() {
		one := func(s *discovery.EndpointSlice) agent.Event {
			read, usable := sliceOf(s)
			if !usable {
				return agent.EndpointsGone{Name: read.Name}
			}
			return agent.EndpointsSeen{Slice: read}
		}
		follow(ctx, f.cfg.Client, f.cfg.Client.DiscoveryV1().EndpointSlices(v1.NamespaceAll), "", &discovery.EndpointSlice{}, sink[*discovery.EndpointSlice]{
			listed: func(list []*discovery.EndpointSlice) {
				told := each(list, one)
				say(append(told, agent.EndpointsListed{Names: seen(told)})...)
			},
			put: func(s *discovery.EndpointSlice, _ bool) { say(one(s)) },
			gone: func(s *discovery.EndpointSlice) {
				say(agent.EndpointsGone{Name: service.Name{Namespace: s.Namespace, Name: s.Name}})
			},
		})
	})
}

// each is what to tell of every object of a list.
func each[T any](list []T, one func(T) agent.Event) []agent.Event {
	out := make([]agent.Event, len(list))
	for i, o := range list {
		out[i] = one(o)
	}
	return out
}

// seen are the names of what events tell to exist.
func seen(events []agent.Event) (names []service.Name) {
	for _, ev := range events {
		switch e := ev.(type) {
		case agent.ServiceSeen:
			names = append(names, e.Service.Name)
		case agent.EndpointsSeen:
			names = append(names, e.Slice.Name)
		}
	}
	return names
}

// serviceOf is what an agent looks at of a Service; false for one that others serve, or nobody. An address that cannot
// be read, and one of IPv6, is left out: the service exists all the same.
func serviceOf(s *v1.Service) (service.Service, bool) {
	out := service.Service{Name: service.Name{Namespace: s.Namespace, Name: s.Name}}
	if s.Spec.Type == v1.ServiceTypeExternalName || s.Labels[proxyLabel] != "" || s.Labels[AgentLabel] == AgentNone {
		return out, false
	}
	addresses := func(texts ...string) (list []netip.Addr) {
		for _, text := range texts {
			if a, err := netip.ParseAddr(text); err == nil && a.Is4() {
				list = append(list, a)
			}
		}
		return list
	}
	if out.ClusterIPs = addresses(s.Spec.ClusterIPs...); len(s.Spec.ClusterIPs) == 0 {
		out.ClusterIPs = addresses(s.Spec.ClusterIP)
	}
	out.ExternalIPs = addresses(s.Spec.ExternalIPs...)
	for _, in := range s.Status.LoadBalancer.Ingress {
		if fenced(s) {
			break // everybody could come
		}
		if in.IPMode == nil || *in.IPMode == v1.LoadBalancerIPModeVIP { // a proxy's address is the proxy's
			out.ExternalIPs = append(out.ExternalIPs, addresses(in.IP)...)
		}
	}
	for _, p := range s.Spec.Ports {
		out.Ports = append(out.Ports, service.Port{Name: p.Name, Proto: protoOf(p.Protocol), Port: uint16(p.Port), NodePort: uint16(p.NodePort)})
	}
	if s.Spec.SessionAffinity == v1.ServiceAffinityClientIP {
		out.Affinity = uint32(v1.DefaultClientIPServiceAffinitySeconds)
		if c := s.Spec.SessionAffinityConfig; c != nil && c.ClientIP != nil && c.ClientIP.TimeoutSeconds != nil {
			out.Affinity = uint32(*c.ClientIP.TimeoutSeconds)
		}
	}
	out.ExternalLocal = s.Spec.ExternalTrafficPolicy == v1.ServiceExternalTrafficPolicyLocal
	out.HealthPort = uint16(s.Spec.HealthCheckNodePort)
	out.InternalLocal = s.Spec.InternalTrafficPolicy != nil && *s.Spec.InternalTrafficPolicy == v1.ServiceInternalTrafficPolicyLocal
	return out, true
}

// fenced reports whether a Service says which clients may come to its load balancer's addresses, and not all of IPv4.
func fenced(s *v1.Service) bool {
	ranges := s.Spec.LoadBalancerSourceRanges
	return len(ranges) > 0 && !slices.ContainsFunc(ranges, func(r string) bool { return strings.TrimSpace(r) == "0.0.0.0/0" })
}

// Reasons of events about a Service that VPP does not serve as it says.
const (
	ReasonFenced   = "LoadBalancerAddressNotServed"
	ReasonProtocol = "ProtocolNotServed"
)

// unserved is what a Service that VPP serves says without effect.
func unserved(s *v1.Service) (list []shortcoming) {
	if fenced(s) {
		list = append(list, shortcoming{ReasonFenced, "its load balancer addresses are not served: VPP cannot keep clients out that spec.loadBalancerSourceRanges " +
			"does not name; remove that, or leave the Service to kube-proxy by the label " + AgentLabel + "=" + AgentNone})
	}
	for _, p := range s.Spec.Ports {
		if protoOf(p.Protocol) == 0 {
			list = append(list, shortcoming{ReasonProtocol, fmt.Sprintf("port %d is not served: VPP's NAT44 knows TCP and UDP, and not %s", p.Port, p.Protocol)})
		}
	}
	return list
}

// protoOf is zero for what is not served.
func protoOf(p v1.Protocol) vppwire.Proto {
	switch p {
	case v1.ProtocolTCP, "":
		return vppwire.TCP
	case v1.ProtocolUDP:
		return vppwire.UDP
	}
	return 0
}

// sliceOf is what an agent looks at of an EndpointSlice; false for one of another family, or of no service.
func sliceOf(s *discovery.EndpointSlice) (service.Slice, bool) {
	out := service.Slice{Name: service.Name{Namespace: s.Namespace, Name: s.Name}, Service: s.Labels[discovery.LabelServiceName]}
	if s.AddressType != discovery.AddressTypeIPv4 || out.Service == "" {
		return out, false
	}
	for _, p := range s.Ports {
		if p.Port == nil {
			continue // all ports: no service of this API has that
		}
		port := service.SlicePort{Port: uint16(*p.Port), Proto: vppwire.TCP}
		if p.Name != nil {
			port.Name = *p.Name
		}
		if p.Protocol != nil {
			port.Proto = protoOf(*p.Protocol)
		}
		out.Ports = append(out.Ports, port)
	}
	for _, e := range s.Endpoints {
		if len(e.Addresses) == 0 {
			continue
		}
		a, err := netip.ParseAddr(e.Addresses[0])
		if err != nil || !a.Is4() {
			continue
		}
		// What is not said means ready, serving and not terminating: k8s.io/api/discovery/v1, EndpointConditions.
		end := service.Endpoint{Addr: a, Ready: e.Conditions.Ready == nil || *e.Conditions.Ready,
			Terminating: e.Conditions.Terminating != nil && *e.Conditions.Terminating}
		end.Serving = end.Ready
		if e.Conditions.Serving != nil {
			end.Serving = *e.Conditions.Serving
		}
		if e.NodeName != nil {
			end.Node = *e.NodeName
		}
		if e.Hints != nil {
			for _, z := range e.Hints.ForZones {
				end.ForZones = append(end.ForZones, z.Name)
			}
			for _, n := range e.Hints.ForNodes {
				end.ForNodes = append(end.ForNodes, n.Name)
			}
		}
		out.Endpoints = append(out.Endpoints, end)
	}
	return out, true
}
