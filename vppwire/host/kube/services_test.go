package kube_test

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	v1 "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
	"github.com/vppdrill/vppdrill/vppwire/service"
)

func pointer[T any](v T) *T { return &v }

// drop deletes an object.
func (s *server) drop(resource, namespace, name string) {
	s.Remove(resource, namespace, name)
}

// expectAnyOrder compares what is told next: each story in its order, the stories in any.
func (h heard) expectAnyOrder(t *testing.T, stories ...[]agent.Event) {
	t.Helper()
	left := 0
	for _, s := range stories {
		left += len(s)
	}
	for ; left > 0; left-- {
		var ev agent.Event
		select {
		case ev = <-h:
		case <-time.After(90 * time.Second):
			t.Fatalf("not told: %+v", stories)
		}
		i := slices.IndexFunc(stories, func(s []agent.Event) bool {
			return len(s) > 0 && cmp.Equal(s[0], ev, cmpopts.EquateEmpty(), cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{}), cmp.Comparer(agedList))
		})
		if i < 0 {
			t.Fatalf("told %+v, want the first of one of %+v", ev, stories)
		}
		stories[i] = stories[i][1:]
	}
}

// Goal: an agent hears of services and slices as VPP can serve them, once all were told that they are all, and of each
// change; what others serve or nobody can is told as gone; an agent whose services are kube-proxy's hears nothing.
// Method: an API server's own objects, with and without what they need not say.
func TestServices(t *testing.T) {
	s := newServer(t)
	client, _ := s.dial(t)
	svc := func(name string, change func(*v1.Service)) v1.Service {
		out := v1.Service{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Service"}, ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
			Spec: v1.ServiceSpec{ClusterIP: "10.96.0.10", ClusterIPs: []string{"10.96.0.10", "fd00::a"}, Ports: []v1.ServicePort{{Name: "web", Port: 80, NodePort: 30080}}}}
		if change != nil {
			change(&out)
		}
		return out
	}
	slice := func(name string, change func(*discovery.EndpointSlice)) discovery.EndpointSlice {
		out := discovery.EndpointSlice{TypeMeta: metav1.TypeMeta{APIVersion: "discovery.k8s.io/v1", Kind: "EndpointSlice"},
			ObjectMeta:  metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{discovery.LabelServiceName: "web"}},
			AddressType: discovery.AddressTypeIPv4, Ports: []discovery.EndpointPort{{Name: pointer("web"), Port: pointer(int32(8080))}},
			Endpoints: []discovery.Endpoint{{Addresses: []string{"10.1.1.2"}, NodeName: pointer("node-1")},
				{Addresses: []string{"10.1.2.2"}, Conditions: discovery.EndpointConditions{Ready: pointer(false), Serving: pointer(true), Terminating: pointer(true)},
					Hints: &discovery.EndpointHints{ForZones: []discovery.ForZone{{Name: "b"}}, ForNodes: []discovery.ForNode{{Name: "node-2"}}}},
				{Addresses: []string{"fd00::1"}}, {}}}
		if change != nil {
			change(&out)
		}
		return out
	}
	name := func(n string) service.Name { return service.Name{Namespace: "default", Name: n} }
	s.put("services", svc("web", func(s *v1.Service) {
		s.Spec.ExternalIPs, s.Spec.SessionAffinity = []string{"198.51.100.1"}, v1.ServiceAffinityClientIP
		s.Spec.ExternalTrafficPolicy, s.Spec.InternalTrafficPolicy = v1.ServiceExternalTrafficPolicyLocal, pointer(v1.ServiceInternalTrafficPolicyLocal)
		s.Status.LoadBalancer.Ingress = []v1.LoadBalancerIngress{{IP: "198.51.100.2"}, {IP: "198.51.100.3", IPMode: pointer(v1.LoadBalancerIPModeProxy)}}
	}))
	s.put("services", svc("another", func(s *v1.Service) { s.Spec.Type = v1.ServiceTypeExternalName }))
	s.put("services", svc("beside", func(s *v1.Service) { s.Labels = map[string]string{"service.kubernetes.io/service-proxy-name": "mine"} }))
	s.put("services", svc("left", func(s *v1.Service) { s.Labels = map[string]string{kube.AgentLabel: kube.AgentNone} }))
	s.put("endpointslices", slice("web-1", nil))
	s.put("endpointslices", slice("web-6", func(s *discovery.EndpointSlice) { s.AddressType = discovery.AddressTypeIPv6 }))

	_, h := watch(t, kube.FactsConfig{Client: client, Node: "node-1", Services: true})
	_, deaf := watch(t, kube.FactsConfig{Client: client, Node: "node-1"})
	web := agent.ServiceSeen{Service: service.Service{Name: name("web"), ClusterIPs: []netip.Addr{netip.MustParseAddr("10.96.0.10")},
		ExternalIPs: []netip.Addr{netip.MustParseAddr("198.51.100.1"), netip.MustParseAddr("198.51.100.2")},
		Ports:       []service.Port{{Name: "web", Proto: vppwire.TCP, Port: 80, NodePort: 30080}}, Affinity: 10800, ExternalLocal: true, InternalLocal: true}}
	ends := agent.EndpointsSeen{Slice: service.Slice{Name: name("web-1"), Service: "web", Ports: []service.SlicePort{{Name: "web", Proto: vppwire.TCP, Port: 8080}},
		Endpoints: []service.Endpoint{{Addr: netip.MustParseAddr("10.1.1.2"), Node: "node-1", Ready: true, Serving: true},
			{Addr: netip.MustParseAddr("10.1.2.2"), Serving: true, Terminating: true, ForZones: []string{"b"}, ForNodes: []string{"node-2"}}}}}
	h.expectAnyOrder(t, []agent.Event{host.NodesListed{}, agent.PodsListed{}},
		[]agent.Event{agent.ServiceGone{Name: name("another")}, agent.ServiceGone{Name: name("beside")}, agent.ServiceGone{Name: name("left")}, web, agent.ServicesListed{Names: []service.Name{name("web")}}},
		[]agent.Event{ends, agent.EndpointsGone{Name: name("web-6")}, agent.EndpointsListed{Names: []service.Name{name("web-1")}}})
	deaf.expect(t, host.NodesListed{}, agent.PodsListed{})

	until(t, s.watched, func() string { return "nobody watches" })
	s.put("services", svc("dns", func(s *v1.Service) {
		s.Spec.ClusterIP, s.Spec.ClusterIPs = "None", nil
		s.Spec.Ports = []v1.ServicePort{{Port: 53, Protocol: v1.ProtocolUDP}, {Port: 54, Protocol: v1.ProtocolSCTP}}
	}))
	h.expect(t, agent.ServiceSeen{Service: service.Service{Name: name("dns"), Ports: []service.Port{{Proto: vppwire.UDP, Port: 53}, {Port: 54}}}})
	s.drop("services", "default", "web")
	h.expect(t, agent.ServiceGone{Name: name("web")})
	s.drop("endpointslices", "default", "web-1")
	h.expect(t, agent.EndpointsGone{Name: name("web-1")})
}
