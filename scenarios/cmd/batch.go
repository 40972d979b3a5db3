package cmd

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
)

// task is one run to be done.
type task struct {
	s    *scenarios.Scenario
	seed uint64
}

// batch does runs, several at a time, and tells them in their order.
type batch struct {
	world string
	run   RunFunc
	laws  []scenarios.Law
	jobs  int
	tasks []task
	// explain finds the causes of failures, for the first explainedMost; nil: nobody asked.
	explain   func(ctx context.Context, s *scenarios.Scenario, o RunOptions) ([]scenarios.Link, error)
	explained atomic.Int64
	// events keeps event lines, nil for none.
	events *eventFile
}

// explainedMost is how many failures of one command are explained, each by a second run.
const explainedMost = 20

// done is one finished run: its result, and its event lines on their way to the log.
type done struct {
	result scenarios.Result
	events *eventPart
	// kept is false for a run that an interrupt ended or kept from starting; cut names one that it ended.
	kept bool
	cut  string
}

func (b *batch) names() []string {
	names := make([]string, len(b.tasks))
	for i, t := range b.tasks {
		names[i] = t.s.Name
	}
	return names
}

// do runs every task. Each result is told to text, when not nil, as soon as it and all before it are there. An interrupt
// returns what was finished with the context's error.
func (b *batch) do(ctx context.Context, notes io.Writer, text TextReport) ([]scenarios.Result, error) {
	slots := make([]chan done, len(b.tasks))
	for i := range slots {
		slots[i] = make(chan done, 1)
	}
	if text := b.forecast(); text != "" {
		fmt.Fprintln(notes, "vppdrill: "+text)
	}
	p := startProgress(notes, len(b.tasks))
	defer p.stop()
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(b.jobs, len(b.tasks)) {
		workers.Go(func() {
			for i := range next {
				slots[i] <- b.one(ctx, b.tasks[i], p)
			}
		})
	}
	go func() {
		for i := range b.tasks {
			next <- i
		}
		close(next)
	}()
	defer workers.Wait()
	var results []scenarios.Result
	var firstErr error
	for _, slot := range slots {
		d := <-slot
		if err := b.events.take(d.events, d.cut); err != nil && firstErr == nil {
			firstErr = cli.BadInput(fmt.Errorf("keep event lines: %w", err))
		}
		if !d.kept {
			continue
		}
		results = append(results, d.result)
		if text != nil {
			p.hide()
			text.Add(d.result)
		}
	}
	if err := ctx.Err(); err != nil {
		return results, cli.Exit{Code: cli.ExitInterrupted, Err: err}
	}
	return results, firstErr
}

// one does one run. A scenario that cannot be started is a result, too: it could not be judged.
func (b *batch) one(ctx context.Context, t task, p *progress) done {
	if ctx.Err() != nil {
		return done{}
	}
	o := RunOptions{Seed: t.seed, Laws: b.laws, Replay: replayOf(t.s, b.world, t.seed)}
	part, err := b.events.part(t.s.Name, b.world, t.seed)
	if err != nil {
		return done{result: failedStart(t, b.world, o, err), kept: true}
	}
	if part != nil {
		o.Events = part.event
	}
	started := time.Now()
	result, err := p.followed(b.run)(ctx, t.s, o)
	if err == nil && result.Verdict == scenarios.Fail && result.Failure != nil && b.explain != nil && b.explained.Add(1) <= explainedMost {
		o.Events, o.OnMark = nil, nil
		chain, explainErr := promptly(ctx, func() ([]scenarios.Link, error) { return b.explain(ctx, t.s, o) })
		if explainErr == nil {
			result.Failure.Chain = chain
		}
	}
	if err != nil {
		result = failedStart(t, b.world, o, err)
		result.WallSeconds = time.Since(started).Seconds()
	}
	if ctx.Err() != nil {
		return done{events: part, cut: fmt.Sprintf("%s with seed %d was interrupted here", t.s.Name, t.seed)}
	}
	return done{result: result, events: part, kept: true}
}

func failedStart(t task, world string, o RunOptions, err error) scenarios.Result {
	return scenarios.Result{Scenario: t.s.Name, Goal: t.s.Goal, File: t.s.File, Labels: t.s.Labels, World: world, Seed: t.seed,
		Verdict: scenarios.Error, Error: cli.FirstLine(err.Error()), Replay: o.Replay}
}
