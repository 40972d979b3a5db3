package explore

import (
	"context"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/cause"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
)

// repeatMost is how many events of a run are repeated for its chain where one that passed was kept: a few seconds'
// work, and six times the catalogue's longest run. A run that needs more than that goes round in a circle that it
// entered where it left the way of the one that passed.
const repeatMost = 150_000

// Explain runs a scenario and gives its failure the chain of causes. Where last is a number, the result's story has the
// events up to it, with what each changed. The run costs what it costs without, the memory of its lines, and a look at
// a node for each event of the story. A run that nothing but its seed decides is compared with one that breaks nothing:
// see beside.
//
// failed is what the run has broken before, nil where that is not known. Where that took more than repeatMost events, a
// run of which one is kept is repeated up to there, and the result holds that failure with its chain and nothing else.
func (x Explorer) Explain(ctx context.Context, s *scenarios.Scenario, o sim.Options, failed *result.Failure, last int64) (result.Result, error) {
	if failed != nil && failed.Event > repeatMost && o.Chooser == nil && o.Postpone == 0 {
		if x.Kept.Whole(cause.NameOf(s, o.Seed)) {
			return x.explainStart(ctx, s, o, x.Kept, failed)
		}
	}
	told := tellerOf(s.Topology.Nodes, last)
	o.Account = told
	r, err := x.run(ctx, s, o)
	if err != nil || ctx.Err() != nil {
		return r, err
	}
	told.end()
	if r.Verdict == result.Fail && r.Failure != nil { // an unmet expectation says itself what differs: see result.Unmet
		if o.Chooser == nil && o.Postpone == 0 {
			if err := x.beside(ctx, &told.told, s, o, &r); err != nil {
				return r, err
			}
		}
		r.Failure.Chain = told.told.Chain(r.Failure)
	}
	if len(told.story.Events) > 0 {
		if r.Story == nil {
			r.Story = &result.Story{}
		}
		r.Story.Base, r.Story.Events = told.story.Base, told.story.Events
	}
	return r, nil
}

// Keep runs a scenario that is decided by its seed and takes what it does into p, if it breaks nothing and ends as
// expected; it reports whether. A later run of the same scenario and seed that fails can be held against it. take is
// called with what takes it: p may be shared.
func (x Explorer) Keep(ctx context.Context, s *scenarios.Scenario, o sim.Options, p *cause.Precedents, take func(func())) (bool, error) {
	told := tellerOf(s.Topology.Nodes, 0)
	o.Account = told
	r, err := x.run(ctx, s, o)
	if err != nil || ctx.Err() != nil || r.Verdict != result.Pass {
		return false, err
	}
	take(func() { p.Keep(cause.NameOf(s, o.Seed), &told.told) })
	return true, nil
}

// beside compares a failing run with one that breaks nothing: the one that was kept; the same run without the planted
// fault; its nearest neighbour; or the run of another seed.
func (x Explorer) beside(ctx context.Context, told *cause.Recorder, s *scenarios.Scenario, o sim.Options, r *result.Result) error {
	if name := cause.NameOf(s, o.Seed); x.Kept.Has(name) {
		return told.Beside(x.Kept, name)
	}
	o.Account = nil
	if found, err := x.unplanted(ctx, told, s, o); found || err != nil {
		return err
	}
	if found, err := x.neighbour(ctx, told, s, o, r); found || err != nil {
		return err
	}
	return x.sibling(ctx, told, s, o, r)
}

// explainStart is Explain for a run that is too long to be repeated as a whole.
func (x Explorer) explainStart(ctx context.Context, s *scenarios.Scenario, o sim.Options, p *cause.Precedents, failed *result.Failure) (result.Result, error) {
	inner, stop := context.WithCancel(ctx)
	defer stop()
	told := tellerOf(s.Topology.Nodes, 0)
	told.most, told.stop = repeatMost, stop
	o.Account = told
	_, err := x.run(inner, s, o)
	if ctx.Err() != nil || err != nil && inner.Err() == nil {
		return result.Result{}, err
	}
	if err := told.told.Beside(p, cause.NameOf(s, o.Seed)); err != nil {
		return result.Result{}, err
	}
	f := *failed
	f.Chain = told.told.Chain(&f)
	return result.Result{Verdict: result.Fail, Failure: &f}, nil
}
