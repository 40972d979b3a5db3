package result

import (
	"context"
	"errors"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// World is a place where scenarios happen: the simulator, network namespaces, containers, a kind cluster.
type World interface {
	// Name is sim, netns, container or kind.
	Name() string
	// Do performs an action now and returns when it has been started, not when its effects have settled.
	// ErrUnsupported where this world cannot, ErrNothing where the action did nothing; other errors mean that the action makes no sense here and now.
	Do(ctx context.Context, a scenarios.Action) error
	// Advance lets time pass until at since the start.
	Advance(ctx context.Context, at time.Duration) error
	// Now is the time since the start.
	Now() time.Duration
	// Heal ends every fault: partitions close, killed processes start, probabilities become zero.
	Heal(ctx context.Context) error
	// Settle lets time pass until nothing is pending, at most limit; nil when quiet, else an error saying what is pending.
	Settle(ctx context.Context, limit time.Duration) error
	Snapshot(ctx context.Context) (fact.Snapshot, error)
	// Watch registers a listener for every Fact from now on. Its error stops the run.
	Watch(func(fact.Fact) error)
	// Evidence states what laws can judge by in this world. What it does not state it need not tell.
	Evidence() []fact.Evidence
	Close() error
}

// lingerer is a World whose time costs so little that it may pass when nothing is to happen any more.
type lingerer interface {
	// Linger tells FactQuiet and lets time pass, for longer than what the cluster still owes takes: what is given back at intervals, what
	// failed and is tried again. Where nothing stirred, VPPs and Linux hold what they held before.
	Linger(ctx context.Context) (stirred bool, err error)
}

// ErrUnsupported says that a world cannot do an action; it is reported by name and never counts as a pass.
var ErrUnsupported = errors.New("unsupported in this world")

// ErrNothing says that an action made sense and that there was nothing that it could act on: it did nothing.
var ErrNothing = errors.New("did nothing")

// ErrNoMachine says that a machine cannot be had now and may be later: its cloud has no address for it.
var ErrNoMachine = errors.New("no machine is to be had")
