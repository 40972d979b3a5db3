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
	"sigs.k8s.io/yaml"

	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host/kube"
)

// Goal: an agent that enforces policies hears of each as it is, with every part that Kubernetes has, of pods that policies may select and of
// namespaces; what it cannot enforce allows nothing, and its users are told so. Method: policies as people write them, pods of several
// kinds, and the lines of what is told.
func TestPolicies(t *testing.T) {
	s := newServer(t)
	client, _ := s.dial(t)
	s.addNode("node-1")
	for name, text := range map[string]string{
		"default": "podSelector: {}",
		"egress":  "{podSelector: {matchLabels: {app: web}}, egress: [{}]}",
		"whole": `
podSelector: {matchExpressions: [{key: tier, operator: In, values: [a, b]}, {key: old, operator: DoesNotExist}]}
policyTypes: [Ingress, Egress]
ingress:
- from: [{podSelector: {}}, {namespaceSelector: {matchLabels: {team: x}}}, {podSelector: {matchLabels: {app: a}}, namespaceSelector: {}}, {ipBlock: {cidr: 10.0.0.1/8, except: [10.1.0.0/16]}}]
  ports: [{port: 80}, {protocol: UDP}, {port: web}, {port: 8000, endPort: 8080, protocol: UDP}]`,
		"sctp":    "{podSelector: {}, ingress: [{ports: [{protocol: SCTP, port: 7}, {port: 80}]}]}",
		"unknown": `{podSelector: {matchExpressions: [{key: a, operator: Like}]}, policyTypes: [Sideways], egress: [{to: [{}, {ipBlock: {cidr: 10.0.0.0/8, except: [x]}}], ports: [{port: 9, endPort: 8}]}]}`,
	} {
		p := networking.NetworkPolicy{TypeMeta: metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "NetworkPolicy"},
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID("uid-" + name)}}
		if err := yaml.Unmarshal([]byte(text), &p.Spec); err != nil {
			t.Fatal(err)
		}
		s.put("networkpolicies", p)
	}
	pod := func(name string, change func(*v1.Pod)) {
		p := v1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Labels: map[string]string{"app": "web"}},
			Spec:   v1.PodSpec{Containers: []v1.Container{{Ports: []v1.ContainerPort{{Name: "http", ContainerPort: 8080}, {ContainerPort: 9}, {Name: "s", Protocol: v1.ProtocolSCTP, ContainerPort: 7}}}}},
			Status: v1.PodStatus{PodIPs: []v1.PodIP{{IP: "10.1.1.2"}, {IP: "fd00::2"}}}}
		change(&p)
		s.put("pods", p)
	}
	pod("web", func(*v1.Pod) {})
	pod("ended", func(p *v1.Pod) { p.Status.Phase = v1.PodSucceeded })
	pod("host", func(p *v1.Pod) { p.Spec.HostNetwork = true })
	s.put("namespaces", v1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: metav1.ObjectMeta{Name: "shop", Labels: map[string]string{"team": "x"}}})
	_, h := watch(t, kube.FactsConfig{Client: client, Node: "node-1", Policies: true})
	var got []string
	for lists := 0; lists < 3; {
		ev := <-h
		if _, is := ev.(agent.SelectablesListed); is {
			lists++
		}
		switch ev.(type) {
		case agent.PolicySeen, agent.PeerSeen, agent.NamespaceSeen, agent.SelectableGone, agent.SelectablesListed:
			got = append(got, string(ev.AppendText(nil)))
		}
	}
	slices.Sort(got)
	want := []string{
		"namespace-listed /shop",
		"namespace-seen shop label:team=x",
		"pod-gone shop/ended",
		"pod-gone shop/host",
		"pod-listed shop/ended shop/host shop/web",
		"peer-seen shop/web addrs=10.1.1.2,fd00::2 label:app=web port=http tcp at=8080",
		"policy-listed shop/default shop/egress shop/sctp shop/unknown shop/whole",
		"policy-seen shop/default pods=all ingress",
		"policy-seen shop/egress pods=app=web ingress egress to=all ports=all",
		"policy-seen shop/sctp pods=all ingress from=all ports=[none;tcp:80-80]",
		"policy-seen shop/unknown pods=a:?() ingress egress to=[nobody;nobody] ports=[none]",
		"policy-seen shop/whole pods=tier:in(a|b),old:absent() ingress from=[all;team=x/all;all/app=a;10.0.0.0/8-10.1.0.0/16] ports=[tcp:80-80;udp:0-65535;tcp:web;udp:8000-8080] egress",
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("told:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	events := func() (lines []string) {
		for _, o := range s.All("events") {
			of, _ := o["involvedObject"].(map[string]any)
			lines = append(lines, fmt.Sprint(of["name"], " ", o["reason"], " ", o["message"]))
		}
		slices.Sort(lines)
		return lines
	}
	told := []string{
		"sctp NetworkPolicyPartNotEnforced spec.ingress[0].ports[0]: protocol SCTP has no ports to agents, which know TCP and UDP: it allows nothing, and the rest of the policy is enforced",
		`unknown NetworkPolicyPartNotEnforced spec.egress[0].ports[0]: endPort is no end of a range of ports: it allows nothing`,
		`unknown NetworkPolicyPartNotEnforced spec.egress[0].to[0] has neither podSelector, namespaceSelector nor ipBlock: it allows nothing`,
		`unknown NetworkPolicyPartNotEnforced spec.egress[0].to[1].ipBlock.except[0] "x" is no prefix: it allows nothing`,
		`unknown NetworkPolicyPartNotEnforced spec.podSelector: operator "Like" is not known: it allows nothing`,
		`unknown NetworkPolicyPartNotEnforced spec.policyTypes "Sideways" is not known: it allows nothing`,
	}
	until(t, func() bool { return slices.EqualFunc(events(), told, strings.HasPrefix) }, func() string { return strings.Join(events(), "\n") })
}
