package check

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/internal/clustertest"
)

// Goal: policies-kept sees what arrives although it is forbidden, what is dropped although it is allowed, and answers that are; and holds where
// filters do what policies say. Method: a cluster of two nodes whose pods one policy is for, with filters by hand on the interfaces of pods.
func TestPoliciesKept(t *testing.T) {
	any4 := netip.MustParsePrefix("0.0.0.0/0")
	rule := func(reflect bool) []fact.ACLRule {
		return []fact.ACLRule{{Permit: true, Reflect: reflect, Src: any4, Dst: any4}}
	}
	for _, tc := range []struct {
		name        string
		peers       []scenarios.PolicyPeer
		takes, gets []fact.ACLRule
		filtered    bool
		want        string
	}{
		{"nothing is filtered", []scenarios.PolicyPeer{"all"}, nil, nil, false, ""},
		{"a forbidden connection arrives", nil, nil, nil, false, "network policies forbid it, and it arrives"},
		{"an allowed one is dropped", []scenarios.PolicyPeer{"all"}, rule(true), nil, true, "network policies allow it, and an ACL drops it"},
		{"its answer is dropped", []scenarios.PolicyPeer{"all"}, rule(false), rule(false)[:0], true, "an ACL drops it"},
		{"an allowed one passes", []scenarios.PolicyPeer{"all"}, rule(true), rule(true), true, ""},
		{"a forbidden one is dropped, and the host's too", nil, rule(true), nil, true, "an ACL drops it"},
	} {
		c := newCluster(clustertest.Config{Veth: true}, 2, 2)
		s := c.Snapshot()
		s.Policies = scenarios.PolicyState{Policies: []scenarios.Policy{{Name: "p", Peers: tc.peers}}, Labels: map[string][]scenarios.Label{}}
		for i := range s.Nodes {
			n := &s.Nodes[i]
			for _, p := range n.Pods {
				s.Policies.Labels[p.Pod] = []scenarios.Label{"app=web"}
			}
			v := n.VPP.(*clustertest.VPP)
			if !tc.filtered {
				continue
			}
			v.Takes, v.Filters = map[uint32][]fact.ACLRule{}, map[uint32][]fact.ACLRule{}
			for x := range v.Interfaces() {
				if x.Type == fact.TypeAFPacket && strings.Contains(x.Name, "vd") {
					v.Takes[x.Index], v.Filters[x.Index] = tc.takes, tc.gets
				}
			}
		}
		occasions, err := checkPoliciesKept(s)
		if occasions == 0 || (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %d occasions, %v", tc.name, occasions, err)
		}
	}
}
