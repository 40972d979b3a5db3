package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// Explored says what an exploration covered.
type Explored struct {
	// Way is seeds, random, steered (random with a corpus), around (variations of one that a seed draws), exhaustive,
	// crash-points or lives.
	Way string
	// FirstSeed is the first seed, or the only one; 0 for an exhaustive search.
	FirstSeed uint64
	Runs      int
	// Complete: nothing was left to try. Seeds are complete when all that were asked for were taken.
	Complete bool
	// Points are how many crash points there are of each kind of operation, Tried how many of them were run; nil for
	// another way.
	Points, Tried map[string]int
	// Hit counts the crash points whose fault happened.
	Hit int
	// Broken counts the runs that did not pass, by law.
	Broken map[string]int
	// Coverage is what random scenarios came by.
	Coverage []Covered
	// Digest is all runs' digests in one, whatever their order; empty for an exhaustive search.
	Digest string

	// sum adds up what Digest says.
	sum uint64
}

// digest takes a run's digest into the exploration's.
func (e *Explored) digest(t trial, r result.Result) {
	h := fnv.New64a()
	fmt.Fprintln(h, t.s.Name, t.seed, t.where, r.Verdict, r.Digest)
	e.sum += h.Sum64()
	e.Digest = fmt.Sprintf("%016x", e.sum)
}

// kept are the kept failures in the order of their trials.
func (w *sweep) kept() []found {
	var out []found
	for _, k := range w.kinds {
		out = append(out, w.first[k])
	}
	slices.SortStableFunc(out, func(a, b found) int { return cmp.Compare(a.at, b.at) })
	return out
}

// failures are their results.
func (w *sweep) failures() []result.Result {
	var out []result.Result
	for _, f := range w.kept() {
		out = append(out, f.result)
	}
	return out
}

// explain gives the kept failures their chains of causes, each by a second run; one that came of listed choices has
// none.
func (w *sweep) explain(ctx context.Context, c Config) {
	if c.Explorer.Explain == nil {
		return
	}
	for _, kind := range w.kinds {
		found := w.first[kind]
		if found.result.Failure == nil || found.trial.shrink != nil {
			continue
		}
		again, err := cli.Promptly(ctx, func() (result.Result, error) {
			return c.Explorer.Explain(ctx, found.trial.s, RunOptions{Seed: found.trial.seed, Laws: w.laws, Replay: found.trial.replay, Story: w.folder != nil, Series: w.folder != nil}, found.result.Failure, w.lastOf(found.result))
		})
		if err != nil || again.Failure == nil || again.Failure.Law != found.result.Failure.Law {
			continue
		}
		found.result.Failure.Chain, found.result.Story, found.result.Series = again.Failure.Chain, again.Story, again.Series
		w.first[kind] = found
	}
}

// lastOf is the event up to which a failure's story is recorded, 0 for none.
func (w *sweep) lastOf(r result.Result) int64 {
	if w.folder == nil {
		return 0
	}
	return r.Events
}

// tell prints the failures and what was covered, writes the report's folder and shrinks the failures.
func (w *sweep) tell(cmd *cobra.Command, c Config, f *exploreFlags, started time.Time) error {
	w.explain(cmd.Context(), c)
	s := Session{Version: c.Version, Command: commandLine(cmd), Started: started, WallSeconds: time.Since(started).Seconds(),
		Results: w.failures(), Explored: &w.explored}
	out := cmd.OutOrStdout()
	if f.format == cli.JSON {
		if err := c.Reports.JSON(out, s); err != nil {
			return err
		}
	} else {
		tellCoverage(cmd, w.explored.Coverage, f.random && w.explored.Way != "around")
		if err := w.tellText(out, c, s); err != nil {
			return err
		}
		w.tellSmallest(cmd, f)
	}
	if w.folder == nil {
		return nil
	}
	lines, err := w.shrinkAll(cmd, c, f)
	if cmd.Context().Err() != nil {
		s.Incomplete = "interrupted"
	}
	if err := errors.Join(err, w.folder.Keep(s)); err != nil {
		return cli.BadInput(err)
	}
	if f.format == cli.Text {
		for _, line := range lines {
			fmt.Fprintln(out, line)
		}
	}
	return nil
}

