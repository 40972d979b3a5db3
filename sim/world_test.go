package sim_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/catalog"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// Every catalogue scenario holds every law, and a second run with the same seed is the same run, event for event.
func TestCatalog(t *testing.T) {
	all, err := catalog.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			var first scenarios.Result
			for range 2 {
				start := time.Now()
				o := sim.Options{Seed: 1, Laws: check.All()}
				if os.Getenv("TRAIL") != "" {
					o.Events = func(seq int64, at time.Duration, line []byte) { fmt.Println(seq, at, string(line)) }
					o.Logs = func(node string, e agent.Log) { fmt.Println("   LOG", node, e.Message) }
				}
				r, err := sim.Run(context.Background(), s, o)
				if err != nil {
					t.Fatal(err)
				}
				if r.Verdict != scenarios.Pass {
					t.Fatalf("%s: %s\nreplay: %s", r.Verdict, r.Error, r.Replay)
				}
				if first.Digest != "" && r.Digest != first.Digest {
					t.Fatalf("digests %s and %s", first.Digest, r.Digest)
				}
				first = r
				t.Logf("%d events, %.0f virtual s, %s, pods %d nodes %d", r.Events, r.VirtualSeconds, time.Since(start).Round(time.Millisecond), r.Pods, r.Nodes)
			}
		})
	}
}
