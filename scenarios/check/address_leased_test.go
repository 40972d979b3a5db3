package check

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios/internal/clustertest"
)

// Goal: a node that goes by another address than the leased one, a VPP without it, and an address that two have are
// each told; a right cluster is not. Method: three nodes, one lie at a time.
func TestAddressLeased(t *testing.T) {
	for _, c := range []struct {
		lie  func(*clustertest.Cluster)
		says string
	}{
		{func(*clustertest.Cluster) {}, ""},
		{func(c *clustertest.Cluster) { c.Nodes[2].AgentUp, c.Nodes[2].Address = false, netip.Prefix{} }, ""},
		{func(c *clustertest.Cluster) { c.Nodes[1].NodeState.Leased = netip.MustParsePrefix("192.168.16.77/24") }, "the node uses"},
		{func(c *clustertest.Cluster) {
			c.Nodes[1].NodeState.Leased = netip.MustParsePrefix("192.168.16.77/24")
			c.Nodes[1].Address = c.Nodes[1].NodeState.Leased
		}, "no interface of VPP has it"},
		{func(c *clustertest.Cluster) { c.Nodes[1].NodeState.Leased = c.Nodes[0].NodeState.Leased }, "is leased to node-1 too"},
	} {
		cluster := newCluster(wirings[0], 3, 1)
		for _, n := range cluster.Nodes {
			n.NodeState.Leased = n.Address
		}
		c.lie(cluster)
		occasions, err := checkLeased(cluster.Snapshot())
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) || occasions == 0 {
			t.Errorf("%d occasions, %v; want %q", occasions, err, c.says)
		}
	}
}
