package explore_test

import (
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/sim/explore"
)

// Goal: a branch changes the order of events at one instant, or a setting, and nothing else; what cannot be changed is
// said. Method: a capsule of two nodes whose agents start at one instant, of which one comes last; a longer prefix; an
// event that is alone; a field that is none.
func TestBranchOrderAndSetting(t *testing.T) {
	s := parse(t, `
name: never-quiet
topology: {nodes: 2, podsPerNode: 1}
limits: {settle: 3s}
timeline:
  - {at: 30s, do: kill-vpp, node: node-1}
  - {at: 30s, do: replace-sandbox, node: node-1}
  - {at: 31s, do: settle}
`)
	x, laws := explore.Explorer{}, check.All()
	failure, err := sim.Run(t.Context(), s, sim.Options{Seed: 1, Laws: laws})
	if err != nil || failure.Failure == nil {
		t.Fatal(failure.Verdict, err)
	}
	capsule := []byte((&explore.Capsule{Version: x.Version, Seed: 1, Scenario: s, Verdict: failure.Verdict, Failure: *failure.Failure}).String())
	branch := func(b explore.Branch) explore.Branched {
		t.Helper()
		out, err := x.Branch(t.Context(), capsule, sim.Options{Laws: laws}, b)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	moved := 0
	for at := int64(2); at < 60; at++ {
		out, err := x.Branch(t.Context(), capsule, sim.Options{Laws: laws}, explore.Branch{At: at, Last: true})
		if err != nil {
			if !strings.Contains(err.Error(), "nothing else waits") {
				t.Fatal(err)
			}
			continue
		}
		moved++
		if was, now := out.Before.Lines[0], out.After.Lines[0]; was.Line == now.Line || was.At != now.At {
			t.Errorf("event %d: %q at %s became %q at %s", at, was.Line, was.At, now.Line, now.At)
		}
	}
	if moved < 5 {
		t.Errorf("only %d events could come last", moved)
	}
	out := branch(explore.Branch{Set: "config.ipam.podSubnetOneNodePrefixLen=25"})
	text := func(f explore.Future) string {
		var b strings.Builder
		for _, l := range f.Lines {
			b.WriteString(l.Line + "\n")
		}
		return b.String()
	}
	if before, after := text(out.Before), text(out.After); strings.Contains(before, "10.1.0.130") || !strings.Contains(after, "10.1.0.130") {
		t.Error("the setting changed nothing, or both futures")
	}
	if _, err := x.Branch(t.Context(), capsule, sim.Options{Laws: laws}, explore.Branch{Set: "config.ipam.prefix=25"}); err == nil {
		t.Error("a field that is none was taken")
	}
}
