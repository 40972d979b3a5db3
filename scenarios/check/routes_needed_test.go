package check

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/internal/clustertest"
	"github.com/vppdrill/vppdrill/vppwire"
)

// Goal: a route that a wider one makes superfluous is told, in VPP and on the host; one that is there for a reason is
// not. Method: two nodes that are wired right, one more route at a time.
func TestRoutesNeeded(t *testing.T) {
	within := netip.MustParsePrefix("198.18.0.0/16")
	for name, c := range map[string]struct {
		add  func(n *clustertest.Node)
		says string
	}{
		"none": {func(*clustertest.Node) {}, ""},
		"to the table that the default route leads to": {func(n *clustertest.Node) {
			n.VPP.API = append(n.VPP.API, fact.Route{Table: n.PodTable, Prefix: within, Action: fact.ActionLookup, Lookup: n.MainTable})
		}, "a route to 198.18.0.0/16 that is redundant: the route to 0.0.0.0/0 does the same"},
		"to another table": {func(n *clustertest.Node) {
			n.VPP.API = append(n.VPP.API, fact.Route{Table: n.PodTable, Prefix: within, Action: fact.ActionLookup, Lookup: 7})
		}, ""},
		"past a network of an interface's own": {func(n *clustertest.Node) {
			n.VPP.Ifaces = append(n.VPP.Ifaces, fact.Interface{Index: uint32(len(n.VPP.Ifaces)), Name: "loop7", Type: fact.TypeLoopback, Up: true,
				Table4: n.PodTable, Addrs: []netip.Prefix{netip.MustParsePrefix("198.18.0.1/15")}})
			n.VPP.API = append(n.VPP.API, fact.Route{Table: n.PodTable, Prefix: within, Action: fact.ActionLookup, Lookup: n.MainTable})
		}, ""},
		"to a former range": {func(n *clustertest.Node) {
			n.FormerPodSubnets = []netip.Prefix{within}
			n.VPP.API = append(n.VPP.API, fact.Route{Table: n.PodTable, Prefix: within, Action: fact.ActionLookup, Lookup: n.MainTable})
		}, ""},
		"of an agent that does not run": {func(n *clustertest.Node) {
			stopAgent(n)
			n.VPP.API = append(n.VPP.API, fact.Route{Table: n.PodTable, Prefix: within, Action: fact.ActionLookup, Lookup: n.MainTable})
		}, ""},
		"of the host's": {func(n *clustertest.Node) {
			part := netip.PrefixFrom(n.PodSubnet.Addr(), n.PodSubnet.Bits()+4)
			n.Linux.Spaces[""].Routes = append(n.Linux.Spaces[""].Routes, vppwire.HostRoute{Dst: part, Via: n.HostVPP, Link: vppwire.HostLinuxDevice})
		}, "that is redundant: the route to 10.0.0.0/8 does the same"},
		"of the host's past VPP": {func(n *clustertest.Node) {
			part := netip.PrefixFrom(n.PodSubnet.Addr(), n.PodSubnet.Bits()+4)
			n.Linux.Spaces[""].Routes = append(n.Linux.Spaces[""].Routes, vppwire.HostRoute{Dst: part, Via: n.HostVPP.Next(), Link: vppwire.HostLinuxDevice})
		}, ""},
		// Its default route goes back to the NIC.
		"of a host whose NIC VPP has": {func(n *clustertest.Node) {
			n.Steal()
			r := vppwire.HostRoute{Dst: netip.MustParsePrefix("169.254.1.1/32"), Via: clustertest.Gateway, Link: vppwire.HostLinuxDevice}
			n.Linux.Spaces[""].Routes = append(n.Linux.Spaces[""].Routes, r)
		}, ""},
		"of a host whose NIC VPP has, beside one to more": {func(n *clustertest.Node) {
			n.Steal()
			part := netip.PrefixFrom(n.PodSubnet.Addr(), n.PodSubnet.Bits()+4)
			n.Linux.Spaces[""].Routes = append(n.Linux.Spaces[""].Routes, vppwire.HostRoute{Dst: part, Via: clustertest.Gateway, Link: vppwire.HostLinuxDevice})
		}, "that is redundant: the route to 10.0.0.0/8 does the same"},
	} {
		cluster := newCluster(wirings[0], 2, 1)
		c.add(cluster.Nodes[0])
		freeze(cluster)
		occasions, err := checkRoutesNeeded(cluster.Snapshot())
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) || occasions == 0 {
			t.Errorf("%s: %d occasions, %v; want %q", name, occasions, err, c.says)
		}
	}
}
