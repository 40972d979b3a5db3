package cilium

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/yardstick"
)

var fills = [...]int{0, 500, 900, 990, 999} // per mille

// filled gives out so many per mille of a /16 below AllocateNext's cost.
func filled(b *testing.B, perMille int) *CIDRRange {
	r, err := NewCIDRRange(netip.MustParsePrefix("10.1.0.0/16"), RangeOptions{}, new(scatter))
	if err != nil {
		b.Fatal(err)
	}
	for range int(r.Max()) * perMille / 1000 {
		if _, err := r.AllocateNext(); err != nil {
			b.Fatal(err)
		}
	}
	return r
}

// The budget is 200 ns and no allocation for one address at any fill of a /16.
func BenchmarkRange(b *testing.B) {
	pairs(b, func(*CIDRRange) {})
}

// A /24 inside the range is excluded: a search passes it over as one word, whatever it holds.
func BenchmarkRangeWithExclusions(b *testing.B) {
	pairs(b, func(r *CIDRRange) { r.Exclude(netip.MustParsePrefix("10.1.7.0/24")) })
}

// pairs takes an address and gives it back, at every fill of a range that has been changed.
func pairs(b *testing.B, change func(*CIDRRange)) {
	for _, fill := range fills {
		b.Run(fmt.Sprintf("fill=%.1f%%", float64(fill)/10), func(b *testing.B) {
			yardstick.Beside(b)
			r := filled(b, fill)
			change(r)
			if r.Free() == 0 {
				b.Skip("nothing is left")
			}
			b.ReportAllocs()
			for b.Loop() {
				ip, err := r.AllocateNext()
				if err != nil {
					b.Fatal(err)
				}
				r.Release(ip)
			}
		})
	}
}

func BenchmarkIPAM(b *testing.B) {
	for _, fill := range fills {
		b.Run(fmt.Sprintf("fill=%.1f%%", float64(fill)/10), func(b *testing.B) {
			yardstick.Beside(b)
			i, err := NewIPAM(Addressing{CIDR4: netip.MustParsePrefix("10.1.0.0/16")}, Configuration{EnableIPv4: true, Pick: new(scatter)}, nil)
			if err != nil {
				b.Fatal(err)
			}
			for range 65534 * fill / 1000 {
				if _, err := i.AllocateNextFamily(IPv4, "pod"); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				r, err := i.AllocateNextFamily(IPv4, "pod")
				if err != nil {
					b.Fatal(err)
				}
				if err := i.ReleaseIP(r.IP); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// sandbox is an owner as kubelet makes them: a 64-digit container ID.
func sandbox(n int) ipam.Owner {
	return ipam.Owner{Network: "k8s-pod-network", ContainerID: fmt.Sprintf("%064x", n), IfName: "eth0"}
}

// The budget is 1 µs for one address with its owner's bookkeeping, at any fill of a /16.
func BenchmarkNode(b *testing.B) {
	for _, fill := range fills {
		b.Run(fmt.Sprintf("fill=%.1f%%", float64(fill)/10), func(b *testing.B) {
			yardstick.Beside(b)
			n := nodeWith(b, NodeConfig{Pick: new(scatter)}, "10.1.0.0/16")
			for i := range 65533 * fill / 1000 {
				if _, _, err := n.Allocate(epoch, sandbox(i), ipam.Want{}); err != nil {
					b.Fatal(err)
				}
			}
			owners := make([]ipam.Owner, 1024)
			for i := range owners {
				owners[i] = sandbox(1<<20 + i)
			}
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				o := owners[i&1023]
				if _, _, err := n.Allocate(epoch, o, ipam.Want{}); err != nil {
					b.Fatal(err)
				}
				n.Release(epoch, o)
				i++
			}
		})
	}
}

// A CIDR for a node and back, with as many nodes as the pool nearly holds.
func BenchmarkClusterPool(b *testing.B) {
	yardstick.Beside(b)
	p, err := NewClusterPool(ClusterPoolConfig{IPv4: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}})
	if err != nil {
		b.Fatal(err)
	}
	p.FinishRestore()
	for i := range 65535 {
		if _, _, err := p.Assign(epoch, fmt.Sprintf("node-%d", i)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := p.Assign(epoch, "last"); err != nil {
			b.Fatal(err)
		}
		p.Unassign(epoch, "last")
	}
}

// One resync of an operator with nothing to do, per node.
func BenchmarkOperatorResync(b *testing.B) {
	yardstick.Beside(b)
	const nodes = 2000
	o, err := NewOperator(OperatorConfig{ReleaseExcessIPs: true, ReleaseDelay: DefaultReleaseDelay})
	if err != nil {
		b.Fatal(err)
	}
	for i := range nodes {
		n := &CiliumNode{Metadata: ObjectMeta{Name: fmt.Sprintf("node-%d", i)}}
		n.Spec.IPAM.Pool = make(AllocationMap)
		ip := netip.MustParseAddr("10.0.0.1")
		for range 30 {
			n.Spec.IPAM.Pool[ip] = AllocationIP{}
			if ip = ip.Next(); len(n.Spec.IPAM.Pool) == 22 {
				n.Status.IPAM.Used = make(AllocationMap)
				for used := range n.Spec.IPAM.Pool {
					n.Status.IPAM.Used[used] = AllocationIP{}
				}
			}
		}
		if _, err := o.Update(epoch, n); err != nil {
			b.Fatal(err)
		}
		if a := o.Listed(epoch, n.Metadata.Name, n.Spec.IPAM.Pool); len(a) > 0 {
			b.Fatal(a)
		}
	}
	for b.Loop() {
		if a := o.Resync(epoch); len(a) > 0 {
			b.Fatal(a)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*nodes), "ns/node")
}
