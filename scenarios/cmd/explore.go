package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/scenarios"
)

// exploreFlags are the flags of `vppdrill explore`.
type exploreFlags struct {
	from   uint64
	seeds  int
	length time.Duration
	jobs   int
	out    string
	format string
}

func exploreCommand(c Config) *cobra.Command {
	var f exploreFlags
	cmd := &cobra.Command{
		Use:   "explore FILE",
		Short: "Run one scenario with many seeds and keep the first failure of each kind",
		Long: `Run one scenario with many seeds in the simulator. The first failure of each kind (the law that broke) is told with
the command that replays it and, with --out, shrunk to a capsule.`,
		Example: `  vppdrill explore my-scenario.yaml --seeds 1000 --out out
  vppdrill explore my-scenario.yaml --for 60s --jobs 2`,
		Args: args(1, 1, "one scenario file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("seeds") && f.length > 0 {
				return usagef("explore: --seeds and --for exclude each other")
			}
			return exploreScenario(cmd, c, f, args[0])
		},
	}
	flags := cmd.Flags()
	flags.Uint64Var(&f.from, "from", 1, "the first seed")
	flags.IntVar(&f.seeds, "seeds", 100, "how many seeds")
	flags.DurationVar(&f.length, "for", 0, "take seeds until this long has passed")
	flags.IntVar(&f.jobs, "jobs", runtime.GOMAXPROCS(0), "runs at the same time")
	flags.StringVar(&f.out, "out", "", "folder for the capsules and the report of the failures")
	flags.StringVar(&f.format, "format", "text", "what to print: text or json")
	return cmd
}

// sweep is one exploration under way.
type sweep struct {
	run  RunFunc
	s    *scenarios.Scenario
	laws []scenarios.Law
	stop func(seed uint64) bool
	next atomic.Uint64

	mu   sync.Mutex
	runs int
	// first holds the failure with the lowest seed of each kind; kinds the kinds in order of their first arrival.
	first map[string]scenarios.Result
	kinds []string
	count map[string]int
}

func exploreScenario(cmd *cobra.Command, c Config, f exploreFlags, file string) error {
	if err := oneOf("--format", f.format, "text", "json"); err != nil {
		return err
	}
	if f.jobs < 1 || f.seeds < 1 || f.length < 0 {
		return usagef("explore: --jobs, --seeds and --for are above 0")
	}
	list, err := c.load(false, []string{file})
	if err != nil {
		return err
	}
	run, err := c.world(cmd.Context(), "sim")
	if err != nil {
		return err
	}
	started := time.Now()
	w := &sweep{run: run, s: list[0], laws: c.Laws(), first: map[string]scenarios.Result{}, count: map[string]int{}}
	w.next.Store(f.from)
	w.stop = func(seed uint64) bool { return seed-f.from >= uint64(f.seeds) }
	total := f.seeds
	if f.length > 0 {
		w.stop = func(uint64) bool { return time.Since(started) >= f.length }
		total = 0
	}
	p := startProgress(cmd.ErrOrStderr(), total)
	w.sweep(cmd.Context(), f.jobs, p)
	p.stop()
	found := w.failures()
	session := Session{Version: c.Version, Command: commandLine(cmd), Started: started, WallSeconds: time.Since(started).Seconds(), Results: found}
	if err := tellSweep(cmd, c, f, w, session); err != nil {
		return err
	}
	if err := cmd.Context().Err(); err != nil {
		return err
	}
	return verdictOf(found)
}

// sweep runs seeds until stop says so or the context ends.
func (w *sweep) sweep(ctx context.Context, jobs int, p *progress) {
	var workers sync.WaitGroup
	for range jobs {
		workers.Go(func() {
			for {
				seed := w.next.Add(1) - 1
				if w.stop(seed) || ctx.Err() != nil {
					return
				}
				name := fmt.Sprintf("seed %d", seed)
				p.begin(name)
				r, err := w.run(ctx, w.s, RunOptions{Seed: seed, Laws: w.laws, Replay: replayOf(w.s, "sim", seed)})
				p.end(name)
				if err != nil {
					r = failedStart(task{w.s, seed}, "sim", RunOptions{Replay: replayOf(w.s, "sim", seed)}, err)
				}
				if ctx.Err() == nil {
					w.note(r)
				}
			}
		})
	}
	workers.Wait()
}

// note counts a run and keeps it when it is the lowest seed of its kind.
func (w *sweep) note(r scenarios.Result) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.runs++
	if r.Verdict == scenarios.Pass {
		return
	}
	kind := kindOf(r)
	w.count[kind]++
	known, ok := w.first[kind]
	if !ok {
		w.kinds = append(w.kinds, kind)
	}
	if !ok || r.Seed < known.Seed {
		w.first[kind] = r
	}
}

// kindOf names what a failure has in common with others: its law.
func kindOf(r scenarios.Result) string {
	switch {
	case r.Failure != nil:
		return r.Failure.Law
	case r.Verdict == scenarios.Fail:
		return "expectation"
	}
	return "error"
}

// failures are the kept failures, by seed and then by kind.
func (w *sweep) failures() []scenarios.Result {
	var out []scenarios.Result
	for _, k := range w.kinds {
		out = append(out, w.first[k])
	}
	sortResults(out)
	return out
}

// tellSweep prints the failures, shrinks them and writes the report's folder.
func tellSweep(cmd *cobra.Command, c Config, f exploreFlags, w *sweep, s Session) error {
	if f.format == "json" {
		if err := c.Reports.JSON(cmd.OutOrStdout(), s); err != nil {
			return err
		}
	} else {
		if len(s.Results) > 0 {
			text := c.Reports.Text(cmd.OutOrStdout(), []string{w.s.Name})
			for _, r := range s.Results {
				text.Add(r)
			}
			if err := text.Close(); err != nil {
				return err
			}
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%d seeds in %.1fs, %.1f seeds/s", w.runs, s.WallSeconds, float64(w.runs)/max(s.WallSeconds, 1e-9))
		for _, r := range s.Results {
			fmt.Fprintf(cmd.OutOrStdout(), "; %s in %d", kindOf(r), w.count[kindOf(r)])
		}
		fmt.Fprintln(cmd.OutOrStdout())
	}
	if f.out == "" {
		return nil
	}
	if err := c.Reports.Folder(f.out, s); err != nil {
		return exit{exitUsage, err}
	}
	return shrinkAll(cmd, c, f.out, w, s.Results)
}

// shrinkAll writes a capsule of each failure of a law.
func shrinkAll(cmd *cobra.Command, c Config, dir string, w *sweep, found []scenarios.Result) error {
	if c.Explorer.Shrink == nil {
		return nil
	}
	for _, r := range found {
		if r.Failure == nil {
			continue
		}
		capsule, err := c.Explorer.Shrink(cmd.Context(), w.s, r, w.laws)
		if errors.Is(err, context.Canceled) {
			return err
		}
		if err != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "vppdrill: %s with seed %d does not shrink: %s\n", r.Failure.Law, r.Seed, firstLine(err.Error()))
			continue
		}
		name := filepath.Join(dir, r.Failure.Law+".capsule")
		if err := os.WriteFile(name, capsule, 0o644); err != nil {
			return exit{exitUsage, err}
		}
		fmt.Fprintf(cmd.OutOrStdout(), "capsule %s: vppdrill replay %s\n", r.Failure.Law, quote(name))
	}
	return nil
}
