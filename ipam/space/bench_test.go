package space

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/scenarios/yardstick"
)

// The budget is 200 ns and no allocation for one address at any fill of a /16, and 5 million subnets a second.

// fills are in tenths of a percent of a /16.
var fills = [...]int{0, 500, 900, 990, 999}

func BenchmarkBitmapPair(b *testing.B) {
	for _, fill := range fills {
		b.Run(fmt.Sprintf("fill=%.1f%%", float64(fill)/10), func(b *testing.B) {
			yardstick.Beside(b)
			m := NewBitmap(1 << 16)
			scatter(fill, func(i uint64) { m.Set(i) })
			b.ReportAllocs()
			from := uint64(0)
			for b.Loop() {
				i, ok := m.NextClear(from)
				if !ok {
					i, _ = m.NextClear(0)
				}
				m.Set(i)
				m.Clear(i)
				from = i + 1
			}
		})
	}
}

func BenchmarkPoolPair(b *testing.B) {
	for _, delay := range [...]time.Duration{0, time.Microsecond} {
		for _, fill := range fills {
			b.Run(fmt.Sprintf("delay=%s/fill=%.1f%%", delay, float64(fill)/10), func(b *testing.B) {
				yardstick.Beside(b)
				prefix := netip.MustParsePrefix("10.1.0.0/16")
				p, err := NewPool(PoolConfig{Prefix: prefix, ReuseDelay: delay})
				if err != nil {
					b.Fatal(err)
				}
				scatter(fill, func(i uint64) {
					a, _ := Nth(prefix, i)
					_ = p.Restore(a)
				})
				now := time.Unix(1700000000, 0)
				b.ReportAllocs()
				for b.Loop() {
					a, ok := p.Allocate(now)
					if !ok {
						b.Fatal("nothing is free")
					}
					p.Release(now, a)
					now = now.Add(100)
				}
			})
		}
	}
}

// scatter takes that many tenths of a percent of 2^16 indices, evenly spread, so that free ones are far apart.
func scatter(fill int, take func(uint64)) {
	for i := range uint64(1 << 16) {
		if int(i*7919%1000) < fill {
			take(i)
		}
	}
}

func BenchmarkSubnetsPair(b *testing.B) {
	for _, c := range [...]struct {
		prefix string
		bits   int
	}{{"10.0.0.0/8", 24}, {"2001:db8::/48", 64}} {
		b.Run(fmt.Sprintf("%s-in-%d", c.prefix, c.bits), func(b *testing.B) {
			yardstick.Beside(b)
			s, err := NewSubnets(netip.MustParsePrefix(c.prefix), c.bits)
			if err != nil {
				b.Fatal(err)
			}
			for range s.Capacity() - 10 {
				s.Allocate()
			}
			b.ReportAllocs()
			for b.Loop() {
				p, ok := s.Allocate()
				if !ok {
					b.Fatal("nothing is free")
				}
				if _, err := s.Release(p); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "subnets/s")
		})
	}
}
