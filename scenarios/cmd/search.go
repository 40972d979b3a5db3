package cmd

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

// search does random scenarios in batches, variations of one where there is one, and keeps its corpus.
func (f *exploreFlags) search(ctx context.Context, cmd *cobra.Command, c Config, w *sweep, varied *scenarios.Scenario, file string) error {
	s := c.Explorer.Draw(f.profile, f.from)
	var corpus *corpusFolder
	what := "--random --profile " + f.profile // in a replay's command
	w.next = f.from
	w.explored.Way, w.explored.FirstSeed = "random", f.from
	switch {
	case varied != nil:
		s = c.Explorer.Variations(varied, f.seed, f.from)
		w.explored.Way, what = "around", fmt.Sprintf("%s --random --seed %d", quote(file), f.seed)
	case cmd.Flags().Changed("around"):
		s = c.Explorer.Around(f.profile, f.around, f.from)
		w.explored.Way, what = "around", fmt.Sprintf("%s --around %d", what, f.around)
	}
	if f.corpus != "" {
		var err error
		if corpus, err = openCorpus(f.corpus); err != nil {
			return err
		}
		s = c.Explorer.Steer(f.profile, f.from, corpus.members)
		w.explored.Way = "steered"
	}
	left, total := f.seeds, f.seeds
	if f.length > 0 {
		left, total = math.MaxInt, 0
	}
	w.progress = startProgress(cmd.ErrOrStderr(), total)
	defer w.progress.stop()
	for left > 0 && ctx.Err() == nil {
		batch := s.Batch(left)
		left -= len(batch)
		w.do(ctx, cmd, f.jobs, len(batch), func(i uint64) (trial, bool) {
			if i >= uint64(len(batch)) {
				return trial{}, false
			}
			t := trial{s: batch[i].Scenario, seed: batch[i].Seed, run: batch[i].Run}
			if f.corpus == "" {
				t.replay = fmt.Sprintf("vppdrill explore %s --from %d --seeds 1", what, w.next+i)
			}
			return t, true
		})
		s.Learn()
		if ctx.Err() == nil {
			w.next += uint64(len(batch))
		}
	}
	w.explored.Complete = true // seeds never come to an end
	w.explored.Coverage = s.Coverage(w.laws)
	if corpus == nil {
		return nil
	}
	return corpus.keep(s.Corpus())
}

// tellCoverage says what runs came by, a line for each group. What one scenario never does is its author's decision:
// only random ones are told all of it.
func tellCoverage(cmd *cobra.Command, coverage []Covered, all bool) {
	const most = 12
	for _, g := range coverage {
		if !all && (len(g.Reached) == 0 || g.Group == "actions" || g.Group == "faults") {
			g.Missing = nil
		}
		line := fmt.Sprintf("%s: %d", g.Group, len(g.Reached))
		if n := len(g.Missing); n > 0 {
			line = fmt.Sprintf("%s: %d of %d; never %s", g.Group, len(g.Reached), len(g.Reached)+n, strings.Join(g.Missing[:min(n, most)], ", "))
			if n > most {
				line += fmt.Sprintf(" and %d more", n-most)
			}
		}
		fmt.Fprintln(cmd.OutOrStdout(), line)
	}
}

// keepFound puts a scenario of each failure into the corpus: as operations where it shrinks to some, else as it was
// found.
func (w *sweep) keepFound(cmd *cobra.Command, c Config, f *exploreFlags) error {
	corpus := corpusFolder{dir: f.corpus}
	for _, k := range w.kept() {
		if k.result.Failure == nil {
			continue
		}
		m := Member{Scenario: k.trial.s, Seed: k.trial.seed, Kept: true}
		capsule := w.capsules[k.result.Failure.Law]
		if capsule == nil && c.Explorer.Shrink != nil {
			if shrunk, err := c.Explorer.Shrink(cmd.Context(), k.trial.s, k.result, w.laws); err == nil {
				capsule = shrunk
			}
		}
		if capsule != nil {
			if reduced, ok := c.Explorer.Reduced(cmd.Context(), capsule, w.laws); ok {
				m = reduced
			}
		}
		name, err := corpus.found(k.result.Failure.Law, m)
		if err != nil {
			return err
		}
		if f.format == cli.Text {
			fmt.Fprintf(cmd.OutOrStdout(), "found %s: vppdrill run %s --seed %d\n", k.result.Failure.Law, quote(name), m.Seed)
		}
	}
	return nil
}
