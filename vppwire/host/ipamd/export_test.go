package ipamd

import (
	"context"
	"sync"
	"time"

	"github.com/vppdrill/vppdrill/ipam/datastore"
)

// Clock is a time that moves when it is told to. A server may ask it from a goroutine whose client has gone.
type Clock struct {
	mu sync.Mutex
	at time.Time
}

// Now is the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

// Set moves the clock.
func (c *Clock) Set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = at
}

// Turn does what Run does until a time, in one goroutine, and moves a clock from one wake to the next.
func (d *Daemon) Turn(ctx context.Context, clock *Clock, until time.Time) {
	for {
		select {
		case c := <-d.calls:
			r := d.cfg.Cloud.Do(ctx, c)
			r.Number = c.Number
			if !clock.Now().Before(d.wake) {
				d.step(datastore.Woke{}) // the answer is late
			}
			d.step(datastore.Called{Result: r})
			continue
		default:
		}
		if d.wake.After(until) {
			clock.Set(until)
			return
		}
		if d.wake.After(clock.Now()) {
			clock.Set(d.wake)
		}
		d.step(datastore.Woke{})
	}
}

// RunBy does what Run does for an agent that a lock guards.
func (r *Requester) RunBy(ctx context.Context, mu *sync.Mutex, a looked) {
	r.run(ctx, func(ctx context.Context, look func(looked)) error {
		mu.Lock()
		defer mu.Unlock()
		if ctx.Err() == nil {
			look(a)
		}
		return ctx.Err()
	})
}
