package suite

import (
	"context"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// Factory builds the World of one run: the cluster of s at its start, with every free choice decided by seed. A spec
// calls it once per run, drives the World and closes it. An error that wraps result.ErrUnsupported says that there can
// be no such World here; any other error is a failure.
type Factory func(ctx context.Context, s *scenarios.Scenario, seed uint64) (result.World, error)

// Options say which scenarios become specs, where they run and who judges them. Only Factory is required.
type Options struct {
	// Factory builds the Worlds.
	Factory Factory
	// World is the name of the Worlds that Factory builds, as their Name says; empty means sim. It labels every spec.
	World string

	// Scenarios become specs in this order.
	Scenarios []*scenarios.Scenario
	// Folder, where set, adds every .yaml and .yml file in it and below, in lexical order. The folder in which a file lies
	// is its topic. Without Scenarios and Folder the whole catalogue runs.
	Folder string

	// Laws judge the runs, those that each scenario selects; nil means all of scenarios/check.
	Laws []fact.Law

	// Seeds are run for every scenario, in this order; nil means 1 to as many as the scenario asks for.
	Seeds []uint64
	// Drawn is how many further seeds each scenario runs after Seeds, drawn from Ginkgo's random seed and the scenario's
	// name: new ones with each run of the suite, the same ones with the same -ginkgo.seed. Ginkgo's seed decides nothing
	// else, so a failure comes back by its own seed alone.
	Drawn int
	// Twice runs each seed a second time and fails when that is not the same run, event for event. The World must be a
	// result.Recorder.
	Twice bool

	// SkipUnsupported skips scenarios with actions that the World cannot do, and those for which Factory says that it
	// cannot build one, instead of failing them. What a run broke before it came to such an action fails nevertheless.
	SkipUnsupported bool
	// Replay makes the command that shows a run again; nil means "vppdrill run" with the scenario's file, or its name in
	// the catalogue, and the seed; where a law broke that vppdrill does not have, "go test" of the calling test with the
	// scenario's spec alone. Scenarios made in Go and Worlds that the command line cannot build need their own.
	Replay func(s *scenarios.Scenario, seed uint64) string
	// Decorators are added to each spec: ginkgo.SpecTimeout for labs, ginkgo.Serial, further labels.
	Decorators []any

	// retest is the command for what only the calling test's program has; nil where Replay is the caller's.
	retest func(s *scenarios.Scenario) string
}

// withDefaults fills in what zero fields stand for.
func (o Options) withDefaults() Options {
	if o.World == "" {
		o.World = "sim"
	}
	if o.Laws == nil {
		o.Laws = check.All()
	}
	if o.Replay == nil {
		world := o.World
		o.Replay = func(s *scenarios.Scenario, seed uint64) string { return replayOf(s, world, seed) }
		test, drawn := callingTest(), o.Drawn > 0
		o.retest = func(s *scenarios.Scenario) string { return retestOf(s, test, drawn) }
	}
	return o
}
