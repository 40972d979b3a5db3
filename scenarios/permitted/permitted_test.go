package permitted

import (
	"net/netip"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios"
)

// Goal: policies are read as Kubernetes puts it: labels, namespaces, blocks with exceptions, ranges of ports, directions, and several policies.
// Method: a table of two pods.
func TestPoliciesRead(t *testing.T) {
	web := &Pod{Addr: netip.MustParseAddr("10.1.1.2"), Labels: []scenarios.Label{"app=web"}}
	shop := &Pod{Addr: netip.MustParseAddr("10.1.2.3"), Labels: []scenarios.Label{"app=shop"}}
	for _, tc := range []struct {
		policies []scenarios.Policy
		want     bool
	}{
		{nil, true},
		{[]scenarios.Policy{{}}, false},
		{[]scenarios.Policy{{Pods: []scenarios.Label{"app=db"}}}, true},
		{[]scenarios.Policy{{Peers: []scenarios.PolicyPeer{"app=shop"}, Ports: []scenarios.PolicyPort{"tcp:79-80"}}}, true},
		{[]scenarios.Policy{{Peers: []scenarios.PolicyPeer{"app=shop"}, Ports: []scenarios.PolicyPort{"udp:80", "tcp:81"}}}, false},
		{[]scenarios.Policy{{Peers: []scenarios.PolicyPeer{"namespace:open=yes"}}}, true},
		{[]scenarios.Policy{{Peers: []scenarios.PolicyPeer{"10.1.0.0/16-10.1.2.0/24"}}}, false},
		{[]scenarios.Policy{{Peers: []scenarios.PolicyPeer{"10.1.0.0/16-10.1.1.0/24"}}}, true},
		{[]scenarios.Policy{{}, {Peers: []scenarios.PolicyPeer{"all"}}}, true},
		{[]scenarios.Policy{{Pods: []scenarios.Label{"app=shop"}, Directions: []scenarios.Direction{"egress"}}}, false},
		{[]scenarios.Policy{{Pods: []scenarios.Label{"app=shop"}}}, true},
	} {
		s := &scenarios.PolicyState{Policies: tc.policies, Namespace: []scenarios.Label{"open=yes"}}
		if got := Allowed(s, shop, web, Port{scenarios.TCP, 80}); got != tc.want {
			t.Errorf("%+v: %t", tc.policies, got)
		}
	}
}
