package cmd

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// task is one run to be done.
type task struct {
	s    *scenarios.Scenario
	seed uint64
}

// batch does runs, several at a time, and reports them in their order.
type batch struct {
	// with are the world's flags, as they follow it in a command.
	with  string
	world string
	run   RunFunc
	laws  []fact.Law
	jobs  int
	tasks []task
	// explain finds the causes of failures and records the events of a story, each by a second run; nil: neither is
	// wanted.
	explain func(ctx context.Context, s *scenarios.Scenario, o RunOptions, failed *result.Failure, last int64) (result.Result, error)
	// kept takes runs that pass, each by a second run; nil: they are not kept.
	kept Kept
	// story: runs have stories, for a page.
	story bool
	// events keeps event lines, nil for none.
	events *eventFile
	// most is how many runs may fail, or not be judged, before no more are started; 0: any number. enough: so many did.
	most   int
	enough bool
}

// explainedMost is how many kinds of failures one command finds causes of. The first run of each kind is enough for a
// person, and a bug that breaks hundreds of runs would be looked into for minutes.
const explainedMost = 25

// toldMost is how many runs one command may have for those that pass to tell their events as well, and toldEvents how
// many events such a run has at most: it is done twice.
const (
	toldMost   = 4
	toldEvents = 500_000
)

// done is one finished run: its result, and its event lines on their way to the log.
type done struct {
	result result.Result
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

// do runs every task. Each result goes to text, when not nil, as soon as it and all before it are there; causes are
// looked for in that order too, for the first run of each kind of failure. An interrupt returns what was finished with
// the context's error.
func (b *batch) do(ctx context.Context, notes io.Writer, text TextReport) ([]result.Result, error) {
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
	inner, stop := context.WithCancel(ctx)
	defer stop()
	var workers sync.WaitGroup
	for range min(b.jobs, len(b.tasks)) {
		workers.Go(func() {
			for i := range next {
				slots[i] <- b.one(inner, b.tasks[i], p)
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
	var results []result.Result
	var firstErr error
	failed, kinds := 0, map[string]bool{}
	for i, slot := range slots {
		d := <-slot
		if b.enough {
			b.events.drop(d.events)
			continue
		}
		if err := b.events.take(d.events, d.cut); err != nil && firstErr == nil {
			firstErr = cli.BadInput(fmt.Errorf("keep event lines: %w", err))
		}
		if !d.kept {
			continue
		}
		b.complete(ctx, i, &d.result, kinds, p, text)
		results = append(results, d.result)
		if text != nil {
			p.hide()
			text.Add(d.result)
		}
		if d.result.Kind() == "" {
			continue
		}
		if failed++; failed == b.most && i < len(b.tasks)-1 {
			b.enough = true
			stop()
		}
	}
	if err := ctx.Err(); err != nil {
		return results, cli.Exit{Code: cli.ExitInterrupted, Err: err}
	}
	return results, firstErr
}

// complete adds to a run what a second run of it tells: the causes of the first failure of each kind, which is reported
// before they are looked for, and the story of a run among few.
func (b *batch) complete(ctx context.Context, i int, r *result.Result, kinds map[string]bool, p *progress, text TextReport) {
	kind := r.Kind()
	if kind != "" && (kinds[kind] || len(kinds) == explainedMost) {
		r.Story = nil // hundreds of them would be most of the report
		return
	}
	if r.Verdict == result.Error || ctx.Err() != nil {
		return
	}
	if kind != "" {
		kinds[kind] = true
	}
	if r.Failure != nil && kind != "" && b.explain != nil && text != nil {
		p.hide()
		text.Open(*r)
	}
	b.tell(ctx, b.tasks[i].s, b.options(b.tasks[i]), r)
}

// options are what a task's run is asked for.
func (b *batch) options(t task) RunOptions {
	return RunOptions{Seed: t.seed, Laws: b.laws, Replay: replayOf(t.s, b.world+b.with, t.seed), Story: b.story, Series: b.story}
}

// one does one run. A scenario that cannot be started is a result, too: it could not be judged.
func (b *batch) one(ctx context.Context, t task, p *progress) done {
	if ctx.Err() != nil {
		return done{}
	}
	o := b.options(t)
	part, err := b.events.part(t.s.Name, b.world, t.seed)
	if err != nil {
		return done{result: failedStart(t, b.world, o, err), kept: true}
	}
	if part != nil {
		o.Events = part.event
	}
	started := time.Now()
	res, err := p.followed(b.run)(ctx, t.s, o)
	if err == nil && ctx.Err() == nil {
		if b.kept != nil && res.Verdict == result.Pass {
			_, _ = cli.Promptly(ctx, func() (struct{}, error) { // it has just passed, so that nothing but an interrupt keeps it from doing so again
				return struct{}{}, b.kept.Keep(ctx, t.s, RunOptions{Seed: t.seed, Laws: b.laws})
			})
		}
		return done{result: res, events: part, kept: true}
	}
	if err != nil {
		res = failedStart(t, b.world, o, err)
		res.WallSeconds = time.Since(started).Seconds()
	}
	if ctx.Err() != nil {
		return done{events: part, cut: fmt.Sprintf("%s with seed %d was interrupted here", t.s.Name, t.seed)}
	}
	return done{result: res, events: part, kept: true}
}

// tell runs a task again for what a person wants to know of it: the causes of its failure, the events of its story.
func (b *batch) tell(ctx context.Context, s *scenarios.Scenario, o RunOptions, r *result.Result) {
	broken := r.Verdict == result.Fail && r.Failure != nil // an unmet expectation says itself what differs
	told := b.story && len(b.tasks) <= toldMost && r.Events <= toldEvents
	if b.explain == nil || !broken && !told {
		return
	}
	last := int64(0)
	if b.story {
		last = r.Events
	}
	again, err := cli.Promptly(ctx, func() (result.Result, error) { return b.explain(ctx, s, o, r.Failure, last) })
	if err != nil {
		return
	}
	switch {
	case !broken:
	case again.Failure != nil && again.Failure.Law == r.Failure.Law && again.Failure.Event == r.Failure.Event:
		r.Failure.Chain = again.Failure.Chain
	case ctx.Err() != nil: // it was interrupted, which says nothing of the run
	default: // nothing that the seed decides makes the difference
		at := result.Link{Event: r.Failure.Event, AtSeconds: r.Failure.AtSeconds, Node: r.Failure.Node, Leads: r.Failure.Event, Kind: "unusual",
			Text: "the same run did something else when it was done again: look for what a seed does not decide, such as the order of a map, a hash or the time"}
		law := at
		law.Leads, law.Kind, law.Text = 0, "broken", "law "+r.Failure.Law+" is broken: "+r.Failure.What
		r.Failure.Chain = []result.Link{at, law}
	}
	if r.Story != nil && again.Story != nil {
		r.Story.Base, r.Story.Events = again.Story.Base, again.Story.Events
	}
}

func failedStart(t task, world string, o RunOptions, err error) result.Result {
	return result.Result{Scenario: t.s.Name, Goal: t.s.Goal, File: t.s.File, Labels: t.s.Labels, World: world, Seed: t.seed,
		Verdict: result.Error, Error: cli.FirstLine(err.Error()), Replay: o.Replay}
}
