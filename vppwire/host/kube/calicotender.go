package kube

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/vppdrill/vppdrill/ipam/calico"
)

// CalicoControllerConfig is what a CalicoController needs. Client is needed.
type CalicoControllerConfig struct {
	// Client needs, of IPAMBlocks: list, watch, update, delete; of IPPools: list, watch; of Nodes: get, list, watch.
	Client kubernetes.Interface
	// Pools are MaxBlocks and Strict; Grace is how long a block may be empty that its node can spare.
	Pools calico.Pools
	Grace time.Duration
	// Pace is as an OperatorConfig's.
	Pace float64
	// Lease is what leaders hold; nil: this process leads for as long as it runs.
	Lease *Lease
	// RequestTimeout is how long a request may go unanswered; 0 is 10 s.
	RequestTimeout time.Duration
	// Log is for people; nil: nobody.
	Log *slog.Logger
}

// CalicoController takes back what nodes had that are gone, and empty blocks, as Calico's controllers do: it drives a calico.Tender.
type CalicoController struct {
	cfg    CalicoControllerConfig
	clock  clock
	blocks calicoBlocks

	mu      sync.Mutex
	pending string
}

// NewCalicoController returns one that does nothing before Run.
func NewCalicoController(cfg CalicoControllerConfig) (*CalicoController, error) {
	if cfg.Client == nil {
		return nil, errors.New("kube: a client is needed")
	}
	if cfg.Lease != nil {
		lease, err := cfg.Lease.complete()
		if err != nil {
			return nil, err
		}
		cfg.Lease = &lease
	}
	if cfg.RequestTimeout == 0 {
		cfg.RequestTimeout = defaultRequestTimeout
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &CalicoController{cfg: cfg, clock: newClock(), blocks: newCalicoBlocks(cfg.Client, cfg.Pools.Strict)}, nil
}

// Pending says what a leading one has under way, "" for nothing or where this one does not lead.
func (c *CalicoController) Pending() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pending
}

func (c *CalicoController) looks(pending string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending = pending
}

// Run leads whenever it can until ctx ends, which is no error, or until it should not go on: ErrNotReady, ErrSilent. It is called once.
func (c *CalicoController) Run(ctx context.Context) error {
	ctx = logged(ctx, c.cfg.Log)
	if c.cfg.Lease == nil {
		return c.serve(ctx, nil)
	}
	for ctx.Err() == nil {
		if err := (electorate{c.cfg.Client, *c.cfg.Lease, &c.clock, c.cfg.Log}).elect(ctx, c.serve); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(operatorPause):
		}
	}
	return nil
}

// serve is one life as the leader: until ctx ends, or the lease may be another's.
func (c *CalicoController) serve(ctx context.Context, lock *lock) error {
	ctx, cancel := context.WithCancel(ctx)
	var followers sync.WaitGroup
	defer followers.Wait()
	defer cancel()
	defer c.looks("")
	pace, alarm, events := newPace(&c.clock, c.cfg.Pace), time.NewTimer(time.Hour), make(chan calico.Event)
	alarm.Stop()
	defer alarm.Stop()
	tell := func(ev calico.Event) {
		select {
		case events <- ev:
		case <-ctx.Done():
		}
	}
	refuse := func(err error) { c.cfg.Log.Warn("Calico's object is passed over", "error", err) }
	followers.Go(func() { followNodes(ctx, c.cfg.Client, calicoNodes(tell, true)) })
	pools := make(chan struct{})
	known := sync.OnceFunc(func() { close(pools) })
	followers.Go(func() {
		followIPPools(ctx, c.cfg.Client, c.cfg.Pools, func(p calico.Pools) { tell(calico.PoolsChanged{Pools: p}); known() }, refuse)
	})
	followers.Go(func() {
		select {
		case <-pools:
			c.blocks.follow(ctx, tell, refuse)
		case <-ctx.Done():
		}
	})
	machine := calico.NewTender(c.cfg.Pools, c.cfg.Grace)
	for {
		c.looks(machine.Pending())
		var ev calico.Event
		select {
		case <-ctx.Done():
			return nil
		case ev = <-events:
		case <-alarm.C:
			ev = calico.Woke{}
		}
		for queue := []calico.Event{ev}; len(queue) > 0; queue = queue[1:] {
			for _, e := range machine.Step(pace.now(), queue[0]) {
				switch e := e.(type) {
				case calico.WriteBlock:
					limit := c.cfg.RequestTimeout
					if lock != nil { // what leaves later than the lease's end is somebody else's time
						limit = min(limit, lock.leadsUntil().Sub(c.clock.now()))
					}
					if limit <= 0 {
						c.cfg.Log.Warn("the term is over", "error", "the lease may be another's")
						return nil
					}
					once, end := context.WithTimeout(ctx, limit)
					queue = append(queue, c.blocks.write(once, e))
					end()
				case calico.WakeAt:
					pace.set(alarm, e.At)
				case calico.Note:
					c.cfg.Log.Info(e.Text)
				default:
					panic(fmt.Sprintf("kube: unknown effect %T", e))
				}
			}
		}
	}
}
