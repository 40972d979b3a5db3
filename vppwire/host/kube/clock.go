package kube

import (
	"sync"
	"time"
)

// clock tells a time that never goes back, and that goes on while the machine sleeps: Linux's monotonic clock, which Go
// compares times by, does not, and a leader that slept would go on leading as if nothing had happened. A wall clock
// that is set ahead counts like a sleep: at worst somebody stops leading until the next renewal.
type clock struct {
	mu   sync.Mutex
	base time.Time
	// slept is how far the wall clock has got ahead of the monotonic one.
	slept time.Duration
}

// sleepMin is what the two clocks may differ by without a sleep: more than the drift between two corrections, and less
// than anything that matters to a lease.
const sleepMin = 50 * time.Millisecond

func newClock() clock { return clock{base: time.Now()} }

// now has no monotonic reading. A clock set back changes nothing.
func (c *clock) now() time.Time {
	t := time.Now()
	return c.at(t.Round(0).Sub(c.base.Round(0)), t.Sub(c.base))
}

// at is the time when so much has passed by each of the clocks.
func (c *clock) at(wall, monotonic time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ahead := wall - monotonic; ahead > c.slept+sleepMin {
		c.slept = ahead
	}
	return c.base.Round(0).Add(monotonic + c.slept)
}
