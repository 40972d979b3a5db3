package sim

import (
	"context"
	"time"

	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// Account is told a run event by event, fact by fact and decision by decision, by whoever explains it. It changes
// nothing.
type Account interface {
	// Begin is told before the first event how to see the cluster as it is: in the middle of an event, perhaps, whose
	// small steps are events.
	Begin(state func() (fact.Snapshot, error))
	// Event is told each event before it fires; parent is the event that scheduled it, 0 for none. line is valid during
	// the call.
	Event(seq int64, at time.Duration, parent int64, line []byte)
	// Fact is told each fact of the present event, before laws are.
	Fact(f fact.Fact)
	// Decided is told what a program decides in the present event and no event shows: what it writes to its journal, what
	// it logs, what it waits for from now on, how much it wants. who is a node or a controller.
	Decided(who, text string)
}

// account lets those who asked for it see the run.
func (w *World) account(o Options) {
	a := o.Account
	if a == nil {
		if o.Events != nil {
			w.eng.Trail(o.Events)
		}
		return
	}
	a.Begin(func() (fact.Snapshot, error) { return w.Snapshot(context.Background()) })
	w.eng.Trail(func(seq int64, at time.Duration, line []byte) {
		a.Event(seq, at, w.eng.Parent(), line)
		if o.Events != nil {
			o.Events(seq, at, line)
		}
	})
	w.listeners = append(w.listeners, func(f fact.Fact) error { a.Fact(f); return nil })
	w.decided = a.Decided
}
