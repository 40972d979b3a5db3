package lab

import (
	"slices"
	"time"
)

// Agenda is what the interpreter of a timeline has planned, by times of the scenario. It belongs to the goroutine that
// drives the world.
type Agenda struct {
	list []plan
	// under is the plan being carried out.
	under *plan
}

type plan struct {
	at time.Duration
	do func()
}

// Add plans something; of two at one time the one that was planned first comes first.
func (a *Agenda) Add(at time.Duration, do func()) {
	i := len(a.list)
	for i > 0 && a.list[i-1].at > at {
		i--
	}
	a.list = slices.Insert(a.list, i, plan{at, do})
}

// CarryOut does what is planned until a time.
func (a *Agenda) CarryOut(until time.Duration) {
	for len(a.list) > 0 && a.list[0].at <= until {
		x := a.list[0]
		a.list = slices.Delete(a.list, 0, 1)
		a.During(x.at, x.do)
	}
}

// During does what was planned for a time, now.
func (a *Agenda) During(at time.Duration, do func()) {
	a.under = &plan{at, do}
	do()
	a.under = nil
}

// Now is the time of the plan being carried out, so that what follows from it comes when it should however late a
// loaded machine is; else the time that it is.
func (a *Agenda) Now(is time.Duration) time.Duration {
	if a.under != nil {
		return a.under.at
	}
	return is
}
