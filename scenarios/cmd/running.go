package cmd

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// running is one run under way, as progress shows it.
type running struct {
	name  string
	nodes int
	// end is when the run's break phase ends at the earliest, 0 where unknown.
	end time.Duration
	// at is the virtual time of its last event, events how many there were. A run writes them, progress reads them.
	at, events atomic.Int64
}

// lookEvery is how many events of a run pass between two looks at its clock; a power of two.
const lookEvery = 64

// follow records where a run is, and passes its event lines on.
func (r *running) follow(o *RunOptions) {
	tell := o.Events
	o.Events = func(seq int64, at time.Duration, line []byte) {
		if seq%lookEvery == 0 {
			r.at.Store(int64(at))
			r.events.Store(seq)
		}
		if tell != nil {
			tell(seq, at, line)
		}
	}
}

// where is the run in words: its name, and how much of its time has passed.
func (r *running) where() string {
	at := time.Duration(r.at.Load())
	if at == 0 {
		return r.name
	}
	text := r.name + " at " + scenarios.FormatDuration(at.Truncate(time.Second))
	if r.end > 0 {
		text += " of " + scenarios.FormatDuration(r.end.Truncate(time.Second))
	}
	return text
}

// share is how much of the run is done, 0 to 1, by its break phase.
func (r *running) share() float64 {
	if r.end <= 0 {
		return 0
	}
	return min(float64(r.at.Load())/float64(r.end), 1)
}

// followed is a RunFunc whose runs progress shows from begin to end.
func (p *progress) followed(run RunFunc) RunFunc {
	return func(ctx context.Context, s *scenarios.Scenario, o RunOptions) (result.Result, error) {
		r := p.begin(s)
		defer p.end(r)
		r.follow(&o)
		res, err := run(ctx, s, o)
		p.result(res)
		return res, err
	}
}
