package calico

import (
	"slices"
	"time"
)

// alarms are the times at which a machine decides again.
type alarms struct {
	at []time.Time // ascending
	// asked is the time that its driver was asked to wake it at, zero for none.
	asked time.Time
}

// soon has the machine decide at a time, which it returns.
func (a *alarms) soon(at time.Time) time.Time {
	i, known := slices.BinarySearchFunc(a.at, at, time.Time.Compare)
	if !known {
		a.at = slices.Insert(a.at, i, at)
	}
	return at
}

// ring drops the times that have come, and reports whether there were any.
func (a *alarms) ring(now time.Time) bool {
	a.asked = time.Time{}
	n := 0
	for n < len(a.at) && !a.at[n].After(now) {
		n++
	}
	a.at = slices.Delete(a.at, 0, n)
	return n > 0
}

// due reports whether the machine decides at once.
func (a *alarms) due(now time.Time) bool { return len(a.at) > 0 && !a.at[0].After(now) }

// wake appends a WakeAt where the next time is another one than the driver was asked for.
func (a *alarms) wake(effects []Effect) []Effect {
	if len(a.at) == 0 || a.at[0].Equal(a.asked) {
		return effects
	}
	a.asked = a.at[0]
	return append(effects, WakeAt{At: a.asked})
}
