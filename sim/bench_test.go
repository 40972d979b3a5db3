package sim_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/scenarios/trace"
	"github.com/vppdrill/vppdrill/scenarios/yardstick"
	"github.com/vppdrill/vppdrill/sim"
)

// The 31 days of the dlrm trace on 300 nodes, every law on. VPPDRILL_DLRM names the trace's instances.csv.
func BenchmarkTrace(b *testing.B) {
	yardstick.Beside(b)
	file := os.Getenv("VPPDRILL_DLRM")
	if file == "" {
		file = "../../shared/data/dlrm/instances.csv"
	}
	f, err := os.Open(file)
	if err != nil {
		b.Skipf("no trace: %v", err)
	}
	defer func() { _ = f.Close() }() // it is only read
	s, err := trace.ImportDLRM(f, file, trace.Options{Nodes: 300})
	if err != nil {
		b.Fatal(err)
	}
	for range b.N {
		r, err := sim.Run(context.Background(), s, sim.Options{Seed: 1, Laws: check.All()})
		if err != nil || r.Verdict != result.Pass {
			b.Fatal(err, r.Error)
		}
		b.ReportMetric(float64(r.Events)/r.WallSeconds, "events/s")
		b.ReportMetric(float64(r.PeakRSSBytes)/(1<<20), "MiB")
	}
}

// parse reads a scenario that a benchmark or a test writes.
func parse(tb testing.TB, text string) *scenarios.Scenario {
	tb.Helper()
	s, err := scenarios.Parse("test.yaml", []byte(text))
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// churning is a cluster that works all the time: pods come and go, every law is on.
const churning = `
name: churning
topology: {nodes: 5, podsPerNode: 10}
churn: {every: 200ms, lifetime: 20s}
duration: 10m
`

// Events per second with full wiring and every law on, on one core.
func BenchmarkEvents(b *testing.B) {
	yardstick.Beside(b)
	runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(2)
	s := parse(b, churning)
	var events int64
	start := time.Now()
	for range b.N {
		r, err := sim.Run(context.Background(), s, sim.Options{Seed: 1, Laws: check.All()})
		if err != nil || r.Verdict != result.Pass {
			b.Fatal(err, r.Error)
		}
		events += r.Events
	}
	b.ReportMetric(float64(events)/time.Since(start).Seconds(), "events/s")
}

// mesh is n nodes in a VXLAN full mesh with 30 pods each, proved all-pairs reachable when settled.
func mesh(n int) string {
	return fmt.Sprintf(`
name: mesh-%d
topology: {nodes: %d, podsPerNode: 30}
config:
  ipam: {podSubnetCIDR: 10.128.0.0/10, podSubnetOneNodePrefixLen: 24, vppHostSubnetCIDR: 172.16.0.0/14, vppHostSubnetOneNodePrefixLen: 24, nodeInterconnectCIDR: 192.168.0.0/20, vxlanCIDR: 192.168.32.0/20, serviceCIDR: 10.96.0.0/12}
limits: {settle: 30m}
`, n, n)
}

// A full mesh from nothing to proven reachability; the figure is wall time, and its growth with the number of nodes.
func BenchmarkMesh(b *testing.B) {
	for _, n := range []int{30, 100, 300, 1000} {
		if testing.Short() && n > 100 {
			continue
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			yardstick.Beside(b)
			s := parse(b, mesh(n))
			for range b.N {
				r, err := sim.Run(context.Background(), s, sim.Options{Seed: 1, Laws: check.All()})
				if err != nil || r.Verdict != result.Pass {
					b.Fatal(err, r.Error)
				}
				b.ReportMetric(float64(r.Events)/r.WallSeconds, "events/s")
				b.ReportMetric(float64(r.PeakRSSBytes)/(1<<20), "MiB")
			}
		})
	}
}
