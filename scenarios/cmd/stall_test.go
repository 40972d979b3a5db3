package cmd

import (
	"strings"
	"testing"
	"time"
)

// Goal: a step of the code under test that never ends is told with where it is, and nothing else is. Method: a run whose events stand or go on,
// under stacks that end in a product's function, in a law, or in a program beside runs.
func TestStall(t *testing.T) {
	const (
		product = "goroutine 7 [running]:\ngithub.com/vppdrill/vppdrill/ipam/space.(*queue).pop(...)\n\t/src/ipam/space/queue.go:12 +0x1\n" +
			"github.com/vppdrill/vppdrill/vppwire/agent.(*Agent).Step(0xc0, {0x1})\n\t/src/vppwire/agent/agent.go:90 +0x1\n" +
			"github.com/vppdrill/vppdrill/sim.(*process).step(0xc0)\n\t/src/sim/process.go:99 +0x1\n"
		law   = "goroutine 7 [running]:\ngithub.com/vppdrill/vppdrill/scenarios/walk.(*Walker).Outcome(0x1)\n\t/src/scenarios/walk/walk.go:3 +0x1\n"
		reads = "goroutine 7 [running]:\ngithub.com/vppdrill/vppdrill/vppwire/agent.(*Agent).Leases(0x1)\n\t/src/vppwire/agent/state.go:56 +0x1\n" +
			"github.com/vppdrill/vppdrill/sim.(*World).snapshot(0xc0)\n\t/src/sim/snapshot.go:99 +0x1\n"
		other = "goroutine 9 [select]:\ngithub.com/vppdrill/vppdrill/vppwire/host.(*Driver).Run(0x1)\n\t/src/vppwire/host/driver.go:3 +0x1\n"
	)
	for _, tc := range []struct {
		name, stacks string
		events       int64 // that come between the looks
		passes       time.Duration
		grows        uint64 // bytes
		want         string
	}{
		{"hangs", law + "\n" + product, 0, stallMost, 0, "r: a step does not end: it has taken 15s of processor time and is in ipam/space.(*queue).pop (queue.go:12), called by vppwire/agent.(*Agent).Step (agent.go:90)"},
		{"takes all memory", product, 0, 1, 3 << 30, "r: a step does not end: it has taken 3072 MiB of memory and is in ipam/space.(*queue).pop (queue.go:12), called by "},
		{"has not had its time", product, 0, stallMost - 1, growthMost, ""},
		{"goes on", product, 64, stallMost, 2 * growthMost, ""},
		{"a law takes its time", law, 0, stallMost, 2 * growthMost, ""},
		{"a judge reads an agent", reads, 0, stallMost, 2 * growthMost, ""},
		{"a program beside runs", other, 0, stallMost, 2 * growthMost, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var spent time.Duration
			var heap uint64
			w := stallWatch{spent: func() time.Duration { return spent }, heap: func() uint64 { return heap }, stacks: func() string { return tc.stacks }, seen: map[*running]stalled{}}
			r := &running{name: "r"}
			if said := w.look([]*running{r}); said != "" {
				t.Fatalf("said at once: %s", said)
			}
			r.events.Add(tc.events)
			spent += tc.passes
			heap += tc.grows
			if said := w.look([]*running{r}); !strings.HasPrefix(said, tc.want) || (said == "") != (tc.want == "") {
				t.Errorf("said  %q\nwants %q", said, tc.want)
			}
		})
	}
}
