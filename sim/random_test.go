package sim_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/gen"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/scenarios/yardstick"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/sim/engine"
)

// Random clusters under random churn and faults hold every law and come to rest. VPPDRILL_SEEDS=N takes N seeds instead
// of the few of every test run; a failing seed's scenario is written to the folder that VPPDRILL_KEEP names.
func TestRandomSeeds(t *testing.T) {
	seeds := uint64(20)
	if n, err := strconv.ParseUint(os.Getenv("VPPDRILL_SEEDS"), 10, 64); err == nil {
		seeds = n
	}
	for n := range 2 * seeds {
		seed, profile := 1+n/2, gen.Small()
		if n%2 == 1 {
			profile = gen.Systems()
		}
		t.Run(fmt.Sprintf("%s/%d", profile.Name, seed), func(t *testing.T) {
			t.Parallel()
			s := gen.Draw(engine.Seeded(seed), profile, fmt.Sprintf("gen-%s-%d", profile.Name, seed))
			r, err := sim.Run(context.Background(), s, sim.Options{Seed: seed, Laws: check.All()})
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict != result.Pass {
				if dir := os.Getenv("VPPDRILL_KEEP"); dir != "" {
					if err := os.WriteFile(fmt.Sprintf("%s/%s.yaml", dir, s.Name), s.Marshal(), 0o644); err != nil {
						t.Error(err)
					}
				}
				t.Errorf("%s: %s", r.Verdict, r.Error)
			}
		})
	}
}

// Random small clusters: how many seeds a second two cores take, an hour of virtual time each.
func BenchmarkSeeds(b *testing.B) {
	yardstick.Beside(b)
	b.RunParallel(func(pb *testing.PB) {
		seed := uint64(0)
		for pb.Next() {
			seed++
			s := gen.Draw(engine.Seeded(seed), gen.Small(), "gen")
			if _, err := sim.Run(context.Background(), s, sim.Options{Seed: seed, Laws: check.All()}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "seeds/s")
}
