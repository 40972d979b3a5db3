package ipamd

import (
	"context"
	"time"

	"github.com/vppdrill/vppdrill/ipam/datastore"
)

// Turn does what Run does until a time, in one goroutine, and moves a clock from one wake to the next.
func (d *Daemon) Turn(ctx context.Context, clock *time.Time, until time.Time) {
	for {
		select {
		case c := <-d.calls:
			r := d.cfg.Cloud.Do(ctx, c)
			r.Number = c.Number
			d.step(datastore.Called{Result: r})
			continue
		default:
		}
		if d.wake.After(until) {
			*clock = until
			return
		}
		if d.wake.After(*clock) {
			*clock = d.wake
		}
		d.step(datastore.Woke{})
	}
}
