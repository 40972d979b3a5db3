package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// Journal is where an agent's records are kept: vppwire/host/journal. Package journaltest says what it owes.
type Journal interface {
	Persist(e agent.Persist, done func(error))
}

// Store is the cluster's store: vppwire/host/etcd, or any other with compare-and-swap and watches.
type Store interface {
	// Do starts one request and returns at once. StoreReply is told once, and for a watch StoreChanged in revision order
	// and StoreWatchLost at its end; from any goroutine. A newer watch ends an older one without a word.
	Do(r agent.StoreRequest, tell func(agent.Event))
}

// Cluster is where an agent learns which nodes exist, which pods are bound to its own, and which address ranges are in
// use.
type Cluster interface {
	// Watch tells NodeSeen, NodeGone, PodsListed and PoolsChanged of the agent's, and NodesListed of this package's, until
	// ctx ends, in order, from one goroutine.
	Watch(ctx context.Context, tell func(agent.Event))
	// Relist has the nodes listed again by whoever knows them, not from a cache.
	Relist()
}

// NodesListed is the agent's event with the time at which the list was asked for in the place of its age, which grows
// while the event waits for the agent. An age below the true one has the agent take the nodes of that very list for
// ones that were told of before it.
type NodesListed struct {
	agent.NodesListed
	Asked time.Time
}

// Between is a hand between an agent and what its driver performs for it. A driver without one performs everything.
type Between interface {
	// Effect starts an effect by calling start, or never does. It runs on the driver's goroutine, and the agent hears of nothing
	// meanwhile.
	Effect(e agent.Effect, start func())
	// Call performs a call by calling do, any number of times. What it returns is what the agent hears. It ends with ctx: at the
	// call's deadline, or when VPP's connection is gone.
	Call(ctx context.Context, c vppwire.Call, do func() vppwire.Result) vppwire.Result
}

// HostAddresses knows the addresses of the host's own links: vppwire/host/linux.
type HostAddresses interface {
	// HostAddrs lists them now, in order.
	HostAddrs() ([]netip.Addr, error)
	// WatchAddrs calls changed after any address has changed, until ctx ends.
	WatchAddrs(ctx context.Context, changed func()) error
}

// Config is what a Driver needs. All fields are needed unless said otherwise.
type Config struct {
	Agent     agent.Config
	Allocator ipam.NodeAllocator
	// Journal and Records are what journal.Open returned. Boot is this boot's ID: see BootID.
	Journal Journal
	Records []agent.Record
	Boot    string
	Linux   vppwire.Linux
	// VPP dials VPP.
	VPP     VPP
	Store   Store
	Cluster Cluster
	// HostAddresses may be nil: there are none.
	HostAddresses HostAddresses
	// Hooks run for each pod after its addition and before its removal, those of one attachment one after the other; nil:
	// none. They may block, and end with ctx, when Run does.
	Hooks func(ctx context.Context, h agent.Hook) error
	// Events, where set, is told what operators should see: what the agent logs with a reason, and pods that get no
	// address. It runs on the driver's goroutine and must not block.
	Events func(e agent.Log)
	// Stepped, where set, sees each step that the agent has made, at its time, before what it asks for is performed. It
	// runs on the driver's goroutine, must not block and must not call the Driver.
	Stepped func(now time.Time, a *agent.Agent, effects []agent.Effect)
	// Between, where set, stands between the driver and what it performs: rehearsals make it go wrong there.
	Between Between
	// Listen opens the ports at which load balancers ask for services; nil: net.Listen.
	Listen func(network, address string) (net.Listener, error)
	// CallTimeout is how long VPP may be silent while it owes a call's answer, or a dump's next message; 0 is 10 s.
	CallTimeout time.Duration
	// VPPPatience is how long VPP may be away at the start before Run gives up; 0: for ever.
	VPPPatience time.Duration
	// Log is for people; nil: nobody.
	Log *slog.Logger
}

