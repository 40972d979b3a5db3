package museum

import (
	"context"
	"errors"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
)

// Run is sim.Run with the planted fault that the scenario's asItWas names, in any scenario and judged by any laws. The
// error is sim.Run's, or names an unknown fault.
func Run(ctx context.Context, s *scenarios.Scenario, o sim.Options) (result.Result, error) {
	if s.Faults.AsItWas != "" && o.Plant == nil {
		e, err := ByName(s.Faults.AsItWas)
		if mistake := (*scenarios.InputError)(nil); errors.As(err, &mistake) {
			return result.Result{}, s.Misplaced("faults.asItWas", mistake)
		}
		o.Plant = e.Plant()
	}
	return sim.Run(ctx, s, o)
}
