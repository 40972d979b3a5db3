package fault

import (
	"fmt"
	"time"

	"github.com/vppdrill/vppdrill/sim/engine"
)

// Injector decides about operations. Judge is called once for each, in the order in which they happen, by one
// goroutine; an Injector may remember what it has seen. String is an s-expression that Parse reads back into a fresh
// Injector.
type Injector interface {
	fmt.Stringer
	Judge(op Op) Verdict
}

// Env is where an Injector gets chance and time from. Injectors built with the zero Env print and compare, but those
// that need chance or time panic when they judge.
type Env struct {
	Chooser engine.Chooser
	// Now is the time since the run's start.
	Now func() time.Duration
}

// Judge asks every injector of a list and returns the first verdict that is not Pass. All are asked, so that what one
// counts does not depend on another. An empty list passes everything.
func Judge(list []Injector, op Op) Verdict {
	if len(list) == 0 {
		return Verdict{}
	}
	return judge(list, op)
}

func judge(list []Injector, op Op) (found Verdict) {
	for _, i := range list {
		if v := i.Judge(op); v.Action != Pass && found.Action == Pass {
			found = v
		}
	}
	return found
}