// defaultCallTimeout is Config's. VPP answers a write within microseconds; 10 s is longer than any stop of a VPP that goes on
// living was seen to be, and than it takes to walk a full table, behind which the first message of a dump comes. The rest
// may take as long as it goes on.
const defaultCallTimeout = 10 * time.Second

// Driver drives one agent. Its exported methods may be called from any goroutine.
type Driver struct {
	cfg   Config
	log   *slog.Logger
	agent *agent.Agent
	inbox inbox
	clock clock
	// Metrics count what happens.
	Metrics *Metrics

	calls      chan plannedCall
	callsEnded chan struct{}
	calling    bool        // a CallDataplane is outstanding
	conn       *connection // nil while VPP is away
	left       bool        // the connection is gone, and VPPDown waits for the outstanding call
	alarm      *time.Timer

	requests map[uint64]request
	last     uint64
	hooks    hooks
	fatal    error

	ended chan struct{} // Run has returned
	// healthChecks answer load balancers.
	healthChecks healthChecks
	// nicReturned: the host has its NIC back for good.
	nicReturned chan struct{}
}

// ErrStopped: the driver does not run any more.
var ErrStopped = errors.New("the agent has stopped")

// New returns a Driver that does nothing before Run.
func New(cfg Config) (*Driver, error) {
	if cfg.CallTimeout == 0 {
		cfg.CallTimeout = defaultCallTimeout
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	cfg.Agent.EmitHooks = cfg.Hooks != nil
	a, err := agent.New(cfg.Agent, cfg.Allocator)
	if err != nil {
		return nil, err
	}
	d := &Driver{cfg: cfg, log: cfg.Log, agent: a, requests: map[uint64]request{}, ended: make(chan struct{}), nicReturned: make(chan struct{}),
		calls: make(chan plannedCall, 1), callsEnded: make(chan struct{})}
	d.inbox.init()
	d.healthChecks.init(cfg.Listen, d.log)
	d.Metrics = newMetrics(d)
	return d, nil
}

// Run drives the agent until ctx ends, which is no error, or until it cannot go on. It is called once.
func (d *Driver) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var others sync.WaitGroup
	d.alarm = time.AfterFunc(time.Hour, d.timerFired)
	d.alarm.Stop()
	d.hooks.ctx = ctx
	defer func() {
		cancel()
		d.alarm.Stop()
		d.hooks.running.Wait()
		d.healthChecks.set(nil)
		others.Wait()
		close(d.ended)
	}()
	others.Go(func() { d.callLoop(ctx) })
	d.step(agent.Restored{Records: d.cfg.Records, Boot: d.cfg.Boot, Uptime: uptime()})
	d.cfg.Records = nil
	if d.cfg.HostAddresses != nil {
		if err := d.tellAddresses(); err != nil {
			return err
		}
		others.Go(func() { d.watchAddresses(ctx) })
	}
	others.Go(func() { d.keepConnected(ctx) })
	others.Go(func() { d.cfg.Cluster.Watch(ctx, d.Tell) })
	for d.fatal == nil {
		select {
		case <-ctx.Done():
			return nil
		case <-d.inbox.filled:
			for _, do := range d.inbox.take() {
				if do(); d.fatal != nil || ctx.Err() != nil {
					break
				}
			}
		}
	}
	return d.fatal
}

// Tell gives the agent an event. Whoever needs to know what comes of it uses Request.
func (d *Driver) Tell(ev agent.Event) { d.inbox.put(func() { d.step(ev) }) }

// fail ends Run with an error.
func (d *Driver) fail(err error) { d.inbox.put(func() { d.fatal = err }) }

// Ask runs look on the goroutine that owns the agent, between two of its steps. look must not keep the Agent, change it
// or wait for anything. ErrStopped when there is no such goroutine any more.
func (d *Driver) Ask(ctx context.Context, look func(*agent.Agent)) error {
	done := make(chan struct{})
	d.inbox.put(func() { look(d.agent); close(done) })
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-d.ended:
		return ErrStopped
	}
}

