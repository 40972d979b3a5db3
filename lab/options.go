package lab

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
)

// Options are what a lab may choose beside its scenario. Backend and Agent are required.
type Options struct {
	Backend Backend
	// Agent is the command line of the node agent's program up to its flags: the vppdrill binary and "agent".
	Agent []string
	// VPP is the binary of VPP; empty looks for it (FindVPP).
	VPP string
	// Root is the folder of all labs of this machine; empty is DefaultRoot.
	Root string
	// ID names the lab; empty takes a free one. See ValidID.
	ID string
	// TimeScale divides every time of a scenario, those of its agents' configuration included; 0 is 1. What machines and
	// programs need for themselves stays as it is.
	TimeScale float64
	// VPPSleep is VPP's poll-sleep-usec. None is best: AF_PACKET interfaces are in interrupt mode, so that an idle VPP
	// sleeps by itself (25.10, two cores: 3 % of a core and 0.14 ms a request without, 2.5 % and 1.3 ms with 1 ms;
	// BenchmarkRoundTrip). VPPHeap is its heap in bytes, 0 is vppproc's default.
	VPPSleep time.Duration
	VPPHeap  int64
	RunOptions
}

// RunOptions are what a run in any world of real machines may choose beside its scenario. Seed decides which pods and
// nodes an action takes that leaves it open; real runs tell no Series and no Story.
type RunOptions struct {
	result.Options
	// Laws judge the run.
	Laws []fact.Law
	// Events, where set, sees each line of what happens.
	Events func(seq int64, at time.Duration, line []byte)
	// Keep leaves a world up whose scenario failed.
	Keep bool
	// Log gets what goes wrong beside the run; nil is nowhere.
	Log *slog.Logger
}

// Cannot is the result of a scenario that a world cannot do, as result.Run would have it.
func (o RunOptions) Cannot(s *scenarios.Scenario, world string, what []timeline.Refusal) result.Result {
	return result.Result{Scenario: s.Name, Goal: s.Goal, File: s.File, Labels: s.Labels, World: world, Seed: o.Seed,
		Verdict: result.Error, Error: fmt.Sprintf("world %s cannot do %s", world, timeline.Line(what)),
		Unsupported: timeline.Names(what), Replay: o.Replay, Laws: []result.LawResult{}, Timeline: []result.Mark{}}
}

// DefaultRoot is where labs are: the folder that VPPDRILL_LABS names, else below /var/lib. Paths of sockets in it must
// stay below 108 bytes, and agents' journals in it are on a disk.
func DefaultRoot() string {
	if set := os.Getenv("VPPDRILL_LABS"); set != "" {
		return set
	}
	return "/var/lib/vppdrill/labs"
}

func (o *Options) setDefaults() error {
	switch {
	case o.Backend == nil:
		return errors.New("lab: no backend")
	case len(o.Agent) == 0:
		return errors.New("lab: no agent program")
	}
	if o.TimeScale <= 0 {
		o.TimeScale = 1
	}
	if o.Root == "" {
		o.Root = DefaultRoot()
	}
	root, err := filepath.Abs(o.Root)
	if err != nil {
		return err
	}
	o.Root = root
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return nil
}
