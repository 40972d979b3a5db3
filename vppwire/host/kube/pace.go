package kube

import "time"

// pace is the time of a machine that a driver steps: that of a clock, or so many times as fast since begin, for worlds whose days are
// shorter.
type pace struct {
	clock *clock
	begin time.Time
	by    float64 // 0 is 1
}

func newPace(c *clock, by float64) pace { return pace{clock: c, begin: c.now(), by: by} }

// now is the machine's time.
func (p pace) now() time.Time { return p.of(p.clock.now()) }

// of is the machine's time at one of the clock; the zero time stays.
func (p pace) of(t time.Time) time.Time {
	if p.by == 0 || t.IsZero() {
		return t
	}
	return p.begin.Add(time.Duration(float64(t.Sub(p.begin)) * p.by))
}

// set sets an alarm, of which there is one, at a time of the machine; the zero time stops it. One too many does no harm.
func (p pace) set(alarm *time.Timer, at time.Time) {
	alarm.Stop()
	if at.IsZero() {
		return
	}
	left := at.Sub(p.now())
	if p.by != 0 {
		left = time.Duration(float64(left) / p.by)
	}
	alarm.Reset(max(0, left))
}
