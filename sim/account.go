package sim

import (
	"context"
	"time"

	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// Account receives every event, fact and decision of a run, to explain it. It changes nothing.
type Account interface {
	// Begin receives, before the first event, a function that shows the present cluster. It may be called in the middle of
	// an event whose small steps are events.
	Begin(state func() (fact.Snapshot, error))
	// Event receives each event before it fires; parent is the event that scheduled it, 0 for none. line is valid during
	// the call.
	Event(seq int64, at time.Duration, parent int64, line []byte)
	// Fact receives each fact of the present event, before the laws do.
	Fact(f fact.Fact)
	// Decided receives what a program decides in the present event without an event that shows it: journal writes, log
	// lines, what it waits for from now on, how much it wants. who is a node or a controller.
	Decided(who, text string)
}

// account reports the run to its listener, if there is one.
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
