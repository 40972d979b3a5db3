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
	// Client needs what CalicoControllerNeeds says.
	Client kubernetes.Interface
	// Grace is how long a block may be empty that its node can spare.
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
	underway
	shown
}

// NewCalicoController returns one that does nothing before Run.
func NewCalicoController(cfg CalicoControllerConfig) (*CalicoController, error) {
	if cfg.Client == nil {
		return nil, errors.New("kube: a client is needed")
	}
	lease, err := cfg.Lease.completed()
	if err != nil {
		return nil, err
	}
	cfg.Lease = lease
	complete(&cfg.RequestTimeout, &cfg.Log)
	return &CalicoController{cfg: cfg, clock: newClock(), blocks: newCalicoBlocks(cfg.Client)}, nil
}

// Run leads whenever it can until ctx ends, which is no error, or until it should not go on: ErrNotReady, ErrSilent. It is called once.
func (c *CalicoController) Run(ctx context.Context) error {
	return terms(logged(ctx, c.cfg.Log), c.cfg.Client, c.cfg.Lease, &c.clock, c.cfg.Log, c.serve)
}

// serve is one life as the leader: until ctx ends, or the lease may be another's.
func (c *CalicoController) serve(ctx context.Context, lock *lock) error {
	ctx, cancel := context.WithCancel(ctx)
	var followers sync.WaitGroup
	defer followers.Wait()
	defer cancel()
	defer c.is("")
	pace, alarm, events := newPace(&c.clock, c.cfg.Pace), time.NewTimer(time.Hour), make(chan calico.Event)
	alarm.Stop()
	defer alarm.Stop()
	tell := func(ev calico.Event) {
		select {
		case events <- ev:
		case <-ctx.Done():
		}
	}
	followers.Go(func() { followNodes(ctx, c.cfg.Client, calicoNodes(tell, true)) })
	c.blocks.followWithPools(ctx, &followers, tell, c.cfg.Log)
	machine := calico.NewTender(calico.Pools{}, c.cfg.Grace)
	looks := c.begin(ctx, machine)
	for {
		c.is(machine.Pending())
		var ev calico.Event
		select {
		case <-ctx.Done():
			return nil
		case look := <-looks:
			look()
			continue
		case ev = <-events:
		case <-alarm.C:
			ev = calico.Woke{}
		}
		for queue := []calico.Event{ev}; len(queue) > 0; queue = queue[1:] {
			for _, e := range machine.Step(pace.now(), queue[0]) {
				switch e := e.(type) {
				case calico.WriteBlock:
					limit := lock.limit(c.cfg.RequestTimeout)
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