// ReturnNIC has the agent give the host back the NIC that VPP has of it, as it is about to go, and waits until that is
// done. The agent does nothing else from then on.
func (d *Driver) ReturnNIC(ctx context.Context) error {
	d.Tell(agent.ReturnNIC{})
	select {
	case <-d.nicReturned:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the host has not got its NIC back: %w", ctx.Err())
	case <-d.ended:
		return ErrStopped
	}
}

// request is an open CNI request, with its pod where it is an ADD that names one.
type request struct {
	answer         chan<- agent.Answer
	namespace, pod string
}

// Request opens a CNI request and waits for its answer. event makes the agent's event of the request's number. When ctx
// ends first, the agent is told that nobody waits any more.
func (d *Driver) Request(ctx context.Context, event func(number uint64) agent.Event) (agent.Answer, error) {
	answer := make(chan agent.Answer, 1)
	number := make(chan uint64, 1)
	d.inbox.put(func() {
		d.last++
		number <- d.last
		ev := event(d.last)
		r := request{answer: answer}
		if add, ok := ev.(agent.PodAdd); ok {
			r.namespace, r.pod = add.Sandbox.PodNamespace, add.Sandbox.PodName
		}
		d.requests[d.last] = r
		d.step(ev)
	})
	select {
	case a := <-answer:
		return a, nil
	case <-d.ended:
		return agent.Answer{}, ErrStopped
	case <-ctx.Done():
		d.inbox.put(func() {
			n := <-number
			delete(d.requests, n)
			d.step(agent.Withdrawn{Request: n})
		})
		return agent.Answer{}, ctx.Err()
	}
}

// step feeds one event to the agent and performs what it asks for.
func (d *Driver) step(ev agent.Event) {
	now := d.clock.now()
	if l, ok := ev.(NodesListed); ok {
		l.Age = time.Since(l.Asked) // behind now: it is this at the most
		ev = l.NodesListed
	}
	if d.log.Enabled(context.Background(), slog.LevelDebug) {
		if _, ok := ev.(agent.Called); !ok {
			d.log.Debug("event", "event", string(ev.AppendText(nil)))
		}
	}
	effects := d.agent.Step(now, ev)
	d.Metrics.steps.Inc()
	if d.cfg.Stepped != nil {
		d.cfg.Stepped(now, d.agent, effects)
	}
	for _, e := range effects {
		if d.cfg.Between != nil {
			d.cfg.Between.Effect(e, func() { d.perform(now, e) })
			continue
		}
		d.perform(now, e)
	}
}

// clock tells the time that the machine's wall clock had at its first look, and what has passed since by the monotonic
// clock: where the wall clock is set ahead or back, time goes on as it was, and neither patience nor rests end early.
type clock struct{ began time.Time }

func (c *clock) now() time.Time {
	if c.began.IsZero() {
		c.began = time.Now()
	}
	return c.at(time.Since(c.began))
}

// at is the time when so much has passed.
func (c *clock) at(passed time.Duration) time.Time { return c.began.Round(0).Add(passed) }

// inbox is a queue without end, so that nobody who tells something ever waits.
type inbox struct {
	mu     sync.Mutex
	queue  []func()
	spare  []func()
	filled chan struct{}
}

func (b *inbox) init() { b.filled = make(chan struct{}, 1) }

func (b *inbox) put(do func()) {
	b.mu.Lock()
	b.queue = append(b.queue, do)
	b.mu.Unlock()
	select {
	case b.filled <- struct{}{}:
	default:
	}
}

// take returns everything that waits, oldest first; valid until the next take.
func (b *inbox) take() []func() {
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.spare)
	b.queue, b.spare = b.spare[:0], b.queue
	return b.spare
}
