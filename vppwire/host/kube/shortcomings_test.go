package kube_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
)

// Goal: what objects of a cluster ask for in vain is told once by an event about the object, however many agents there
// are; a load balancer's addresses that not everybody may come to are not served, and others are; where kube-proxy
// serves, nothing is said of Services. Method: two agents of a server, a policy and Services with each of the settings,
// and one more change of each.
func TestShortcomings(t *testing.T) {
	s := newServer(t)
	client, _ := s.dial(t)
	meta := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID("uid-" + name)}
	}
	put := func(name string, change func(*v1.Service)) {
		svc := v1.Service{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Service"}, ObjectMeta: meta(name), Spec: v1.ServiceSpec{
			Type: v1.ServiceTypeLoadBalancer, ClusterIP: "10.96.0.10", Ports: []v1.ServicePort{{Port: 80}}, ExternalIPs: []string{"198.51.100.1"}}}
		svc.Status.LoadBalancer.Ingress = []v1.LoadBalancerIngress{{IP: "203.0.113.9"}}
		change(&svc)
		s.put("services", svc)
	}
	s.addNode("node-1")
	s.addNode("node-2")
	s.put("networkpolicies", networking.NetworkPolicy{TypeMeta: metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "NetworkPolicy"}, ObjectMeta: meta("closed")})
	put("fenced", func(s *v1.Service) { s.Spec.LoadBalancerSourceRanges = []string{"192.0.2.0/24"} })
	put("open", func(s *v1.Service) { s.Spec.LoadBalancerSourceRanges = []string{"192.0.2.0/24", "0.0.0.0/0"} })
	put("checked", func(s *v1.Service) { s.Spec.HealthCheckNodePort = 31000 })
	put("sctp", func(s *v1.Service) { s.Spec.Ports[0].Protocol = v1.ProtocolSCTP })
	want := []string{
		"closed NetworkPolicyNotEnforced it is not enforced",
		"fenced LoadBalancerAddressNotServed its load balancer addresses are not served",
		"sctp ProtocolNotServed port 80 is not served",
	}
	told := func() (lines []string) {
		for _, o := range s.All("events") {
			of, _ := o["involvedObject"].(map[string]any)
			lines = append(lines, fmt.Sprint(of["name"], " ", o["reason"], " ", o["message"]))
		}
		slices.Sort(lines)
		return lines
	}
	same := func() bool {
		return slices.EqualFunc(told(), want, strings.HasPrefix)
	}
	watch(t, kube.FactsConfig{Client: client, Node: "node-2"})
	until(t, func() bool { return len(told()) == 1 }, func() string { return strings.Join(told(), "\n") })
	_, h := watch(t, kube.FactsConfig{Client: client, Node: "node-1", Services: true})
	until(t, same, func() string { return strings.Join(told(), "\n") })

	external := map[string]int{}
	for range 20 {
		ev := <-h
		if svc, ok := ev.(agent.ServiceSeen); ok {
			external[svc.Service.Name.Name] = len(svc.Service.ExternalIPs)
		}
		if len(external) == 4 {
			break
		}
	}
	for name, n := range map[string]int{"fenced": 1, "open": 2, "checked": 2, "sctp": 2} {
		if external[name] != n {
			t.Errorf("%s is served at %d external addresses, not %d", name, external[name], n)
		}
	}
	put("checked", func(s *v1.Service) { s.Spec.HealthCheckNodePort, s.Labels = 31000, map[string]string{"a": "b"} })
	put("open", func(s *v1.Service) { s.Spec.LoadBalancerSourceRanges = []string{"192.0.2.0/24"} })
	want = append(want, "open LoadBalancerAddressNotServed")
	slices.Sort(want)
	until(t, same, func() string { return strings.Join(told(), "\n") })
}
