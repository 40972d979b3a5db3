package lab

import (
	"slices"
	"time"
)

// agenda is what the interpreter of the timeline has planned, by times of the scenario. It belongs to the goroutine that drives the
// lab.
type agenda struct {
	list []plan
	// under is the plan being carried out.
	under *plan
}

type plan struct {
	at time.Duration
	do func()
}

// add plans something; of two at one time the one that was planned first comes first.
func (a *agenda) add(at time.Duration, do func()) {
	i := len(a.list)
	for i > 0 && a.list[i-1].at > at {
		i--
	}
	a.list = slices.Insert(a.list, i, plan{at, do})
}

// carryOut does what is planned until a time.
func (a *agenda) carryOut(until time.Duration) {
	for len(a.list) > 0 && a.list[0].at <= until {
		x := a.list[0]
		a.list = slices.Delete(a.list, 0, 1)
		a.during(x)
	}
}

// during does a plan.
func (a *agenda) during(x plan) {
	a.under = &x
	x.do()
	a.under = nil
}

// now is the time of the plan being carried out, so that what follows from it comes when it should however late a loaded machine is;
// else the time that it is.
func (a *agenda) now(is time.Duration) time.Duration {
	if a.under != nil {
		return a.under.at
	}
	return is
}
