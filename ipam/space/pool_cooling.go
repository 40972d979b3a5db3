package space

import (
	"net/netip"
	"time"
)

// Cooling is how many released addresses were still cooling when the pool last looked at the time.
func (p *Pool) Cooling() int { return len(p.cooling) }

// Cool makes a free address cool as if it had been released at that time; false and no change when a is not free or
// the pool has no delay.
func (p *Pool) Cool(at time.Time, a netip.Addr) bool {
	i, ok := p.index(a)
	if !ok || p.delay == 0 || !p.taken.Set(i) {
		return false
	}
	p.off.Set(i)
	p.cooling.push(cooled{at: at.UnixNano(), index: i})
	return true
}

// Cools reports whether a was still cooling when the pool last looked at the time. It looks through all that cool.
func (p *Pool) Cools(a netip.Addr) bool {
	i, ok := p.index(a)
	return ok && p.cooling.has(i)
}

// FreeAt is when the next cooling address becomes free, the zero time when none is cooling at now.
func (p *Pool) FreeAt(now time.Time) time.Time {
	p.expire(now)
	if len(p.cooling) == 0 {
		return time.Time{}
	}
	return time.Unix(0, p.cooling[0].at+p.delay).UTC()
}

// CoolingSince lists the addresses that cool at now with their times of release, oldest first, then in address order.
func (p *Pool) CoolingSince(now time.Time) ([]netip.Addr, []time.Time) {
	p.expire(now)
	sorted := p.cooling.sorted()
	addrs, times := make([]netip.Addr, len(sorted)), make([]time.Time, len(sorted))
	for i, c := range sorted {
		addrs[i], times[i] = p.addr(c.index), time.Unix(0, c.at).UTC()
	}
	return addrs, times
}

// expire frees what has cooled long enough.
func (p *Pool) expire(now time.Time) {
	if len(p.cooling) == 0 {
		return
	}
	for limit := now.UnixNano() - p.delay; len(p.cooling) > 0 && p.cooling[0].at <= limit; {
		i := p.cooling.pop().index
		p.taken.Clear(i)
		p.off.Clear(i)
	}
}
