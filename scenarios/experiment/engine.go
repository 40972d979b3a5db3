package experiment

import (
	"context"
	"fmt"
	"sync"

	"github.com/vppdrill/vppdrill/scenarios"
)

// Engine does runs, several at a time, and keeps each when it is over.
type Engine struct {
	// Run does one run, with a series where it can.
	Run func(ctx context.Context, s *scenarios.Scenario, seed uint64) (scenarios.Result, error)
	// Jobs is how many run at a time.
	Jobs  int
	Store *Store
	// Asked is told how many more runs an experiment asks for, and how many of them the store had; Done that one is over. Either may
	// be nil. Done is called by several goroutines.
	Asked func(runs, had int)
	Done  func(s *scenarios.Scenario, seed uint64)
}

// job is one run to be done.
type job struct {
	s    *scenarios.Scenario
	key  string
	seed uint64
}

// do returns the runs of jobs, in their order. An interrupted context leaves the rest undone and is the error.
func (e *Engine) do(ctx context.Context, jobs []job) ([]*Run, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
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
	next := make(chan int)
	var workers sync.WaitGroup
	var failed firstError
	for range min(max(e.Jobs, 1), len(todo)) {
		workers.Go(func() {
			for i := range next {
				r, err := e.one(ctx, jobs[i])
				if err != nil {
					failed.note(err)
					stop()
					continue
				}
				out[i] = r
			}
		})
	}
	for _, i := range todo {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	workers.Wait()
	if failed.err != nil {
		return nil, failed.err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i, j := range jobs {
		if out[i] == nil {
			out[i], _ = e.Store.Has(j.key, j.seed) // another job's run
		}
	}
	return out, nil
}

// firstError is the first of several goroutines' errors.
type firstError struct {
	once sync.Once
	err  error
}

func (f *firstError) note(err error) { f.once.Do(func() { f.err = err }) }

// one does one run and keeps it. A run that was interrupted is not kept.
func (e *Engine) one(ctx context.Context, j job) (*Run, error) {
	result, err := e.Run(ctx, j.s, j.seed)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("seed %d: %w", j.seed, err)
	}
	r := &Run{Key: j.key, Seed: j.seed, Verdict: result.Verdict, Error: result.Error, Digest: result.Digest, Figures: FiguresOf(&result), Series: result.Series}
	if err := e.Store.Keep(r); err != nil {
		return nil, err
	}
	if e.Done != nil {
		e.Done(j.s, j.seed)
	}
	return r, nil
}
