package explore

import (
	"context"
	"slices"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/cause"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/sim/engine"
)

// Run runs one scenario once. The error is a scenario that cannot be started; everything else is in the Result.
type Run func(ctx context.Context, s *scenarios.Scenario, o sim.Options) (result.Result, error)

// Explorer is how explorations are done. The zero Explorer is useful; it holds no state and may be shared.
type Explorer struct {
	// Version is the program's version. It goes into capsules, and Replay refuses capsules of another one.
	Version string
	// Run does the runs; nil: sim.Run.
	Run Run
	// Budget is how many runs one Shrink may do; 0: 300, which is a second for a small scenario.
	Budget int
	// Kept are runs that passed, for chains of causes; nil: none.
	Kept *cause.Precedents
}

const defaultBudget = 300

func (x Explorer) run(ctx context.Context, s *scenarios.Scenario, o sim.Options) (result.Result, error) {
	if x.Run != nil {
		return x.Run(ctx, s, o)
	}
	return sim.Run(ctx, s, o)
}

// copyOf is a scenario that shares nothing that explorations change.
func copyOf(s *scenarios.Scenario) *scenarios.Scenario {
	c := *s
	c.Timeline = slices.Clone(s.Timeline)
	c.Faults.Nodes = slices.Clone(s.Faults.Nodes)
	c.Faults.Inject = slices.Clone(s.Faults.Inject)
	c.Workload.Rows = slices.Clone(s.Workload.Rows)
	c.Config.IPAM.Unshare()
	return &c
}

// brokenLaw is the law that a run broke, "" when it broke none.
func brokenLaw(r result.Result) string {
	if r.Failure == nil {
		return ""
	}
	return r.Failure.Law
}

// Pick is one decision that a capsule lists: Value of [0, Of), made when Label was asked about for the Number-th time,
// from 1. Questions with one possible answer do not count.
type Pick struct {
	Label             string
	Number, Of, Value int
}

// listed makes the listed decisions and answers 0, the default, to every other question.
type listed struct {
	picks map[question]Pick
	asked map[string]int
}

type question struct {
	label  string
	number int
}

func choosing(picks []Pick) *listed {
	l := &listed{picks: make(map[question]Pick, len(picks)), asked: map[string]int{}}
	for _, p := range picks {
		l.picks[question{p.Label, p.Number}] = p
	}
	return l
}

// Pick implements engine.Chooser. A question between another number of answers than listed is another question: 0.
func (l *listed) Pick(label string, n int) int {
	if n <= 1 {
		return 0
	}
	l.asked[label]++
	if p, ok := l.picks[question{label, l.asked[label]}]; ok && p.Of == n {
		return p.Value
	}
	return 0
}

// notDefault lists the decisions of a recording that are not 0.
func notDefault(recorded []engine.Pick) []Pick {
	var picks []Pick
	asked := map[string]int{}
	for _, p := range recorded {
		asked[p.Label]++
		if p.Value != 0 {
			picks = append(picks, Pick{p.Label, asked[p.Label], p.N, p.Value})
		}
	}
	return picks
}
