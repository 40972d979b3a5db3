package policy_test

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/policy"
)

// Goal: a service's address passes where every endpoint there may be reached, and is refused by name where only some may. Method: a
// client that may send to one port of pods with a label, and services with such endpoints, others, and none.
func TestFronts(t *testing.T) {
	at := netip.MustParseAddrPort
	table := policy.New()
	table.Settle(policy.Place{Fronts: []policy.Front{
		{Addr: at("10.96.0.1:80"), Proto: vppwire.TCP, Endpoints: []netip.AddrPort{at("10.1.1.3:8080"), at("10.1.2.3:8080")}},
		{Addr: at("10.96.0.2:80"), Proto: vppwire.TCP, Endpoints: []netip.AddrPort{at("10.1.1.3:8080"), at("10.1.2.9:8080")}},
		{Addr: at("10.96.0.3:80"), Proto: vppwire.TCP, Endpoints: []netip.AddrPort{at("10.1.2.9:8080")}},
		{Addr: at("10.96.0.4:80"), Proto: vppwire.TCP, Endpoints: []netip.AddrPort{at("10.1.1.3:9090")}},
		{Addr: at("10.96.0.5:80"), Proto: vppwire.TCP},
	}})
	name := func(n string) policy.Name { return policy.Name{Namespace: "default", Name: n} }
	client := name("client")
	table.Hold([]policy.Name{client})
	for n, addr := range map[string]string{"client": "10.1.1.2", "web-1": "10.1.1.3", "web-2": "10.1.2.3"} {
		table.PodSeen(policy.Pod{Name: name(n), Labels: map[string]string{"app": n[:3]}, Addrs: []netip.Addr{netip.MustParseAddr(addr)}})
	}
	table.PolicySeen(policy.Policy{Name: name("p"), Pods: policy.Selector{Labels: map[string]string{"app": "cli"}}, Egress: true, EgressRules: []policy.Rule{{
		Peers: []policy.Peer{{Pods: &policy.Selector{Labels: map[string]string{"app": "web"}}}}, Ports: []policy.Port{{Proto: vppwire.TCP, First: 8080, Last: 8080}}}}})
	for _, k := range []policy.Kind{policy.Policies, policy.Pods, policy.Namespaces} {
		table.Listed(k, map[policy.Kind][]policy.Name{policy.Policies: {name("p")}, policy.Pods: {client, name("web-1"), name("web-2")}}[k])
	}
	changes, refused := table.Changes()
	if len(changes) != 1 || changes[0].Pod != client {
		t.Fatalf("changes %v", changes)
	}
	for i, want := range []bool{true, false, false, false, false} {
		if got := vppwire.Permits(changes[0].Filter.Egress, netip.MustParseAddr("10.1.1.2"), netip.AddrFrom4([4]byte{10, 96, 0, byte(i + 1)}), vppwire.TCP, 80); got != want {
			t.Errorf("service %d is let to: %t", i+1, got)
		}
	}
	if want := "[pod default/client is not let to 10.96.0.2:80 tcp: network policies allow it 1 of 2 endpoints there, and VPP asks before it chooses one]"; fmt.Sprint(refused) != want {
		t.Errorf("refused: %v", refused)
	}
}

