package scenarios

import (
	"fmt"
	"iter"
	"net/netip"
	"time"
)

// Service is a Kubernetes service of namespace default. Its endpoints are the pods of an application that have an address, or hosts.
type Service struct {
	Name string `yaml:"name" required:"true" pattern:"word" doc:"The service's name."`
	// App and Hosts are its endpoints; a service without either has none.
	App   string  `yaml:"app" pattern:"word" doc:"The application whose pods serve it."`
	Hosts NodeRef `yaml:"hosts" doc:"The node whose host serves it, or all: pods of the host's own network."`
	// ClusterIP is zero for a headless service.
	ClusterIP  netip.Addr    `yaml:"clusterIP" doc:"Its address in the cluster; headless when absent."`
	External   netip.Addr    `yaml:"externalIP" doc:"An address that leads to it from outside."`
	Protocol   Protocol      `yaml:"protocol" enum:"tcp,udp" doc:"What it speaks; tcp when absent."`
	Port       uint32        `yaml:"port" min:"1" max:"65535" doc:"Its port; 80 when absent."`
	TargetPort uint32        `yaml:"targetPort" min:"1" max:"65535" doc:"Where its endpoints listen; 8080 when absent."`
	NodePort   uint32        `yaml:"nodePort" min:"1" max:"65535" doc:"Its port on every node's own addresses; none when absent."`
	Affinity   time.Duration `yaml:"sessionAffinity" doc:"How long a client keeps its endpoint; not at all when absent."`
	// ExternalPolicy and InternalPolicy say which endpoints clients from outside and from inside get.
	ExternalPolicy TrafficPolicy `yaml:"externalTrafficPolicy" enum:"cluster,local" doc:"Whose endpoints clients from outside get; cluster when absent."`
	InternalPolicy TrafficPolicy `yaml:"internalTrafficPolicy" enum:"cluster,local" doc:"Whose endpoints clients from inside get; cluster when absent."`
	// HealthPort is where load balancers ask nodes for it.
	HealthPort uint32 `yaml:"healthCheckNodePort" min:"1" max:"65535" doc:"Where each node tells load balancers by HTTP whether it has endpoints; nowhere when absent. Needs externalTrafficPolicy local."`
	// Distribution chooses among what they get of all nodes.
	Distribution Distribution `yaml:"trafficDistribution" enum:"prefer-same-zone,prefer-same-node" doc:"Which endpoints clients get as long as there are any: those of their own zone, or node and else zone; all when absent."`
}

// Protocol is what a service speaks. The zero Protocol is TCP.
type Protocol string

// Protocols.
const (
	TCP Protocol = "tcp"
	UDP Protocol = "udp"
)

// Serving says who serves services.
type Serving string

// Who serves them: kube-proxy, of which nothing is modelled, or VPP.
const (
	ServedByKubeProxy Serving = "kube-proxy"
	ServedByVPP       Serving = "vpp"
)

// TrafficPolicy says whose endpoints a client gets. The zero policy is ClusterWide.
type TrafficPolicy string

// Policies: everybody's, or only those of the node that the client came to.
const (
	ClusterWide TrafficPolicy = "cluster"
	NodeLocal   TrafficPolicy = "local"
)

// Defaults of services.
const (
	servicePort       = 80
	serviceTargetPort = 8080
)

// Complete fills in what was not said.
func (s Service) Complete() Service {
	if s.Protocol == "" {
		s.Protocol = TCP
	}
	if s.Port == 0 {
		s.Port = servicePort
	}
	if s.TargetPort == 0 {
		s.TargetPort = serviceTargetPort
	}
	if s.ExternalPolicy == "" {
		s.ExternalPolicy = ClusterWide
	}
	if s.InternalPolicy == "" {
		s.InternalPolicy = ClusterWide
	}
	return s
}

// ChangeService makes a service what it says, a new one where there is none of that name.
type ChangeService Service

// RemoveService deletes a service.
type RemoveService struct {
	Service string `yaml:"service" required:"true" pattern:"word" doc:"The service's name."`
}

