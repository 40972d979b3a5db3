package contiv

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/yardstick"
)

// sandbox is an owner as kubelet makes them: a 64-digit container ID.
func sandbox(n int) ipam.Owner {
	return ipam.Owner{Network: "k8s-pod-network", ContainerID: fmt.Sprintf("%064x", n), IfName: "eth0"}
}

// The budget is 1 µs for one address with its owner's bookkeeping, at any fill of a /16.
func BenchmarkAllocateRelease(b *testing.B) {
	for _, delay := range [...]time.Duration{0, 10 * time.Microsecond} {
		for _, fill := range [...]int{0, 500, 900, 990, 999} {
			b.Run(fmt.Sprintf("delay=%s/fill=%.1f%%", delay, float64(fill)/10), func(b *testing.B) {
				yardstick.Beside(b)
				a := oneBlock(b, Config{ReuseDelay: delay}, "10.1.0.0/16")
				for n := range (1<<16 - 100) * fill / 1000 {
					if _, _, err := a.Allocate(epoch, sandbox(n), ipam.Want{}); err != nil {
						b.Fatal(err)
					}
				}
				owners := make([]ipam.Owner, 1024)
				for i := range owners {
					owners[i] = sandbox(1<<20 + i)
				}
				now, n := epoch, 0
				b.ReportAllocs()
				for b.Loop() {
					o := owners[n&1023]
					if _, _, err := a.Allocate(now, o, ipam.Want{}); err != nil {
						b.Fatal(err)
					}
					a.Release(now, o)
					now = now.Add(time.Microsecond)
					n++
				}
			})
		}
	}
}

// BenchmarkLeaseMemory measures what a lease costs beyond its key, at 30 pods a node and at a full /16.
func BenchmarkLeaseMemory(b *testing.B) {
	for _, c := range [...]struct {
		nodes, pods int
		block       string
	}{{1000, 30, "10.1.0.0/24"}, {1, 65000, "10.1.0.0/16"}} {
		b.Run(fmt.Sprintf("nodes=%d/pods=%d", c.nodes, c.pods), func(b *testing.B) {
			yardstick.Beside(b)
			keys := make([]ipam.Owner, c.pods)
			for i := range keys {
				keys[i] = sandbox(i)
			}
			var perLease float64
			for b.Loop() {
				before := heapBytes()
				all := make([]*Allocator, c.nodes)
				for n := range all {
					all[n] = oneBlock(b, Config{}, c.block)
					for _, o := range keys {
						if _, _, err := all[n].Allocate(epoch, o, ipam.Want{}); err != nil {
							b.Fatal(err)
						}
					}
				}
				const key = 48 // three string headers
				perLease = float64(heapBytes()-before)/float64(c.nodes*c.pods) - key
				runtime.KeepAlive(all)
			}
			b.ReportMetric(perLease, "B/lease-beyond-key")
		})
	}
}

func heapBytes() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func BenchmarkReplay(b *testing.B) {
	yardstick.Beside(b)
	a := oneBlock(b, Config{}, "10.1.0.0/16")
	for n := range 10000 {
		if _, _, err := a.Allocate(epoch, sandbox(n), ipam.Want{}); err != nil {
			b.Fatal(err)
		}
	}
	records := a.Records()
	for b.Loop() {
		fresh, err := New(Config{})
		if err != nil {
			b.Fatal(err)
		}
		for _, r := range records {
			if err := fresh.Apply(r); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(records)), "ns/record")
}

func BenchmarkNodePlan(b *testing.B) {
	yardstick.Beside(b)
	p := resolve(b, IPAMConfig{PodSubnetCIDR: "10.0.0.0/10", PodSubnetOneNodePrefixLen: 24,
		NodeInterconnectCIDR: "192.168.0.0/20", VXLANCIDR: "192.168.32.0/20", DefaultGateway: "192.168.0.1"})
	for b.Loop() {
		if _, err := p.Node(200); err != nil {
			b.Fatal(err)
		}
	}
}