// Goal: a service's address that a rule's block or the node's own address lets through leads to no endpoint that policies keep
// from the pod. Method: a client that may send to a block around pods and services but for one pod, and services with that pod behind them,
// with others, with both, and at the node's port.
func TestFrontsInABlock(t *testing.T) {
	at, node := netip.MustParseAddrPort, netip.MustParseAddr("172.30.1.1")
	table := policy.New()
	fronts := map[string]bool{"10.96.0.1:80": true, "10.96.0.2:80": false, "10.96.0.3:80": false, "172.30.1.1:30080": false, "172.30.1.1:30081": true}
	behind := map[string][]netip.AddrPort{"10.96.0.1:80": {at("10.1.1.3:80")}, "10.96.0.2:80": {at("10.1.1.9:80")}, "10.96.0.3:80": {at("10.1.1.3:80"), at("10.1.1.9:80")},
		"172.30.1.1:30080": {at("10.1.1.9:80")}, "172.30.1.1:30081": {at("10.1.1.3:80")}}
	place := policy.Place{Node: []netip.Addr{node}}
	for front := range fronts {
		place.Fronts = append(place.Fronts, policy.Front{Addr: at(front), Proto: vppwire.TCP, Endpoints: behind[front]})
	}
	table.Settle(place)
	client := policy.Name{Namespace: "default", Name: "client"}
	table.Hold([]policy.Name{client})
	table.PodSeen(policy.Pod{Name: client, Addrs: []netip.Addr{netip.MustParseAddr("10.1.1.2")}})
	table.PolicySeen(policy.Policy{Name: policy.Name{Namespace: "default", Name: "p"}, Egress: true, EgressRules: []policy.Rule{{
		Peers: []policy.Peer{{Block: netip.MustParsePrefix("10.0.0.0/8"), Except: []netip.Prefix{netip.MustParsePrefix("10.1.1.9/32")}}}}}})
	for _, k := range []policy.Kind{policy.Policies, policy.Pods, policy.Namespaces} {
		table.Listed(k, map[policy.Kind][]policy.Name{policy.Policies: {{Namespace: "default", Name: "p"}}, policy.Pods: {client}}[k])
	}
	table.Changes()
	f, _ := table.Filter(client)
	reaches := func(to netip.AddrPort) bool {
		return vppwire.Permits(f.Egress, netip.MustParseAddr("10.1.1.2"), to.Addr(), vppwire.TCP, to.Port())
	}
	for front, want := range fronts {
		if got := reaches(at(front)); got != want {
			t.Errorf("%s is let to: %t", front, got)
		}
	}
	if !reaches(at("10.96.0.2:81")) || !reaches(netip.AddrPortFrom(node, 22)) {
		t.Error("other ports than the service's are closed as well")
	}
}

// Goal: a pod of this node is closed until the API server has told its labels, where a policy could select it. Method: a pod without and with
// a policy in its namespace, and then with labels.
func TestUnknownPodIsClosed(t *testing.T) {
	table := policy.New()
	host := netip.MustParseAddr("172.30.1.1")
	table.Settle(policy.Place{Node: []netip.Addr{host}})
	pod := policy.Name{Namespace: "default", Name: "web"}
	table.Hold([]policy.Name{pod})
	for _, k := range []policy.Kind{policy.Policies, policy.Pods, policy.Namespaces} {
		if changes, _ := table.Changes(); changes != nil {
			t.Fatalf("decided before %s was listed", k)
		}
		table.Listed(k, nil)
	}
	reaches := func(from netip.Addr) bool {
		table.Changes()
		f, _ := table.Filter(pod)
		return vppwire.Permits(f.Ingress, from, netip.MustParseAddr("10.1.1.2"), vppwire.TCP, 80)
	}
	other := netip.MustParseAddr("10.1.1.3")
	if !reaches(other) {
		t.Error("closed without a policy")
	}
	table.PolicySeen(policy.Policy{Name: policy.Name{Namespace: "default", Name: "p"}, Pods: policy.Selector{Labels: map[string]string{"app": "db"}}, Ingress: true})
	if reaches(other) || !reaches(host) {
		t.Error("a pod of which nothing is known is open, or closed to its node")
	}
	table.PodSeen(policy.Pod{Name: pod, Labels: map[string]string{"app": "web"}})
	if !reaches(other) {
		t.Error("closed although no policy selects it")
	}
	table.PodSeen(policy.Pod{Name: pod, Labels: map[string]string{"app": "db"}})
	if reaches(other) || !reaches(host) {
		t.Error("open although a policy selects it")
	}
}
