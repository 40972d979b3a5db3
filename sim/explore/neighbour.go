package explore

import (
	"context"
	"fmt"
	"slices"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/cause"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/sim/engine"
)

const (
	// neighbourEvents is how many events the search for the nearest passing run may take in about, and of a run at most a
	// tenth of it.
	neighbourEvents = 300_000
	// withoutMost is how many of its last steps a timeline is tried without.
	withoutMost = 6
)

// neighbour looks for the run nearest to a failing one that breaks nothing, and compares the failing one with it; false
// where there is none. First chance decides nothing any more from some choice on: halving finds the choice before which
// it must end for the law to hold. Where the law is broken without any chance, a step of the timeline is left out, the
// last first.
func (x Explorer) neighbour(ctx context.Context, failed *cause.Recorder, s *scenarios.Scenario, o sim.Options, r *result.Result) (found bool, err error) {
	tries := neighbourEvents / max(r.Events, 1)
	if tries < 10 {
		return false, nil
	}
	try := func(s *scenarios.Scenario, c engine.Chooser) (*cause.Recorder, bool, error) {
		if tries--; tries < 0 {
			return nil, false, nil
		}
		told := tellerOf(s.Topology.Nodes, 0)
		// nothing that listens to the run receives these
		o := sim.Options{Seed: o.Seed, Laws: o.Laws, Plant: o.Plant, Chooser: c, Account: told}
		bounded := copyOf(s)
		bounded.Limits.Events = eventsFactor*r.Events + eventsSpare
		again, err := x.run(ctx, bounded, o)
		return &told.told, err == nil && again.Verdict == result.Pass, ctx.Err()
	}
	recorder := engine.Recording(engine.Seeded(o.Seed))
	if _, passes, err := try(s, recorder); passes || err != nil {
		return false, err
	}
	picks := slices.Clone(recorder.Picks())
	nearest, passes, err := try(s, &defaults{picks: picks})
	if err != nil {
		return false, err
	}
	if passes {
		low, high := 0, len(picks) // with the first low choices kept the law holds, with the first high it does not
		for high-low > 1 {
			middle := low + (high-low)/2
			told, passes, err := try(s, &defaults{picks: picks, most: middle})
			if err != nil {
				return false, err
			}
			if tries < 0 {
				return false, nil
			}
			if passes {
				low, nearest = middle, told
			} else {
				high = middle
			}
		}
		failed.BesideRun(nearest, fmt.Sprintf("the nearest run that breaks nothing, in which chance decides nothing from here on (choice %d, %s)", low+1, picks[low].Label))
		return true, nil
	}
	for i := len(s.Timeline) - 1; i >= max(0, len(s.Timeline)-withoutMost); i-- {
		fewer := copyOf(s)
		fewer.Timeline = slices.Delete(fewer.Timeline, i, i+1)
		told, passes, err := try(fewer, nil)
		if err != nil {
			return false, err
		}
		if passes {
			failed.Without(told, fmt.Sprintf("without step %d of the timeline, %s, nothing breaks", i+1, s.Timeline[i]), s.Timeline[i].Action.String())
			return true, nil
		}
	}
	return false, nil
}

// unplanted compares a run with a planted fault with the same one without it; false where nothing is planted or that
// run fails, too.
func (x Explorer) unplanted(ctx context.Context, failed *cause.Recorder, s *scenarios.Scenario, o sim.Options) (found bool, err error) {
	if o.Plant == nil {
		return false, nil
	}
	right := copyOf(s)
	right.Faults.AsItWas, o.Plant = "", nil
	told, passes, err := x.passing(ctx, right, o)
	if passes {
		failed.BesideRun(told, "the run without the planted fault")
	}
	return passes, err
}

// siblingsMost is how many other seeds are tried.
const siblingsMost = 4

// sibling compares a failing run with the first of the scenario's next seeds whose run breaks nothing.
func (x Explorer) sibling(ctx context.Context, failed *cause.Recorder, s *scenarios.Scenario, o sim.Options, r *result.Result) error {
	if r.Events*siblingsMost > neighbourEvents {
		return nil
	}
	for range siblingsMost {
		o.Seed++
		told, passes, err := x.passing(ctx, s, o)
		if err != nil {
			return err
		}
		if passes {
			failed.BesideRun(told, fmt.Sprintf("the run of seed %d, which passed", o.Seed))
			return nil
		}
	}
	return nil
}

// passing runs a scenario and keeps what it does; false where it breaks a law.
func (x Explorer) passing(ctx context.Context, s *scenarios.Scenario, o sim.Options) (*cause.Recorder, bool, error) {
	told := tellerOf(s.Topology.Nodes, 0)
	again, err := x.run(ctx, s, sim.Options{Seed: o.Seed, Laws: o.Laws, Plant: o.Plant, Account: told})
	return &told.told, err == nil && again.Verdict == result.Pass, ctx.Err()
}

// defaults repeats the first decisions of a run and takes the default for every other one.
type defaults struct {
	picks []engine.Pick
	most  int
	at    int
}

// Pick implements engine.Chooser.
func (c *defaults) Pick(label string, n int) int {
	if n <= 1 || c.at >= c.most || c.picks[c.at].Label != label || c.picks[c.at].N != n {
		return 0
	}
	c.at++
	return c.picks[c.at-1].Value
}
