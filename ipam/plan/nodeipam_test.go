package plan

import (
	"fmt"
	"net/netip"
	"testing"

	"pgregory.net/rapid"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/nodeipam"
)

// serveNodes adds nodes to an allocator, answers its requests, and counts the nodes that got CIDRs, until one waits.
func serveNodes(t *rapid.T, r *nodeipam.RangeAllocator, labels map[string]string, name string) (n uint64) {
	for {
		node := nodeipam.KubeNode{Name: fmt.Sprint(name, n), UID: fmt.Sprint(name, n), Labels: labels}
		effects := r.Step(epoch, nodeipam.NodeAdded{Node: node})
		for len(effects) > 0 {
			e := effects[0]
			effects = effects[1:]
			if p, ok := e.(nodeipam.PatchNodeCIDRs); ok {
				effects = append(effects, r.Step(epoch, nodeipam.Answered{ID: p.ID, Outcome: ipam.Done})...)
			}
		}
		if len(r.NodeCIDRs(node.Name)) == 0 {
			r.Step(epoch, nodeipam.NodeDeleted{Node: node})
			return n
		}
		n++
	}
}

// Goal: as many nodes and pods fit as the range allocator serves: one family, two, with the service range inside, and
// ranges for selected nodes. Method: random small configurations; nodes join until one gets no block, of each kind of
// labels; pods are added to one node.
func TestNodeIPAMFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s NodeIPAM
		v4 := drawPrefix(t, "v4", 20, 24)
		if rapid.Bool().Draw(t, "service") {
			a := v4.Addr().As4()
			a[2] += byte(rapid.IntRange(0, 20).Draw(t, "service 3"))
			s.Params.ServiceCIDR = netip.PrefixFrom(netip.AddrFrom4(a), rapid.IntRange(19, 30).Draw(t, "service bits")).Masked()
		}
		bits4 := rapid.IntRange(v4.Bits(), 28).Draw(t, "node bits")
		s.Params.ClusterCIDRs, s.Params.NodeCIDRMaskSizes = []netip.Prefix{v4}, []int{bits4}
		if rapid.Bool().Draw(t, "dual") {
			bits := rapid.IntRange(112, 120).Draw(t, "v6 bits")
			s.Params.ClusterCIDRs = append(s.Params.ClusterCIDRs, netip.PrefixFrom(netip.MustParseAddr("fd00::"), bits))
			s.Params.NodeCIDRMaskSizes = append(s.Params.NodeCIDRMaskSizes, rapid.IntRange(bits, 122).Draw(t, "v6 node bits"))
		}
		multi := rapid.Bool().Draw(t, "multi")
		if multi {
			selector, err := nodeipam.ParseSelector("zone=a")
			if err != nil {
				t.Fatal(err)
			}
			s.Params.MultiCIDRs = []nodeipam.ClusterCIDR{{Name: "a", Selector: selector, PerNodeHostBits: rapid.IntRange(4, 6).Draw(t, "host bits"),
				IPv4: netip.PrefixFrom(netip.MustParseAddr("10.9.0.0"), rapid.IntRange(22, 26).Draw(t, "a bits"))}}
		}
		p, err := Make(s, Cluster{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := nodeipam.NewCIDRRangeAllocator(s.Params, nil)
		if err != nil {
			t.Fatal(err)
		}
		nodes := uint64(0)
		if multi {
			nodes += serveNodes(t, r, map[string]string{"zone": "a"}, "a")
		}
		nodes += serveNodes(t, r, nil, "n")
		if p.Nodes != nodes {
			t.Fatalf("%d nodes, want %d: %v", p.Nodes, nodes, p)
		}
		least := uint64(countMax)
		count := func(prefix netip.Prefix, bits int) {
			a, err := nodeipam.NewNode(nodeipam.NodeConfig{})
			if err != nil {
				t.Fatal(err)
			}
			least = min(least, exhaust(t, a, netip.PrefixFrom(prefix.Addr(), bits)))
		}
		for i, prefix := range s.Params.ClusterCIDRs {
			count(prefix, s.Params.NodeCIDRMaskSizes[i])
		}
		for _, c := range s.Params.MultiCIDRs {
			count(c.IPv4, 32-c.PerNodeHostBits)
		}
		if p.PodsPerNode != least {
			t.Fatalf("%d pods, want %d: %v", p.PodsPerNode, least, p)
		}
	})
}
