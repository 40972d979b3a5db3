package plan

import (
	"fmt"
	"net/netip"
	"testing"

	"pgregory.net/rapid"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// picker always picks the first.
type picker struct{}

func (picker) Pick(string, int) int { return 0 }

// drawPool is one to three ranges of a family that do not meet.
func drawPool(t *rapid.T, v6 bool, shortest, longest int) (ranges []netip.Prefix, bits int) {
	for i := range rapid.IntRange(1, 3).Draw(t, "ranges") {
		a, shift := netip.AddrFrom4([4]byte{10, byte(i), 0, 0}), 0
		if v6 {
			a, shift = netip.MustParseAddr(fmt.Sprintf("fd00:%d::", i)), 96
		}
		ranges = append(ranges, netip.PrefixFrom(a, shift+rapid.IntRange(shortest, 25).Draw(t, "bits")))
		bits = shift
	}
	return ranges, bits + rapid.IntRange(25, longest).Draw(t, "node bits")
}

// Goal: as many nodes get a CIDR of a cluster pool as the plan says, and as many pods an address of one. Method: random
// ranges of one family or two; nodes are assigned until the pool refuses, pods until the node is exhausted.
func TestClusterPoolFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c cilium.ClusterPoolConfig
		c.IPv4, c.MaskSize4 = drawPool(t, false, 20, 30)
		if rapid.Bool().Draw(t, "dual") {
			c.IPv6, c.MaskSize6 = drawPool(t, true, 20, 30)
		}
		kept := rapid.IntRange(0, 2).Draw(t, "kept")
		s := Cilium{Kept: kept, Pools: []CiliumPool{{Name: "default", PoolSpec: cilium.PoolSpec{IPv4: c.IPv4, IPv6: c.IPv6, MaskSize4: c.MaskSize4, MaskSize6: c.MaskSize6}}}}
		p, err := Make(s, Cluster{})
		if err != nil {
			t.Fatal(err)
		}
		pool, err := cilium.NewClusterPool(c)
		if err != nil {
			t.Fatal(err)
		}
		pool.FinishRestore()
		nodes, least := uint64(0), uint64(countMax)
		for {
			cidrs, _, err := pool.Assign(epoch, fmt.Sprint("n", nodes))
			if err != nil {
				break
			}
			nodes++
			if nodes > 1 {
				continue
			}
			for _, cidr := range cidrs {
				least = min(least, exhaust(t, keeping(t, kept), cidr))
			}
		}
		if p.Nodes != nodes || p.PodsPerNode != least {
			t.Fatalf("want %d nodes and %d pods: %v", nodes, least, p)
		}
	})
}

// keeping is a node that keeps the last addresses of each CIDR but the very last.
func keeping(t *rapid.T, kept int) *cilium.Node {
	n, err := cilium.NewNode(cilium.NodeConfig{Pick: picker{}, FirstRouter: true, Keep: func(block netip.Prefix) (list []netip.Addr) {
		for i := range kept {
			a, err := space.NthLast(block, uint64(i)+1)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, a)
		}
		return list
	}})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// settle lets a node with so many pods ask the operator until it wants nothing more, and reports whether it got it all.
func settle(t *rapid.T, o *cilium.PoolOperator, name string, pods, pre, kept int) bool {
	node := keeping(t, max(kept-1, 0))
	demand := cilium.NodeDemand{PreAllocate: pre}
	var n cilium.CiliumNode
	n.Metadata.Name, n.Metadata.UID = "n"+name, "u"+name
	for last := -1; ; {
		needed := demand.Needed(epoch, node)
		if kept == 0 {
			needed = cilium.NeededIPCeil(pods, pre) // no router either, as an agent without this module's wiring
		}
		n.Spec.IPAM.Pools.Requested = []cilium.PoolRequest{{Pool: cilium.DefaultPool, Needed: cilium.PoolDemand{IPv4Addrs: needed}}}
		allocated, _, err := o.Reconcile(epoch, &n)
		if err != nil {
			return false
		}
		n.Spec.IPAM.Pools.Allocated = allocated
		if needed == last || kept == 0 {
			return true
		}
		last = needed
		var blocks []netip.Prefix
		for _, a := range allocated {
			blocks = append(blocks, a.CIDRs...)
		}
		if _, err := node.SetBlocks(epoch, blocks); err != nil {
			t.Fatal(err)
		}
		for i := range pods {
			owner := ipam.Owner{Network: "n", ContainerID: fmt.Sprint(i), IfName: "eth0"}
			if _, _, err := node.Allocate(epoch, owner, ipam.Want{}); err != nil {
				demand.Refused(epoch, owner.String())
			} else {
				demand.Placed(owner.String())
			}
		}
	}
}

// Goal: as many nodes get what they ask of a pool in mode multi-pool as the plan says, when each has the expected pods.
// Method: random ranges, pre-allocations and pods; nodes ask the operator until one does not get all.
func TestMultiPoolFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranges, bits := drawPool(t, false, 23, 28)
		spec := cilium.PoolSpec{IPv4: ranges, MaskSize4: bits}
		pre := rapid.IntRange(1, 40).Draw(t, "pre-allocate")
		pods := rapid.IntRange(0, 40).Draw(t, "pods")
		kept := rapid.IntRange(0, 3).Draw(t, "kept") // the router's among them
		s := Cilium{Multi: true, Kept: kept, Pools: []CiliumPool{{Name: cilium.DefaultPool, PoolSpec: spec, PreAllocate: pre}}}
		p, err := Make(s, Cluster{PodsPerNode: uint64(pods)})
		if err != nil {
			t.Fatal(err)
		}
		o, err := cilium.NewPoolOperator(cilium.PoolOperatorConfig{})
		if err != nil {
			t.Fatal(err)
		}
		if err := o.UpsertPool(cilium.DefaultPool, spec); err != nil {
			t.Fatal(err)
		}
		o.FinishRestore()
		nodes, total := uint64(0), uint64(0)
		for settle(t, o, fmt.Sprint(nodes), pods, pre, kept) {
			nodes++
		}
		if p.Nodes != nodes {
			t.Fatalf("want %d nodes: %v", nodes, p)
		}
		// All pods of the pool: one node that asks for more and more.
		half := cilium.NewCIDRPool(cilium.RangeOptions{}, picker{})
		var all []netip.Prefix
		for _, r := range ranges {
			for i := range space.SubnetCount(r, bits) {
				one, err := space.Subnet(r, bits, i)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, one)
			}
		}
		if err := half.UpdatePool(all); err != nil {
			t.Fatal(err)
		}
		for ; ; total++ {
			if _, err := half.AllocateNext(); err != nil {
				break
			}
		}
		if total -= uint64(kept * len(all)); p.Pods != total {
			t.Fatalf("want %d pods: %v", total, p)
		}
	})
}
