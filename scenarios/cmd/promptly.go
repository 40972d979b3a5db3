package cmd

import (
	"context"
	"sync"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/cmd/cli"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

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
		r, err := cli.Promptly(ctx, func() (result.Result, error) { return run(ctx, s, o) })
		telling.Lock()
		defer telling.Unlock()
		left = ctx.Err() != nil
		return r, err
	}
}
