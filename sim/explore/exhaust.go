package explore

import (
	"context"
	"fmt"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/sim/engine"
)

// Exhausted is what an exhaustive search of choices came to.
type Exhausted struct {
	Runs int
	// Complete: every combination was run; else the bound ended the search.
	Complete bool
	// Broken are the runs that did not pass, in their order.
	Broken []BrokenRun
}

// BrokenRun is one combination of choices that did not pass.
type BrokenRun struct {
	Scenario *scenarios.Scenario
	// Run counts from 1.
	Run int
	// Picks are its choices that are not 0, those of build first; never nil, so that Shrink knows the run by them.
	Picks  []Pick
	Result result.Result
}

// Exhaust runs every combination of choices of a small space: those that build makes to change its copy of s, and those
// of the run itself. A nil build changes nothing. At most most runs are done. Decisions wider than engine.OdometerWidth
// are tried at both ends only, so that a chance is yes and no. A cancelled context ends the search with its error and
// what was found so far. Nodes take turns call by call: how far one runs ahead of the others is not among the choices.
func (x Explorer) Exhaust(ctx context.Context, s *scenarios.Scenario, laws []fact.Law, most int, build func(engine.Chooser, *scenarios.Scenario)) (Exhausted, error) {
	var e Exhausted
	o := engine.NewOdometer()
	for o.Next() {
		if e.Runs == most {
			return e, nil
		}
		c := copyOf(s)
		if build != nil {
			build(o, c)
		}
		if err := c.Validate(); err != nil {
			return e, fmt.Errorf("choice %d built no valid scenario: %w", e.Runs+1, err)
		}
		r, err := x.run(ctx, c, sim.Options{Laws: laws, Chooser: turns{o}})
		if err == nil {
			err = ctx.Err() // a run that was interrupted came to nothing
		}
		if err != nil {
			return e, err
		}
		e.Runs++
		if r.Verdict != result.Pass {
			e.Broken = append(e.Broken, BrokenRun{c, e.Runs, append([]Pick{}, notDefault(o.Picks())...), r})
		}
	}
	e.Complete = true
	return e, nil
}

// turns asks a Chooser about everything but the simulator's bursts of calls; those are as short as they can be.
type turns struct{ engine.Chooser }

// burstLabel is the simulator's question of how many calls a node makes before it is another one's turn.
const burstLabel = "burst"

// Pick implements engine.Chooser.
func (t turns) Pick(label string, n int) int {
	if label == burstLabel {
		return 0
	}
	return t.Chooser.Pick(label, n)
}
