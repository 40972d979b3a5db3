package cidrset

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios/yardstick"
)

// BenchmarkAllocateNext picks and releases one block of 2^16 at several fills. The budget is 200 ns for both.
func BenchmarkAllocateNext(b *testing.B) {
	for _, cluster := range [...]struct {
		cidr string
		mask int
	}{{"10.0.0.0/8", 24}, {"fd00::/48", 64}} {
		for _, fill := range [...]int{0, 900, 999} {
			b.Run(fmt.Sprintf("%s/fill=%.1f%%", cluster.cidr, float64(fill)/10), func(b *testing.B) {
				yardstick.Beside(b)
				set, err := NewCIDRSet(netip.MustParsePrefix(cluster.cidr), cluster.mask)
				if err != nil {
					b.Fatal(err)
				}
				fillUp(b, set.MaxCIDRs()*uint64(fill)/1000, set.AllocateNext)
				b.ReportAllocs()
				for b.Loop() {
					p, err := set.AllocateNext()
					if err == nil {
						err = set.Release(p)
					}
					if err != nil {
						b.Fatal(err)
					}
				}
				perSecond(b)
			})
		}
	}
}

// BenchmarkLedger is the same with claims.
func BenchmarkLedger(b *testing.B) {
	for _, fill := range [...]int{0, 900, 999} {
		b.Run(fmt.Sprintf("fill=%.1f%%", float64(fill)/10), func(b *testing.B) {
			yardstick.Beside(b)
			l, err := NewLedger(netip.MustParsePrefix("10.0.0.0/8"), 24)
			if err != nil {
				b.Fatal(err)
			}
			fillUp(b, l.MaxCIDRs()*uint64(fill)/1000, l.AllocateNext)
			b.ReportAllocs()
			for b.Loop() {
				p, err := l.AllocateNext()
				if err == nil {
					_, err = l.Return(p)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
			perSecond(b)
		})
	}
}

func fillUp(b *testing.B, n uint64, allocate func() (netip.Prefix, error)) {
	for range n {
		if _, err := allocate(); err != nil {
			b.Fatal(err)
		}
	}
}

func perSecond(b *testing.B) {
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "CIDRs/s")
}
