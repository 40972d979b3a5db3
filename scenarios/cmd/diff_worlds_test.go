package cmd

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// twoWorlds is a program whose second world leaves one more node than the first.
func twoWorlds(differ bool) Config {
	world := func(nodes ...string) RunFunc {
		return func(_ context.Context, s *scenarios.Scenario, o RunOptions) (result.Result, error) {
			end := fact.Snapshot{Settled: true}
			for _, n := range nodes {
				end.Nodes = append(end.Nodes, fact.NodeState{Name: n, MachineUp: true})
			}
			o.AtEnd(end)
			r := resultOf(s, o, result.Pass)
			r.Nodes = len(nodes)
			return r, nil
		}
	}
	c := config(world("node-1"))
	c.Worlds["netns"] = world("node-1")
	if differ {
		c.Worlds["netns"] = world("node-1", "node-2")
	}
	return c
}

// TestCompare goal: only what differs is printed, and the code tells. Method: two worlds that end alike, and two that do not.
func TestCompare(t *testing.T) {
	code, out, _ := execute(t, t.Context(), twoWorlds(false), "debug", "diff", "first", "second", "--worlds", "sim,netns")
	if code != cli.ExitHeld || out != "0 of 3 runs differ between sim, netns\n" {
		t.Errorf("alike: code %d, %q", code, out)
	}
	code, out, _ = execute(t, t.Context(), twoWorlds(true), "debug", "diff", "first", "--worlds", "sim,netns")
	want := "first seed 1\n  nodes: 1 in sim, 2 in netns\n  only netns: node-2: machine up, agent down, VPP down\n1 of 1 runs differ between sim, netns\n"
	if code != cli.ExitBroken || out != want {
		t.Errorf("differing: code %d,\n%s\nwant\n%s", code, out, want)
	}
}

// TestCompareAdapts goal: what one world must change is changed in all, and said; a world that cannot run here ends it with
// code 3 before anything ran.
func TestCompareAdapts(t *testing.T) {
	c := twoWorlds(false)
	c.Adapts = map[string]func(*scenarios.Scenario) (*scenarios.Scenario, string){
		"netns": func(s *scenarios.Scenario) (*scenarios.Scenario, string) {
			changed := *s
			changed.Name = "changed"
			return &changed, "no taps"
		},
	}
	sawAll := map[string]string{}
	for name, run := range c.Worlds {
		c.Worlds[name] = func(ctx context.Context, s *scenarios.Scenario, o RunOptions) (result.Result, error) {
			sawAll[name] = s.Name
			return run(ctx, s, o)
		}
	}
	code, _, errOut := execute(t, t.Context(), c, "debug", "diff", "first", "--worlds", "sim,netns", "--jobs", "1")
	if code != cli.ExitHeld || !strings.Contains(errOut, "world netns: no taps; so it is in every world") || sawAll["sim"] != "changed" || sawAll["netns"] != "changed" {
		t.Errorf("code %d, saw %v, %s", code, sawAll, errOut)
	}
	c.Checks = map[string]func(context.Context) error{"netns": func(context.Context) error { return errors.New("no VPP") }}
	clear(sawAll)
	code, _, errOut = execute(t, t.Context(), c, "debug", "diff", "first", "--worlds", "sim,netns")
	if code != cli.ExitCannotRun || len(sawAll) > 0 || !strings.Contains(errOut, "world netns cannot run here: no VPP") {
		t.Errorf("code %d, ran in %v, %s", code, sawAll, errOut)
	}
}
