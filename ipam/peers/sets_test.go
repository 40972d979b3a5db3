package peers

import (
	"os"
	"testing"
)

// BenchmarkSets races what keeps no owners, addresses and node CIDRs, and leaves the slow peer out: the part of
// BenchmarkPeers that a change of ipam/space moves, in a quarter of a minute.
func BenchmarkSets(b *testing.B) {
	r := &report{out: os.Stdout}
	r.head()
	var races [][]*lane
	for _, fill := range fills {
		races = append(races, race(append(ourSets(), ciliumRange(), kubernetesServices()), fill))
	}
	r.table("One address of a /16 and back, ns (allocations), by how full it is", races)
	r.factors(races)
	r.nodeBlocks()
	r.foot()
	b.ReportMetric(0, "ns/op")
}
