package parity_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/sim/parity"
	"github.com/vppdrill/vppdrill/sim/parity/internal/transcript"
	"github.com/vppdrill/vppdrill/sim/vppmodel/apitrace"
)

const replayedScenario = `# Pods come and go, an agent dies, a node is removed.
name: replayed
topology: {nodes: 3, podsPerNode: 3}
config:
  ipam: {podSubnetCIDR: 10.1.0.0/16, podSubnetOneNodePrefixLen: 24}
  wiring: {pod: tap, node: vxlan}
churn: {every: 2s, lifetime: 20s}
timeline:
  - {at: 10s, do: kill-agent, node: node-1, for: 3s}
  - {at: 20s, do: remove-node, node: node-3}
`

// Goal: a real VPP comes by a trace of a simulated run to the state that the run had. Method: at two instants of a run a node's trace is
// replayed by VPP's own command and asked of a bare model; both show the same in every dump. That the bare model has what was traced is
// TestTrace of apitrace.
func TestReplayed(t *testing.T) {
	vpp, ctx := realVPP(t), context.Background()
	s, err := scenarios.Parse("replayed.yaml", []byte(replayedScenario))
	if err != nil {
		t.Fatal(err)
	}
	fresh, end, err := parity.RealVPPs(vpp)
	if err != nil {
		t.Skip("needs a network namespace: " + err.Error())
	}
	defer end()
	for _, at := range []time.Duration{15 * time.Second, 40 * time.Second} {
		var trace []byte
		var of func(string) ([]byte, error)
		o := sim.Options{Seed: 1, APITraces: func(f func(string) ([]byte, error)) { of = f }}
		o.Events = func(_ int64, now time.Duration, _ []byte) {
			if now > at && trace == nil {
				if trace, err = of("node-1"); err != nil {
					t.Fatal(err)
				}
			}
		}
		if _, err := sim.Run(ctx, s, o); err != nil {
			t.Fatal(err)
		}
		replay(t, ctx, fresh, trace)
	}
}

// replay has a trace replayed by both and compares them.
func replay(t *testing.T, ctx context.Context, fresh func(context.Context) (parity.Subject, error), trace []byte) {
	t.Helper()
	real, err := fresh(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer real.Close()
	file := filepath.Join(t.TempDir(), "trace")
	if err := os.WriteFile(file, trace, 0o644); err != nil {
		t.Fatal(err)
	}
	if said, err := parity.Command(ctx, real, "api trace replay "+file); err != nil || said != "" {
		t.Fatalf("replay: %q, %v", said, err)
	}
	model := parity.NewModel()
	all, err := apitrace.Read(trace)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if _, err := model.Ask(ctx, m); err != nil {
			t.Fatal(err)
		}
	}
	shows, err := parity.Dumps(ctx, model)
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for _, q := range shows {
		want, err := real.Ask(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		got, err := model.Ask(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		lines += len(got)
		if d, _ := transcript.Compare(transcript.Text(q), transcript.Lines(want), transcript.Lines(got)); d != nil {
			t.Error(d)
		}
	}
	t.Logf("%d requests, %d bytes; %d answers to %d dumps are the same", len(all), len(trace), lines, len(shows))
	if len(all) < 20 || lines < 50 {
		t.Errorf("%d requests and %d answers are too few to say anything", len(all), lines)
	}
}
