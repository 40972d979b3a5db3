package cmd

import (
	"context"
	"sync"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// interruptGrace is how long what was interrupted may still end by itself: a person notices a tenth of a second.
const interruptGrace = 20 * time.Millisecond

// promptly does something that may look at its context seldom, and returns soon after the context has ended, whatever
// it is at. What is left to itself then holds nothing but memory, and its process is about to end.
func promptly[T any](ctx context.Context, do func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	if err := ctx.Err(); err != nil {
		var none T
		return none, err
	}
	ended := make(chan outcome, 1)
	go func() {
		v, err := do()
		ended <- outcome{v, err}
	}()
	select {
	case x := <-ended:
		return x.value, x.err
	case <-ctx.Done():
	}
	grace := time.NewTimer(interruptGrace)
	defer grace.Stop()
	select {
	case x := <-ended:
		return x.value, x.err
	case <-grace.C:
		var none T
		return none, ctx.Err()
	}
}

// promptRun is a RunFunc that hears an interrupt promptly. What was left to itself tells nobody anything any more, and
// what it told before is whole.
func promptRun(run RunFunc) RunFunc {
	return func(ctx context.Context, s *scenarios.Scenario, o RunOptions) (result.Result, error) {
		var telling sync.Mutex
		left := false
		if tell := o.Events; tell != nil {
			o.Events = func(seq int64, at time.Duration, line []byte) {
				telling.Lock()
				defer telling.Unlock()
				if !left {
					tell(seq, at, line)
				}
			}
		}
		if tell := o.OnMark; tell != nil {
			o.OnMark = func(m result.Mark) {
				telling.Lock()
				defer telling.Unlock()
				if !left {
					tell(m)
				}
			}
		}
		r, err := promptly(ctx, func() (result.Result, error) { return run(ctx, s, o) })
		telling.Lock()
		defer telling.Unlock()
		left = ctx.Err() != nil
		return r, err
	}
}
