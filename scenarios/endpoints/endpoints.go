package endpoints

import (
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/service"
)

// namespace is that of all services of scenarios.
const namespace = "default"

// Pod is a running pod that has an address.
type Pod struct {
	App, Node string
	Addr      netip.Addr
	// Unready: it fails its readiness probe. Deleting: its deletion was asked for.
	Unready, Deleting bool
}

// Host is a node with its first address.
type Host struct {
	Name string
	Addr netip.Addr
}

func proto(p scenarios.Protocol) vppwire.Proto {
	if p == scenarios.UDP {
		return vppwire.UDP
	}
	return vppwire.TCP
}

// Service is a scenario's service, complete, as the API server has it.
func Service(s scenarios.Service) service.Service {
	out := service.Service{Name: service.Name{Namespace: namespace, Name: s.Name}, Affinity: uint32(s.Affinity / time.Second),
		ExternalLocal: s.ExternalPolicy == scenarios.NodeLocal, InternalLocal: s.InternalPolicy == scenarios.NodeLocal, HealthPort: uint16(s.HealthPort),
		Ports: []service.Port{{Proto: proto(s.Protocol), Port: uint16(s.Port), NodePort: uint16(s.NodePort)}}}
	if s.ClusterIP.IsValid() {
		out.ClusterIPs = []netip.Addr{s.ClusterIP}
	}
	if s.External.IsValid() {
		out.ExternalIPs = []netip.Addr{s.External}
	}
	return out
}

// Slice is what the controller makes of a service, complete: its application's pods, and the hosts that serve it, with
// hints for the clients that the service's traffic distribution means each ready one for.
func Slice(s scenarios.Service, zones scenarios.Zones, pods []Pod, hosts []Host) service.Slice {
	out := service.Slice{Name: service.Name{Namespace: namespace, Name: s.Name}, Service: s.Name,
		Ports: []service.SlicePort{{Proto: proto(s.Protocol), Port: uint16(s.TargetPort)}}}
	for _, p := range pods {
		if s.App == "" || p.App != s.App {
			continue
		}
		out.Endpoints = append(out.Endpoints, service.Endpoint{Addr: p.Addr, Node: p.Node, Ready: !p.Unready && !p.Deleting, Serving: !p.Unready, Terminating: p.Deleting})
	}
	for _, h := range hosts {
		if s.Hosts == scenarios.AllNodes || string(s.Hosts) == h.Name {
			out.Endpoints = append(out.Endpoints, service.Endpoint{Addr: h.Addr, Node: h.Name, Ready: true, Serving: true})
		}
	}
	for i := range out.Endpoints {
		hint(&out.Endpoints[i], s.Distribution, zones)
	}
	return out
}

// hint is the controller's of one endpoint (ReconcileHints of k8s.io/endpointslice/trafficdist).
func hint(e *service.Endpoint, d scenarios.Distribution, zones scenarios.Zones) {
	if d == "" || !e.Ready {
		return
	}
	if zone := zones.Of(e.Node); zone != "" {
		e.ForZones = []string{zone}
	}
	if d == scenarios.SameNode {
		e.ForNodes = []string{e.Node}
	}
}

// State is a service with its slice as laws see it, with the namespaces of the nodes' pods.
func State(s scenarios.Service, zones scenarios.Zones, slice service.Slice, nodes []fact.NodeState) scenarios.ServiceState {
	out := scenarios.ServiceState{Service: s, Zones: zones}
	for _, e := range slice.Endpoints {
		if !e.Ready {
			continue
		}
		at := scenarios.EndpointState{Addr: e.Addr, Node: e.Node}
		for i := range nodes {
			for _, p := range nodes[i].Pods {
				if nodes[i].Name == e.Node && p.Addr == e.Addr {
					at.Netns = p.Netns
				}
			}
		}
		out.Endpoints = append(out.Endpoints, at)
	}
	slices.SortFunc(out.Endpoints, func(a, b scenarios.EndpointState) int { return a.Addr.Compare(b.Addr) })
	return out
}
