package cli

import (
	"context"
	"time"
)

// interruptGrace is how long what was interrupted may still end by itself: a person notices a tenth of a second.
const interruptGrace = 20 * time.Millisecond

// Promptly does something that may look at its context seldom, and returns soon after the context has ended, whatever
// it is at. What is left to itself then holds nothing but memory, and its process is about to end.
func Promptly[T any](ctx context.Context, do func() (T, error)) (T, error) {
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