// SetReady makes pods ready or not: their readiness probes succeed or fail, and services let go of them.
type SetReady struct {
	App   string `yaml:"app" required:"true" pattern:"word" doc:"Pods of this application."`
	Count int    `yaml:"count" min:"0" max:"100000" doc:"How many of them; all when absent."`
	Ready bool   `yaml:"ready" doc:"Whether they are ready from now on."`
}

func (ChangeService) Verb() string { return "change-service" }
func (RemoveService) Verb() string { return "remove-service" }
func (SetReady) Verb() string      { return "set-ready" }

func (a ChangeService) String() string { return actionLine(a) }
func (a RemoveService) String() string { return actionLine(a) }
func (a SetReady) String() string      { return actionLine(a) }

// ServiceState is a service as the API server has it, for laws.
type ServiceState struct {
	Service
	// Zones are the cluster's.
	Zones Zones
	// Endpoints that take new sessions, in ascending address order.
	Endpoints []EndpointState
}

// EndpointState is one ready endpoint.
type EndpointState struct {
	Addr netip.Addr
	Node string
	// Netns is the pod's; empty for a host.
	Netns string
}

// problem says what is wrong with a service by itself.
func (s Service) problem() (field, message string) {
	switch {
	case s.App != "" && s.Hosts != "":
		return "hosts", "cannot be combined with app"
	case s.ClusterIP.IsValid() && !s.ClusterIP.Is4():
		return "clusterIP", "is not an IPv4 address: VPP's NAT44 serves no other"
	case s.External.IsValid() && !s.External.Is4():
		return "externalIP", "is not an IPv4 address: VPP's NAT44 serves no other"
	case s.HealthPort != 0 && s.ExternalPolicy != NodeLocal:
		return "healthCheckNodePort", "needs externalTrafficPolicy: local; otherwise every node serves"
	case s.HealthPort != 0 && s.HealthPort == s.NodePort:
		return "healthCheckNodePort", "is the nodePort, too"
	case s.Affinity%time.Second != 0 || s.Affinity < 0:
		return "sessionAffinity", "is not a number of whole seconds"
	}
	return "", ""
}

func (a ChangeService) problem() (field, message string) { return Service(a).problem() }

// everyService are the services of the start and those that the timeline makes or changes, by the path of each.
func (s *Scenario) everyService() iter.Seq2[string, Service] {
	return func(yield func(string, Service) bool) {
		for i, svc := range s.Services {
			if !yield(fmt.Sprintf("services[%d]", i), svc) {
				return
			}
		}
		for i, step := range s.Timeline {
			if svc, is := step.Action.(ChangeService); is && !yield(fmt.Sprintf("timeline[%d]", i), Service(svc)) {
				return
			}
		}
	}
}

// checkServices: services are listed where VPP serves them, each once.
func (s *Scenario) checkServices() *InputError {
	w := &s.Config.Wiring
	if len(s.Services) > 0 && w.Services != ServedByVPP {
		return s.wrongAt("services", "need config.wiring.services: vpp; nothing else here serves them")
	}
	if w.Services == ServedByVPP && w.Host == HostNone {
		return s.wrongAt("config.wiring.services", "needs a host interconnect: its address is that of clients that are their own endpoints")
	}
	for i, step := range s.Timeline {
		if _, is := step.Action.(ChangeService); is && w.Services != ServedByVPP {
			return s.wrongAt(fmt.Sprintf("timeline[%d].do", i), "change-service needs config.wiring.services: vpp; nothing else here serves services")
		}
	}
	for path, svc := range s.everyService() {
		if svc.Distribution == SameZone && s.Topology.Zones == 0 {
			return s.wrongAt(path+".trafficDistribution", "prefer-same-zone needs topology.zones: without zones all endpoints are alike")
		}
	}
	seen := map[string]bool{}
	for i, svc := range s.Services {
		path := fmt.Sprintf("services[%d]", i)
		if seen[svc.Name] {
			return s.wrongAt(path+".name", "%s is listed twice", svc.Name)
		}
		seen[svc.Name] = true
		if field, message := svc.problem(); message != "" {
			return s.wrongAt(path+"."+field, "%s", message)
		}
		if err := s.newHeld().checkServiceAddresses(path, s.Config.IPAM, svc); err != nil {
			return err
		}
	}
	return nil
}
