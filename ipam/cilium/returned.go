package cilium

import (
	"net/netip"
	"slices"
	"time"
)

// returned is a block on its way back.
type returned struct {
	cidr netip.Prefix
	at   time.Time
}

// giveBack ends holder's hold on p at now; false when it has none.
func (c *carver) giveBack(now time.Time, holder string, p netip.Prefix) bool {
	if have, ok := c.holder[p]; !ok || have != holder {
		return false
	}
	delete(c.holder, p)
	at, _ := slices.BinarySearchFunc(c.cooling, now, func(r returned, t time.Time) int {
		if r.at.After(t) {
			return 1
		}
		return -1 // equal times keep the order of return
	})
	c.cooling = slices.Insert(c.cooling, at, returned{cidr: p, at: now})
	c.expire(now)
	return true
}

// expire frees what was returned at least the delay ago.
func (c *carver) expire(now time.Time) {
	n := 0
	for n < len(c.cooling) && now.Sub(c.cooling[n].at) >= c.delay {
		n++
	}
	if n == 0 {
		return
	}
	gone := c.cooling[:n]
	c.cooling = c.cooling[n:]
	for _, r := range gone {
		c.lose(r.cidr)
		for _, s := range c.ranges {
			_, _ = s.Release(r.cidr) // the error is that it is elsewhere
		}
		c.reoccupy(r.cidr)
	}
}

// reoccupy takes again what a release of p cleared too much: parts of it that others hold or that still cool. There
// are such only when blocks of other lengths are about.
func (c *carver) reoccupy(p netip.Prefix) {
	if c.alone(p) && p.Bits() <= c.bits {
		return
	}
	wide := netip.PrefixFrom(p.Addr(), min(p.Bits(), c.bits)).Masked()
	again := func(q netip.Prefix) {
		if q.Overlaps(wide) {
			for _, s := range c.ranges {
				_, _ = s.Occupy(q)
			}
		}
	}
	for q := range c.all() {
		again(q)
	}
	for _, r := range c.cooling {
		again(r.cidr)
	}
}

// freeAt is when the next block comes back, the zero time when none is cooling at now.
func (c *carver) freeAt(now time.Time) time.Time {
	c.expire(now)
	if len(c.cooling) == 0 {
		return time.Time{}
	}
	return c.cooling[0].at.Add(c.delay)
}
