package sim

import (
	"fmt"
	"strings"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/sim/internal/controllers"
)

// outlive turns a panic of what the simulator drives into a fact: a program that dies takes a node's pods along, not
// the rest of the catalogue. A panic of the simulator itself is an error of the run. Either way the world is not used
// any more. It is deferred, and err is the deferring function's result.
func (w *World) outlive(err *error) {
	v := recover()
	if v == nil {
		return
	}
	w.fallen = true
	where := scenarios.PanicFrames()
	text := scenarios.PanicText(v, where)
	refusal, refused := v.(*controllers.Refusal)
	if refused {
		text = refusal.Error()
	}
	died := refused || len(where) > 0 && productOf(where[0])
	if died && len(w.listeners) == 0 {
		w.stillborn = text // Watch returns it
		*err = nil
		return
	}
	w.fall(text, died)
	*err = w.eng.Err()
}

// fall ends the run, with a law where a program has died.
func (w *World) fall(text string, died bool) {
	if died {
		w.emit(fact.Fact{Node: w.stepping, What: fact.ProgramCrash{Why: text}})
	}
	w.eng.Fail(fmt.Errorf("%w: %s", scenarios.ErrFallen, text)) // the first error is kept
}

// productOf reports whether a function, as scenarios.PanicFrames names it, is of what runs unchanged outside of the
// simulator.
func productOf(name string) bool {
	return strings.HasPrefix(name, "ipam") || strings.HasPrefix(name, "vppwire")
}
