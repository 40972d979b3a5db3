package explore

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/sim"
)

// Divergence is the first event that two runs of one scenario and seed do not share.
type Divergence struct {
	// Event counts from 1. First and Second are "time line", "" in a run that had ended before.
	Event         int64
	First, Second string
}

func (d *Divergence) Error() string {
	tell := func(line string) string {
		if line == "" {
			return "the end"
		}
		return fmt.Sprintf("%q", line)
	}
	return fmt.Sprintf("two runs of one seed differ from event %d on: %s and %s", d.Event, tell(d.First), tell(d.Second))
}

// Start begins one run that tells its events to a listener.
type Start func(ctx context.Context, events func(seq int64, at time.Duration, line []byte)) (scenarios.Result, error)

// Verify runs a scenario twice with one seed, side by side, and compares every event. The error is a *Divergence where the
// runs differ, else what kept a run from starting or the context's. The Result is the first run's.
func (x Explorer) Verify(ctx context.Context, s *scenarios.Scenario, seed uint64, laws []scenarios.Law) (scenarios.Result, error) {
	start := func(ctx context.Context, events func(int64, time.Duration, []byte)) (scenarios.Result, error) {
		return x.run(ctx, s, sim.Options{Seed: seed, Laws: laws, Events: events})
	}
	return Lockstep(ctx, start, start)
}

// Lockstep does two runs event by event: each event of the first is followed by the same one of the second. It ends at the
// first difference, a *Divergence, and keeps no events, so the runs may be of any length.
func Lockstep(ctx context.Context, first, second Start) (scenarios.Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	follower := &follower{ctx: ctx, start: second}
	next, stop := iter.Pull(follower.events)
	defer stop()
	var found *Divergence
	r, err := first(ctx, func(seq int64, at time.Duration, line []byte) {
		if found != nil || ctx.Err() != nil {
			return
		}
		other, ok := next()
		if ok && other.at == at && string(other.line) == string(line) {
			return
		}
		if follower.err != nil || ctx.Err() != nil {
			cancel()
			return
		}
		found = &Divergence{Event: seq, First: trailLine(at, line)}
		if ok {
			found.Second = trailLine(other.at, other.line)
		}
		cancel()
	})
	switch {
	case found != nil:
		return r, found
	case err != nil:
		return r, err
	case follower.err != nil:
		return r, follower.err
	case ctx.Err() != nil:
		return r, ctx.Err()
	}
	if other, ok := next(); ok {
		return r, &Divergence{Event: r.Events + 1, Second: trailLine(other.at, other.line)}
	}
	if follower.err != nil {
		return r, follower.err
	}
	return r, sameEnd(r, follower.result)
}

// sameEnd compares what two runs with equal trails came to: laws could remember something that events do not show.
func sameEnd(a, b scenarios.Result) error {
	if a.Verdict != b.Verdict || a.Digest != b.Digest || a.Events != b.Events || a.Error != b.Error {
		return fmt.Errorf("two runs with the same %d events came to different ends: %s and %s", a.Events, ending(a), ending(b))
	}
	return nil
}

func ending(r scenarios.Result) string {
	return strings.Join(strings.Fields(string(r.Verdict)+" "+r.Digest+" "+r.Error), " ")
}

func trailLine(at time.Duration, line []byte) string { return at.String() + " " + string(line) }

// follower is the second of two runs.
type follower struct {
	ctx    context.Context
	start  Start
	result scenarios.Result
	err    error
}

// trailEvent is valid until the follower goes on.
type trailEvent struct {
	at   time.Duration
	line []byte
}

// events runs and yields each event. When nobody wants more, the run is cancelled.
func (f *follower) events(yield func(trailEvent) bool) {
	ctx, cancel := context.WithCancel(f.ctx)
	defer cancel()
	wanted := true
	f.result, f.err = f.start(ctx, func(_ int64, at time.Duration, line []byte) {
		if wanted && !yield(trailEvent{at, line}) {
			wanted = false
			cancel()
		}
	})
}
