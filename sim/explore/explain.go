package explore

import (
	"context"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/cause"
	"github.com/vppdrill/vppdrill/sim"
)

// Explain runs a scenario and gives its failure the chain of causes. The run costs what it costs without, and the memory of its lines.
func (x Explorer) Explain(ctx context.Context, s *scenarios.Scenario, o sim.Options) (scenarios.Result, error) {
	var told cause.Recorder
	o.Account = &told
	r, err := x.run(ctx, s, o)
	if err == nil && ctx.Err() == nil && r.Failure != nil {
		r.Failure.Chain = told.Chain(r.Failure)
	}
	return r, err
}
