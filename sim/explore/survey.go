package explore

import (
	"context"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
)

// Survey runs a scenario and returns what the run came by; nothing of one that was interrupted.
func (x Explorer) Survey(ctx context.Context, s *scenarios.Scenario, o sim.Options) (result.Result, Coverage, error) {
	w := &witness{Coverage{}}
	o.Witness = w
	r, err := x.run(ctx, s, o)
	if err != nil || ctx.Err() != nil {
		return r, nil, err
	}
	w.ended(r)
	w.seen.exercised(r)
	return r, w.seen, nil
}
