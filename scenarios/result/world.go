package result

import (
	"context"
	"errors"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// World is an environment for scenarios: the simulator, network namespaces, containers, a kind cluster.
type World interface {
	// Name is sim, netns, container or kind.
	Name() string
	// Do starts an action and returns before its effects have settled. It returns ErrUnsupported if this world cannot do
	// it, and ErrNothing if it had no target; other errors mean that the action is invalid in the current state.
	Do(ctx context.Context, a scenarios.Action) error
	// Advance lets time pass until at since the start.
	Advance(ctx context.Context, at time.Duration) error
	// Now is the time since the start.
	Now() time.Duration
	// Heal ends every fault: partitions close, killed processes start, probabilities become zero.
	Heal(ctx context.Context) error
	// Settle lets time pass until nothing is pending, at most limit. Its error says what is pending.
	Settle(ctx context.Context, limit time.Duration) error
	Snapshot(ctx context.Context) (fact.Snapshot, error)
	// Watch registers a listener for every Fact from now on. Its error stops the run.
	Watch(func(fact.Fact) error)
	// Evidence lists the evidence that this world delivers. The world need not report any other.
	Evidence() []fact.Evidence
	Close() error
}

// Soaker is a World with time cheap enough to let more of it pass after the end.
type Soaker interface {
	// Soak reports fact.Quiet and lets time pass, longer than pending background work takes: periodic releases and
	// retries. If stirred is false, VPPs and Linux are unchanged.
	Soak(ctx context.Context) (stirred bool, err error)
}

// ErrUnsupported says that a world cannot do an action. The run reports it by name and does not pass.
var ErrUnsupported = errors.New("unsupported in this world")

// ErrNothing says that a valid action had no target and did nothing.
var ErrNothing = errors.New("did nothing")

// ErrNoMachine says that a machine is not available now but may be later: its cloud has no address for it.
var ErrNoMachine = errors.New("no machine is available")
