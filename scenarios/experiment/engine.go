package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// Engine does runs, several at a time, and keeps each when it is over.
type Engine struct {
	// Run does one run, with a series where it can.
	Run func(ctx context.Context, s *scenarios.Scenario, seed uint64) (result.Result, error)
	// Jobs is how many run at a time.
	Jobs  int
	Store *Store
	// Asked is told how many more runs an experiment asks for, and how many of them the store had; Done that one is over. Either may
	// be nil. Done is called by several goroutines.
	Asked func(runs, had int)
	Done  func(s *scenarios.Scenario, seed uint64)
	// Searching, where set, is told before each batch of a search how far it is.
	Searching func(Search)
	// Elsewhere, where set, does a task in place of Run, for a program of Version, and hands on each run that it hears of. It may lose some, which
	// are asked for again, and tell some twice.
	Elsewhere func(ctx context.Context, t *Task, keep func(*Run) error) error
	Version   string
}

// job is one run to be done.
type job struct {
	s    *scenarios.Scenario
	key  string
	seed uint64
}

// do returns the runs of jobs, in their order. An interrupted context leaves the rest undone and is the error.
func (e *Engine) do(ctx context.Context, jobs []job) ([]*Run, error) {
	out := make([]*Run, len(jobs))
	var todo []int
	asked := map[runKey]int{}
	for i, j := range jobs {
		if r, ok := e.Store.Has(j.key, j.seed); ok {
			out[i] = r
			continue
		}
		k := runKey{j.key, j.seed}
		if _, twice := asked[k]; !twice {
			asked[k] = i
			todo = append(todo, i)
		}
	}
	if e.Asked != nil {
		e.Asked(len(jobs), len(jobs)-len(todo))
	}
	var err error
	if e.Elsewhere != nil {
		err = e.elsewhere(ctx, jobs, todo)
	} else {
		err = e.each(ctx, len(todo), func(i int) error {
			r, err := e.one(ctx, jobs[todo[i]])
			if err != nil {
				return err
			}
			return e.keep(r, jobs[todo[i]].s)
		})
	}
	if err != nil {
		return nil, err
	}
	for i, j := range jobs {
		if out[i] == nil {
			out[i], _ = e.Store.Has(j.key, j.seed)
		}
	}
	return out, nil
}

// elsewhere has what is to be done done by others, and what they lost again, as long as there is progress.
func (e *Engine) elsewhere(ctx context.Context, jobs []job, todo []int) error {
	for len(todo) > 0 {
		left := map[runKey]job{}
		list := make([]job, len(todo))
		for i, n := range todo {
			list[i] = jobs[n]
			left[runKey{jobs[n].key, jobs[n].seed}] = jobs[n]
		}
		err := e.Elsewhere(ctx, taskOf(e.Version, list), func(r *Run) error {
			k := runKey{r.Key, r.Seed}
			j, asked := left[k]
			if !asked {
				return nil // told twice
			}
			delete(left, k)
			return e.keep(r, j.s)
		})
		if err != nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		if len(left) == len(todo) {
			return fmt.Errorf("nothing came of %d runs", len(todo))
		}
		todo = slices.DeleteFunc(todo, func(n int) bool { _, is := left[runKey{jobs[n].key, jobs[n].seed}]; return !is })
	}
	return nil
}

// each does n things, Jobs at a time, until one fails or ctx ends.
func (e *Engine) each(ctx context.Context, n int, do func(i int) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	next := make(chan int)
	var workers sync.WaitGroup
	var failed firstError
	for range min(max(e.Jobs, 1), n) {
		workers.Go(func() {
			for i := range next {
				if err := do(i); err != nil {
					failed.note(err)
					stop()
				}
			}
		})
	}
	for i := range n {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	workers.Wait()
	if failed.err != nil {
		return failed.err
	}
	return ctx.Err()
}

// firstError is the first of several goroutines' errors.
type firstError struct {
	once sync.Once
	err  error
}

func (f *firstError) note(err error) { f.once.Do(func() { f.err = err }) }

// one does one run. One that was interrupted is none.
func (e *Engine) one(ctx context.Context, j job) (*Run, error) {
	res, err := e.Run(ctx, j.s, j.seed)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("seed %d: %w", j.seed, err)
	}
	return &Run{Key: j.key, Seed: j.seed, Verdict: res.Verdict, Error: res.Error, Digest: res.Digest, Figures: FiguresOf(&res), Series: res.Series}, nil
}

// keep adds a run to the store and tells it.
func (e *Engine) keep(r *Run, s *scenarios.Scenario) error {
	if err := e.Store.Keep(r); err != nil {
		return err
	}
	if e.Done != nil {
		e.Done(s, r.Seed)
	}
	return nil
}
