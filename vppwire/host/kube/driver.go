package kube

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"time"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"github.com/vppdrill/vppdrill/ipam/nodeipam"
)

// Cloud is where cloud allocators read and write alias ranges. An error that wraps ErrRefused says that nothing was
// done and nothing will be; any other leaves it open. Its methods are called from many goroutines.
type Cloud interface {
	// Aliases lists the alias ranges of the first interface of the machine with that provider ID.
	Aliases(ctx context.Context, node, providerID string) ([]string, error)
	// AddAlias adds one.
	AddAlias(ctx context.Context, node, providerID string, cidr netip.Prefix) error
}

// CloudRoutes is the network that a RouteController keeps routes in, as Cloud is of alias ranges.
type CloudRoutes interface {
	// Routes lists the network's routes, at least those of a cluster.
	Routes(ctx context.Context, cluster string) ([]nodeipam.Route, error)
	// CreateRoute makes a route to the machine with that provider ID; one that is there already is none the worse.
	CreateRoute(ctx context.Context, providerID string, r nodeipam.Route) error
	// DeleteRoute deletes the route of that name; one that is not there is none the worse.
	DeleteRoute(ctx context.Context, r nodeipam.Route) error
}

// Errors of clouds.
var (
	// ErrRefused: a cloud has done nothing about a request, and never will.
	ErrRefused = errors.New("the cloud refuses")
	// ErrNoCloud is what becomes of requests to a cloud where Config has none.
	ErrNoCloud = fmt.Errorf("%w: this controller needs a cloud, and none is configured", ErrRefused)
)

// Config is what a Driver needs. Client is needed.
type Config struct {
	// Client needs what ControllerNeeds says. Its QPS bounds how fast nodes are served; client-go's default of 5 a second
	// is too few for large clusters.
	Client kubernetes.Interface
	// Flags say which controller to run, as the controller manager's do; Provider is the cloud that cloud types need.
	Flags    nodeipam.Flags
	Provider nodeipam.CloudProvider
	// New makes the controller of one term, each time that this process begins to lead, for what Flags cannot say; nil
	// makes what Flags ask for. It should list the nodes by itself, as those of nodeipam.New do.
	New func() (nodeipam.Machine, error)
	// Cloud is needed by all types but RangeAllocator; nil refuses their requests with ErrNoCloud.
	Cloud Cloud
	// Routes is needed by Flags.ConfigureCloudRoutes; nil refuses like Cloud.
	Routes CloudRoutes
	// Lease is what leaders hold; nil: this process leads for as long as it runs, and whoever starts it sees to it that no
	// other does.
	Lease *Lease
	// RequestTimeout is how long a request may go unanswered, at most until the lease ends; 0 is 10 s.
	RequestTimeout time.Duration
	// Source is what events name as their source; empty is "vppdrill-node-ipam".
	Source string
	// Log is for people; nil: nobody.
	Log *slog.Logger
}

const defaultSource = "vppdrill-node-ipam"

// Driver drives one controller after the other. Its methods may be called from any goroutine.
type Driver struct {
	cfg   Config
	log   *slog.Logger
	clock clock
	// asks are for the goroutine that owns the controller.
	asks  chan func(*term)
	ended chan struct{} // Run has returned
	shown
}

// ErrStopped: the driver does not run any more.
var ErrStopped = errors.New("the node IPAM controller has stopped")

// New returns a Driver that does nothing before Run.
func New(cfg Config) (*Driver, error) {
	if cfg.Client == nil {
		return nil, errors.New("kube: a client is needed")
	}
	if cfg.New == nil {
		if _, err := nodeipam.NewNodeIpamController(cfg.Flags, cfg.Provider, nil); err != nil {
			return nil, fmt.Errorf("kube: %w", err) // now, and not when this process begins to lead
		}
		cfg.New = func() (nodeipam.Machine, error) { return nodeipam.NewNodeIpamController(cfg.Flags, cfg.Provider, nil) }
	}
	lease, err := cfg.Lease.completed()
	if err != nil {
		return nil, err
	}
	cfg.Lease = lease
	if cfg.Source == "" {
		cfg.Source = defaultSource
	}
	complete(&cfg.RequestTimeout, &cfg.Log)
	return &Driver{cfg: cfg, log: cfg.Log, clock: newClock(), asks: make(chan func(*term)), ended: make(chan struct{})}, nil
}

// Run leads whenever it can until ctx ends, which is no error, or until a controller gives up or should not go on:
// ErrRival, ErrNotReady, ErrSilent. A lease that is held is given back at the end, which takes up to the lease's
// RenewDeadline when the server does not answer. Run is called once.
func (d *Driver) Run(ctx context.Context) error {
	defer close(d.ended)
	ctx = logged(ctx, d.log)
	events := newEvents(ctx, d.cfg.Client, v1.EventSource{Component: d.cfg.Source}, d.cfg.Log)
	defer events.stop()
	if d.cfg.Lease == nil {
		return d.serve(ctx, nil, events)
	}
	standing := electorate{d.cfg.Client, *d.cfg.Lease, &d.clock, d.log}
	for ctx.Err() == nil {
		if err := standing.elect(ctx, func(ctx context.Context, l *lock) error { return d.serve(ctx, l, events) }); err != nil {
			return err
		}
	}
	return nil
}

// logged has client-go write to log instead of the process's standard error.
func logged(ctx context.Context, log *slog.Logger) context.Context {
	return klog.NewContext(ctx, logr.FromSlogHandler(log.Handler()))
}

// Ask runs look on the goroutine that owns the controller, between two of its steps; while this process does not lead,
// Ask waits. look must not keep the Machine, change it or wait for anything. ErrStopped when there is no such goroutine
// any more.
func (d *Driver) Ask(ctx context.Context, look func(nodeipam.Machine)) error {
	return d.ask(ctx, func(t *term) { look(t.machine) })
}

// Tell gives the controller an event, ClusterCIDRAdded for one; while this process does not lead, Tell waits. The
// controllers of later terms are not told: Config.New has to know by itself.
func (d *Driver) Tell(ctx context.Context, ev nodeipam.Event) error {
	return d.ask(ctx, func(t *term) { t.step(ev) })
}

func (d *Driver) ask(ctx context.Context, do func(*term)) error {
	done := make(chan struct{})
	select {
	case d.asks <- func(t *term) { do(t); close(done) }:
		<-done
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-d.ended:
		return ErrStopped
	}
}
