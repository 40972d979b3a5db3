package ec2

import (
	"slices"
	"time"
)

// past is what somebody who hears late sees: what was true a while ago.
type past[T any] struct {
	lag     time.Duration
	moments []moment[T]
}

type moment[T any] struct {
	at time.Time
	is T
}

// add notes what is true from a time on, and forgets what nobody sees any more.
func (p *past[T]) add(at time.Time, is T) {
	p.moments = append(p.moments, moment[T]{at, is})
	old := 0
	for old+1 < len(p.moments) && !p.moments[old+1].at.After(at.Add(-p.lag)) {
		old++
	}
	p.moments = slices.Delete(p.moments, 0, old)
}

// seen is what is shown now; before the first change is old enough, that one is.
func (p *past[T]) seen(now time.Time) (is T) {
	for n, m := range p.moments {
		if n == 0 || !m.at.After(now.Add(-p.lag)) {
			is = m.is
		}
	}
	return is
}
