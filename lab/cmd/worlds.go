package cmd

import (
	"context"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
)

// RunOptions are what the run command chooses for a run on real machines; the environment chooses the rest.
type RunOptions struct {
	result.Options
	// Laws judge the run.
	Laws []fact.Law
	// Events, where set, sees each line of what happens.
	Events func(seq int64, at time.Duration, line []byte)
}

// World is a world of real machines: Worlds lists those of this build.
type World struct {
	Name string
	Run  func(context.Context, *scenarios.Scenario, RunOptions) (result.Result, error)
	// Check says in one line why the world cannot run on this machine.
	Check func(context.Context) error
	// Adapt is the scenario as this machine can run it, and what differs; nil changes nothing.
	Adapt func(*scenarios.Scenario) (*scenarios.Scenario, string)
	// Refuses names what of a scenario the world cannot do, each with the reason; nil where nothing is known of it.
	Refuses func(*scenarios.Scenario) []string
}

// CNI is a chain of CNI plugins as the commands see it.
type CNI struct {
	// Kinds are those of places where plugins can be killed.
	Kinds []string
	// Run runs one scenario. VPPDRILL_TIME_SCALE divides its times.
	Run func(context.Context, *scenarios.Scenario, RunOptions) (result.Result, error)
	// Points are the places of a scenario's run at which plugins can be killed.
	Points func(ctx context.Context, s *scenarios.Scenario, o RunOptions, kinds []string, node string) ([]Point, error)
	// Smallest leaves out of a scenario what a failure does not need.
	Smallest func(context.Context, *scenarios.Scenario, RunOptions, *result.Failure) *scenarios.Scenario
}

// Point is a place at which a plugin can be killed.
type Point struct {
	Kind, Name string
	// Scenario is one in which it is.
	Scenario func(*scenarios.Scenario) *scenarios.Scenario
}
