package explore_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/gen"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/scenarios/yardstick"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/sim/engine"
	"github.com/vppdrill/vppdrill/sim/fault"
)

// Seeds per second of random scenarios, one at a time, with every law on.
func BenchmarkSeeds(b *testing.B) {
	for _, p := range []gen.Profile{gen.Tiny(), gen.Small()} {
		b.Run(p.Name, func(b *testing.B) {
			yardstick.Beside(b)
			var events int64
			seed, start := uint64(0), time.Now()
			for b.Loop() {
				seed++
				s := gen.Draw(engine.Seeded(seed), p, fmt.Sprintf("random-%d", seed))
				r, err := sim.Run(context.Background(), s, sim.Options{Seed: seed, Laws: check.All()})
				if err != nil {
					b.Fatal(err)
				}
				if r.Verdict != result.Pass {
					b.Logf("seed %d: %s: %s", seed, r.Verdict, r.Error)
				}
				events += r.Events
			}
			took := time.Since(start).Seconds()
			b.ReportMetric(float64(seed)/took, "seeds/s")
			b.ReportMetric(float64(events)/took, "events/s")
		})
	}
}

// Fault points per second of a small cluster's life.
func BenchmarkCrashPoints(b *testing.B) {
	yardstick.Beside(b)
	s := parse(b, fmt.Sprintf(life, "veth", "veth"))
	points, _ := pointsOf(b, s, fault.KindPersist)
	tried, start := 0, time.Now()
	for b.Loop() {
		for _, p := range points {
			if _, err := sim.Run(context.Background(), p.Scenario(s), sim.Options{Seed: 1, Laws: check.All()}); err != nil {
				b.Fatal(err)
			}
		}
		tried += len(points)
	}
	b.ReportMetric(float64(tried)/time.Since(start).Seconds(), "points/s")
}
