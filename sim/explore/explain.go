package explore

import (
	"context"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/cause"
	"github.com/vppdrill/vppdrill/sim"
)

// Explain runs a scenario and gives its failure the chain of causes. Where last is a number, the result's story has the events up to it, with
// what each changed. The run costs what it costs without, the memory of its lines, and a look at a node for each event of the story. A run that
// nothing but its seed decides is held against one that breaks nothing: the catalogue's own as it was kept, or its nearest neighbour.
func (x Explorer) Explain(ctx context.Context, s *scenarios.Scenario, o sim.Options, last int64) (scenarios.Result, error) {
	told := tellerOf(s.Topology.Nodes, last)
	o.Account = told
	r, err := x.run(ctx, s, o)
	if err != nil || ctx.Err() != nil {
		return r, err
	}
	told.end()
	if r.Verdict == scenarios.Fail {
		if o.Chooser == nil && o.Postpone == 0 {
			if err := x.beside(ctx, &told.told, s, o, &r); err != nil {
				return r, err
			}
		}
		if r.Failure != nil {
			r.Failure.Chain = told.told.Chain(r.Failure)
		} else { // an expectation did not come true
			r.Chain = told.told.Chain(&scenarios.Failure{Law: "expect", What: r.Error, Event: r.Events})
		}
	}
	if len(told.story.Events) > 0 {
		if r.Story == nil {
			r.Story = &scenarios.Story{}
		}
		r.Story.Base, r.Story.Events = told.story.Base, told.story.Events
	}
	return r, nil
}

// beside holds a failing run against one that breaks nothing: the catalogue's own as it was kept, else its nearest neighbour.
func (x Explorer) beside(ctx context.Context, told *cause.Recorder, s *scenarios.Scenario, o sim.Options, r *scenarios.Result) error {
	name := cause.NameOf(s, o.Seed)
	p, err := cause.Passed(name)
	if err != nil {
		return err
	}
	if p.Has(name) {
		return told.Beside(p, name)
	}
	o.Account = nil
	return x.neighbour(ctx, told, s, o, r)
}
