package cmd

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/normalized"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// checkWorlds refuses worlds that make no comparison.
func (f *diffFlags) checkWorlds() error {
	if len(f.worlds) < 2 {
		return cli.Usagef("--worlds %s: a comparison needs 2 worlds, as in --worlds sim,netns", strings.Join(f.worlds, ","))
	}
	if f.jobs < 1 {
		return cli.Usagef("--jobs %d: at least 1 run at a time", f.jobs)
	}
	for i, w := range f.worlds {
		if err := cli.OneOf("--worlds", w, allWorlds()...); err != nil {
			return err
		}
		if slices.Contains(f.worlds[:i], w) {
			return cli.Usagef("--worlds %s: %s twice", strings.Join(f.worlds, ","), w)
		}
	}
	return nil
}

// side is what one world made of all tasks.
type side struct {
	world   string
	results []result.Result
	mu      sync.Mutex
	// states are the ends of runs by task number.
	states map[task][]string
}

// compareWorlds runs every scenario in each world, what one of them has to change for its machine changed in all, and
// prints only what differs. The first world is the one that the others are compared with.
func compareWorlds(cmd *cobra.Command, c Config, f diffFlags, list []*scenarios.Scenario) error {
	runs := make([]RunFunc, len(f.worlds))
	for i, name := range f.worlds {
		var err error
		if runs[i], err = c.world(cmd.Context(), name); err != nil {
			return err
		}
	}
	var tasks []task
	notes := map[string]bool{}
	for _, s := range list {
		for _, name := range f.worlds {
			if adapt := c.Adapts[name]; adapt != nil {
				var note string
				if s, note = adapt(s); note != "" && !notes[note] {
					notes[note] = true
					fmt.Fprintf(cmd.ErrOrStderr(), "note: world %s: %s; so it is in every world\n", name, note)
				}
			}
		}
		tasks = append(tasks, f.tasks(s)...)
	}
	started := time.Now()
	var sides []*side
	for i, name := range f.worlds {
		s := &side{world: name, states: map[task][]string{}}
		b := &batch{world: name, run: s.drawn(runs[i]), laws: c.Laws(), jobs: f.jobs, tasks: tasks}
		var err error
		if s.results, err = b.do(cmd.Context(), cmd.ErrOrStderr(), nil); err != nil {
			return err
		}
		sides = append(sides, s)
	}
	var all []result.Result
	for _, s := range sides {
		all = append(all, s.results...)
	}
	if f.out != "" {
		session := Session{Version: c.Version, Command: commandLine(cmd), Started: started, WallSeconds: time.Since(started).Seconds(), Results: all}
		if err := c.Reports.keep(f.out, session); err != nil {
			return cli.BadInput(err)
		}
	}
	differing := 0
	for i, t := range tasks {
		lines := differences(sides, t, i)
		if len(lines) == 0 {
			continue
		}
		differing++
		fmt.Fprintf(cmd.OutOrStdout(), "%s seed %d\n", t.s.Name, t.seed)
		printIndented(cmd.OutOrStdout(), lines)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%d of %d runs differ between %s\n", differing, len(tasks), strings.Join(f.worlds, ", "))
	if err := verdictOf(all); err != nil {
		return err
	}
	if differing > 0 {
		return cli.Broken(nil)
	}
	return nil
}

// drawn is a RunFunc that keeps the normalized state of each run's end.
func (s *side) drawn(run RunFunc) RunFunc {
	return func(ctx context.Context, sc *scenarios.Scenario, o RunOptions) (result.Result, error) {
		o.AtEnd = func(end fact.Snapshot) {
			lines := normalized.Of(end)
			s.mu.Lock()
			defer s.mu.Unlock()
			s.states[task{sc, o.Seed}] = lines
		}
		return run(ctx, sc, o)
	}
}

// differences between the first side and every other, for one task.
func differences(sides []*side, t task, i int) (lines []string) {
	first := sides[0]
	for _, other := range sides[1:] {
		for _, figure := range []struct {
			name string
			of   func(result.Result) string
		}{
			{"verdict", func(r result.Result) string { return strings.TrimSpace(string(r.Verdict) + " " + r.Error) }},
			{"nodes", func(r result.Result) string { return fmt.Sprint(r.Nodes) }},
			{"pods", func(r result.Result) string { return fmt.Sprint(r.Pods) }},
			{"pods never placed", func(r result.Result) string { return fmt.Sprint(r.Summary.PodsNeverPlaced) }},
			{"addresses leaked", func(r result.Result) string { return fmt.Sprint(r.Summary.LeakedAddresses) }},
			{"laws broken", brokenLaws},
		} {
			if a, b := figure.of(first.results[i]), figure.of(other.results[i]); a != b {
				lines = append(lines, fmt.Sprintf("%s: %s in %s, %s in %s", figure.name, a, first.world, b, other.world))
			}
		}
		if first.states[t] == nil || other.states[t] == nil {
			continue // it never began there; the verdict says why
		}
		onlyFirst, onlyOther := normalized.Differences(first.states[t], other.states[t])
		for _, l := range onlyFirst {
			lines = append(lines, "only "+first.world+": "+l)
		}
		for _, l := range onlyOther {
			lines = append(lines, "only "+other.world+": "+l)
		}
	}
	return lines
}

func brokenLaws(r result.Result) string {
	var names []string
	for _, l := range r.Laws {
		if l.Violations > 0 {
			names = append(names, l.Name)
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, " ")
}

// differencesMax is how many lines of one run are printed.
const differencesMax = 40

func printIndented(out io.Writer, lines []string) {
	for _, l := range lines[:min(len(lines), differencesMax)] {
		fmt.Fprintln(out, "  "+l)
	}
	if more := len(lines) - differencesMax; more > 0 {
		fmt.Fprintf(out, "  … and %d lines more\n", more)
	}
}
