package cmd

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// trial is one run of an exploration.
type trial struct {
	s    *scenarios.Scenario
	seed uint64
	// replay is the command that does it again.
	replay string
	// kind and where say what is special about it: the kind of operation that failed, and which one and how.
	kind, where string
	// run does it; nil: the sweep's does.
	run RunFunc
	// shrink makes its failure's capsule; nil: the scenario and seed say everything about the run.
	shrink func(ctx context.Context) ([]byte, error)
}

// found is a trial that did not pass; at is its place among all.
type found struct {
	at     uint64
	trial  trial
	result result.Result
}

// sweep is one exploration under way: it does trials, several at a time, and keeps the first failure of each kind.
type sweep struct {
	run  RunFunc
	laws []fact.Law
	// folder takes capsules and the report, nil for none.
	folder Folder

	// next is the first seed that was not taken: every one before it, from the first on, was.
	next uint64
	// progress shows how far all calls of do together are; nil: each call shows its own.
	progress *progress
	// begun counts the trials of earlier calls of do.
	begun uint64

	mu       sync.Mutex
	explored Explored
	// first holds the failure of the earliest trial of each kind; kinds the kinds in order of their first arrival.
	first map[string]found
	kinds []string
	// capsules are those of shrunk failures, by law.
	capsules map[string][]byte
	// plugins is set where plugins are killed: failures of one law differ by their causes, and are made smaller at once.
	plugins *Plugins
}

// do runs the trials of next, from 0 on, until there are no more or the context ends. total is how many there are, 0
// for an unknown knows.
func (w *sweep) do(ctx context.Context, cmd *cobra.Command, jobs, total int, next func(i uint64) (trial, bool)) {
	p := w.progress
	if p == nil {
		p = startProgress(cmd.ErrOrStderr(), total)
		defer p.stop()
	}
	var place atomic.Uint64
	first := w.begun // runs keep their places over several calls
	defer func() { w.begun = first + min(place.Load(), uint64(max(total, 0))) }()
	var workers sync.WaitGroup
	for range jobs {
		workers.Go(func() {
			for ctx.Err() == nil {
				i := place.Add(1) - 1
				t, ok := next(i)
				if !ok {
					return
				}
				o := RunOptions{Seed: t.seed, Laws: w.laws, Replay: t.replay}
				run := w.run
				if t.run != nil {
					run = promptRun(t.run)
				}
				r, err := p.followed(run)(ctx, t.s, o)
				if err != nil {
					r = failedStart(task{t.s, t.seed}, "sim", o, err)
				}
				if ctx.Err() == nil {
					w.note(first+i, t, r)
				}
			}
		})
	}
	workers.Wait()
}

// note counts a run and keeps it when it is the first failure of its kind.
func (w *sweep) note(at uint64, t trial, r result.Result) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.explored.Runs++
	w.explored.digest(t, r)
	if w.explored.Tried != nil {
		w.explored.Tried[t.kind]++
		if r.Summary.Faults > 0 {
			w.explored.Hit++
		}
	}
	if r.Verdict == result.Pass {
		return
	}
	kind := w.kindOf(r)
	w.explored.Broken[kind]++
	known, ok := w.first[kind]
	if !ok {
		w.kinds = append(w.kinds, kind)
	}
	if !ok || at < known.at {
		w.first[kind] = found{at, t, r}
	}
}

// kindOf names what a failure has in common with others: its law.
func kindOf(r result.Result) string {
	switch {
	case r.Failure != nil:
		return r.Failure.Law
	case r.Verdict == result.Fail:
		return "expectation"
	}
	return "error"
}

// kindOf is kindOf, where plugins are killed with what tells failures of one law apart.
func (w *sweep) kindOf(r result.Result) string {
	if w.plugins != nil && r.Failure != nil && r.Failure.Cause != "" {
		return r.Failure.Law + " (" + r.Failure.Cause + ")"
	}
	return kindOf(r)
}
