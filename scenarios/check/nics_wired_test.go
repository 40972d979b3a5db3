package check

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/internal/clustertest"
)

// Goal: a further interface that is missing, down, in another table, without its address or with one too many, and one
// that pods do not reach, are each told; a right cluster is not. Method: two nodes with one each, one lie at a time.
func TestNICsWired(t *testing.T) {
	const name = "GigabitEthernet0/9/0"
	addr := func(i int) netip.Prefix {
		return netip.PrefixFrom(netip.AddrFrom4([4]byte{100, 77, 0, byte(i + 1)}), 24)
	}
	for _, c := range []struct {
		lie  func(c *clustertest.Cluster, nic *fact.Interface)
		says string
	}{
		{func(*clustertest.Cluster, *fact.Interface) {}, ""},
		{func(_ *clustertest.Cluster, nic *fact.Interface) { nic.Name = "GigabitEthernet0/b/0" }, "VPP no longer has"},
		{func(_ *clustertest.Cluster, nic *fact.Interface) { nic.Up = false }, "is down"},
		{func(_ *clustertest.Cluster, nic *fact.Interface) { nic.Table4 = 7 }, "is in table 7"},
		{func(_ *clustertest.Cluster, nic *fact.Interface) { nic.Addrs = nil }, "does not have 100.77.0.1/24"},
		{func(_ *clustertest.Cluster, nic *fact.Interface) {
			nic.Addrs = append(nic.Addrs, netip.MustParsePrefix("100.78.0.1/24"))
		}, "has other addresses than"},
		{func(c *clustertest.Cluster, _ *fact.Interface) {
			n := c.Nodes[0]
			n.VPP.API = append(n.VPP.API, fact.Route{Table: n.PodTable, Prefix: netip.MustParsePrefix("100.77.0.1/32"), Action: fact.ActionDrop, API: true})
		}, "does not reach 100.77.0.1"},
	} {
		cluster := newCluster(wirings[0], 2, 1)
		var first *fact.Interface
		for i, n := range cluster.Nodes {
			n.OtherNICs = []fact.OtherNIC{{Name: name, Addr: addr(i)}}
			n.VPP.Ifaces = append(n.VPP.Ifaces, fact.Interface{Index: uint32(len(n.VPP.Ifaces)), Name: name, Type: fact.TypeNIC, Up: true,
				Table4: n.MainTable, Addrs: []netip.Prefix{addr(i)}})
		}
		first = &cluster.Nodes[0].VPP.Ifaces[len(cluster.Nodes[0].VPP.Ifaces)-1]
		c.lie(cluster, first)
		for _, n := range cluster.Nodes {
			n.VPP.Freeze()
		}
		occasions, err := checkNICsWired(cluster.Snapshot())
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) || occasions == 0 {
			t.Errorf("%d occasions, %v; want %q", occasions, err, c.says)
		}
	}
}