func (w *sweep) tellText(out io.Writer, c Config, s Session) error {
	if len(s.Results) > 0 {
		var names []string
		for _, r := range s.Results {
			names = append(names, r.Scenario)
		}
		text := c.Reports.Text(out, names, TextOptions{})
		for _, r := range s.Results {
			text.Add(r)
		}
		if err := text.Close(); err != nil {
			return err
		}
	}
	for _, f := range w.kept() {
		if f.trial.where != "" {
			fmt.Fprintf(out, "%s first breaks with %s\n", w.kindOf(f.result), f.trial.where)
		}
	}
	e := w.explored
	for _, kind := range slices.Sorted(maps.Keys(e.Points)) {
		fmt.Fprintf(out, "%s: %d of %d points tried\n", kind, e.Tried[kind], e.Points[kind])
	}
	unit := map[string]string{"seeds": "seeds", "random": "random scenarios", "steered": "random scenarios", "around": "variations", "exhaustive": "runs", "crash-points": "points", "lives": "points"}[e.Way]
	short := map[string]string{"seeds": "seeds", "random": "seeds", "steered": "runs", "around": "runs", "exhaustive": "runs", "crash-points": "points", "lives": "points"}[e.Way]
	fmt.Fprintf(out, "%d %s in %.1fs, %.1f %s/s", e.Runs, unit, s.WallSeconds, float64(e.Runs)/max(s.WallSeconds, 1e-9), short)
	if e.Way == "seeds" && e.Runs > 0 {
		fmt.Fprintf(out, "; seeds %d to %d", e.FirstSeed, e.FirstSeed+uint64(e.Runs)-1)
	}
	if len(s.Results) == 0 && e.Runs > 0 {
		fmt.Fprint(out, "; no law was broken")
	}
	switch e.Way {
	case "exhaustive":
		fmt.Fprintf(out, "; %s", map[bool]string{true: "every combination of choices was tried", false: "there are more combinations of choices"}[e.Complete])
	case "crash-points", "lives":
		fmt.Fprintf(out, "; %d hit", e.Hit)
		if len(e.Points) == 0 {
			fmt.Fprint(out, "; no operation of these kinds before the end of the timeline, after which nothing fails")
		}
	}
	for _, r := range s.Results {
		fmt.Fprintf(out, "; %s in %d", w.kindOf(r), e.Broken[w.kindOf(r)])
	}
	if e.Way == "random" || e.Way == "around" {
		fmt.Fprintf(out, "; go on with --from %d", w.next)
	}
	fmt.Fprintln(out)
	return nil
}

// tellSmallest prints the smallest scenario of each failure that a kill of plugins led to.
func (w *sweep) tellSmallest(cmd *cobra.Command, f *exploreFlags) {
	if w.plugins == nil {
		return
	}
	for _, k := range w.kept() {
		if k.result.Failure == nil || cmd.Context().Err() != nil {
			continue
		}
		small := w.plugins.Smallest(cmd.Context(), k.trial.s, k.trial.seed, k.result.Failure)
		fmt.Fprintf(cmd.OutOrStdout(), "\n%s: vppdrill run FILE --world netns%s with this FILE:\n%s", w.kindOf(k.result), f.cni.words(), small.Marshal())
	}
}

// shrinkAll writes a capsule of each failure of a law, and returns lines that say how to replay them. An interrupt ends
// it early.
func (w *sweep) shrinkAll(cmd *cobra.Command, c Config, f *exploreFlags) (lines []string, err error) {
	for _, k := range w.kept() {
		if k.result.Failure == nil {
			continue
		}
		shrink := k.trial.shrink
		if shrink == nil {
			if c.Explorer.Shrink == nil {
				return nil, nil
			}
			shrink = func(ctx context.Context) ([]byte, error) { return c.Explorer.Shrink(ctx, k.trial.s, k.result, w.laws) }
		}
		law := k.result.Failure.Law
		capsule, err := cli.Promptly(cmd.Context(), func() ([]byte, error) { return shrink(cmd.Context()) })
		if errors.Is(err, context.Canceled) {
			return lines, nil
		}
		if err != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "vppdrill: %s with seed %d does not shrink: %s\n", law, k.result.Seed, cli.FirstLine(err.Error()))
			continue
		}
		w.capsules[law] = capsule
		if err := os.WriteFile(filepath.Join(w.folder.Stage(), law+".capsule"), capsule, 0o644); err != nil {
			return lines, err
		}
		lines = append(lines, fmt.Sprintf("capsule %s: vppdrill debug replay %s", law, quote(filepath.Join(f.out, law+".capsule"))))
	}
	return lines, nil
}
