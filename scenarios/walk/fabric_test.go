package walk_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/internal/clustertest"
	"github.com/vppdrill/vppdrill/scenarios/walk"
)

// Goal: a cloud's network carries a packet to a pod's address by its routes, whatever the frame says, and to a machine's
// address in any case. Method: two nodes on one wire, and a network with a route, without, and with wrong ones; the same
// through a tunnel, whose packets it does not look into.
func TestFabric(t *testing.T) {
	for _, tc := range []struct {
		name, route, node string
		tunnel            bool
		says              string // delivered when empty
	}{
		{"route", "10.0.0.0/8", "node-2", false, ""},
		{"none", "11.9.0.0/16", "node-2", false, "the cloud's network has no route to 10."},
		{"to another", "10.0.0.0/8", "node-1", false, "the cloud's network has route r to 10.0.0.0/8, which leads to node-1"},
		{"to nobody", "10.0.0.0/8", "", false, "the cloud's network has route r to 10.0.0.0/8, which leads to no node"},
		{"none, through a tunnel", "11.9.0.0/16", "node-2", true, ""},
	} {
		c := clustertest.New(clustertest.Config{Nodes: 2, PodsPerNode: 1, L2: !tc.tunnel})
		s := c.Snapshot()
		s.Fabric = &fact.Fabric{Pods: []netip.Prefix{clustertest.PodSubnet},
			Routes: []fact.FabricRoute{{Name: "r", Destination: netip.MustParsePrefix(tc.route), Node: tc.node}}}
		pod := s.Nodes[1].Pods[0]
		out := walk.New(s).Outcome(point(c, "node-1/0"), walk.Packet{Dst: pod.Addr})
		if out.To("node-2", pod.Netns) != (tc.says == "") || !strings.HasPrefix(out.Why, tc.says) {
			t.Errorf("%s: %+v, want %q", tc.name, out, tc.says)
		}
		if out := walk.New(s).Outcome(point(c, "node-1/0"), walk.Packet{Dst: s.Nodes[1].Address.Addr()}); out.Kind != walk.Delivered {
			t.Errorf("%s: to the node: %+v", tc.name, out)
		}
	}
}
