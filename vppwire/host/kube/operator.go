package kube

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/vppdrill/vppdrill/ipam/cilium"
)

// OperatorConfig is what an Operator needs. Client, and one of New and Addresses, are needed.
type OperatorConfig struct {
	// Client needs what OperatorNeeds says.
	Client kubernetes.Interface
	// New makes the pools of one term, with their ranges, before anything was restored.
	New func() (cilium.Pools, error)
	// Requested: nodes ask in PoolNodes, and are answered there; otherwise each Node object gets its pod CIDRs, once.
	Requested bool
	// Addresses, where set, is where nodes' single addresses come from: the pools of their CiliumNodes are filled, as by modes crd and eni,
	// and there is no ledger. Release is when they are given back.
	Addresses Addresses
	Release   cilium.OperatorConfig
	// Pace is how many times as fast as the clock the operator's own time passes, for labs; 0 is 1. The lease's does not.
	Pace float64
	// Lease is what leaders hold; nil: this process leads for as long as it runs. Two that lead do no harm: the ledger
	// takes entries of one.
	Lease *Lease
	// LedgerSlack is how many entries the ledger may have beyond twice those that it needs, before it is begun anew; 0 is
	// 128.
	LedgerSlack int
	// RequestTimeout is how long a request may go unanswered; 0 is 10 s.
	RequestTimeout time.Duration
	// Log is for people; nil: nobody.
	Log *slog.Logger
}

// Operator gives nodes blocks of pools as cilium-operator does in modes cluster-pool and multi-pool. Who holds what is
// a ledger among the records of node IDs, an object for each entry: one is appended before any node is shown what it
// says, and who cannot append does not lead. In modes crd and eni it fills the pools of CiliumNodes with single addresses.
type Operator struct {
	cfg   OperatorConfig
	clock clock
	// underway is known of an operator of single addresses alone.
	underway
	shown
}

// NewOperator returns an Operator that does nothing before Run.
func NewOperator(cfg OperatorConfig) (*Operator, error) {
	if cfg.Client == nil || cfg.New == nil && cfg.Addresses == nil {
		return nil, errors.New("kube: a client, and pools or addresses, are needed")
	}
	if cfg.Addresses == nil {
		if _, err := cfg.New(); err != nil {
			return nil, fmt.Errorf("kube: %w", err) // now, and not when this process begins to lead
		}
	} else if _, err := cilium.NewAddressTerm(cfg.Release); err != nil {
		return nil, fmt.Errorf("kube: %w", err)
	}
	lease, err := cfg.Lease.completed()
	if err != nil {
		return nil, err
	}
	cfg.Lease = lease
	complete(&cfg.RequestTimeout, &cfg.Log)
	return &Operator{cfg: cfg, clock: newClock()}, nil
}

// Run leads whenever it can until ctx ends, which is no error, or until it should not go on: ErrRival, ErrNotReady,
// ErrSilent. It is called once.
func (o *Operator) Run(ctx context.Context) error {
	ctx = logged(ctx, o.cfg.Log)
	events := newEvents(ctx, o.cfg.Client, v1.EventSource{Component: "vppdrill-pools"}, o.cfg.Log)
	defer events.stop()
	serve := func(ctx context.Context, lock *lock) error {
		// A term that ends by itself is over: the next one begins with the ledger.
		err := o.serve(ctx, lock, events)
		if errors.Is(err, ErrRival) {
			return err
		}
		if err != nil && ctx.Err() == nil {
			o.cfg.Log.Warn("the term is over", "error", err)
		}
		return nil
	}
	return terms(ctx, o.cfg.Client, o.cfg.Lease, &o.clock, o.cfg.Log, serve)
}

func (o *Operator) target() target {
	if o.cfg.Addresses != nil {
		return newCiliumNodes(o.cfg.Client)
	}
	if o.cfg.Requested {
		return newPoolNodes(o.cfg.Client)
	}
	return nodeCIDRs{o.cfg.Client}
}
