package ipamd

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host"
	"github.com/vppdrill/vppdrill/vppwire/oneline"
)

// Gateway is what AWS VPC CNI's pods use: an address of no subnet, so that every address of a prefix is a pod's.
var Gateway = netip.MustParseAddr("169.254.1.1")

// RequesterConfig describes a Requester. All fields but Log are needed.
type RequesterConfig struct {
	Cloud  Cloud
	Sizing datastore.Sizing
	// Node is the agent's own node, Alloc its allocator.
	Node  string
	Alloc *datastore.Node
	// Settings are what introspection shows of the environment, by upstream's names.
	Settings map[string]any
	Log      *slog.Logger
}

// Requester is ipamd within an agent's process: what EC2 gives to the instance are the agent's blocks, and the agent's own journal is
// the checkpoint. It drives a datastore.IPAMD, which steps on the goroutine that owns the agent, as the allocator does. Exported
// methods may be called from any goroutine, Stepped from the agent's alone.
type Requester struct {
	cfg     RequesterConfig
	metrics *Metrics
	caller
	// These belong to the goroutine that owns the agent. now is the agent's own time of the step under way; read is the driver's at
	// the agent's last step, and at when that was.
	pool     *datastore.NodePool
	machine  *datastore.IPAMD
	now      time.Time
	read, at time.Time

	// performing is the call under way, for Run.
	performing *datastore.Call
	// stepped says that the agent may be another one than it was when units were last waited for.
	stepped chan struct{}
	granted *host.Granted

	mu    sync.Mutex // over all below
	owner asker      // nil before Run

	said string // the last note, which is said once
}

// NewRequester returns a Requester that does nothing before Run.
func NewRequester(cfg RequesterConfig) *Requester {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	r := &Requester{cfg: cfg, caller: newCaller(), stepped: make(chan struct{}, 1)}
	r.pool = datastore.NewNodePool(cfg.Alloc, func() time.Time { return r.now })
	r.machine = datastore.NewIPAMD(r.pool, datastore.NewNodeManager(r.pool, cfg.Sizing))
	r.metrics = newMetrics(r.look, cfg.Sizing)
	return r
}

// Stepped is to be called where vppwire/host calls its Config.Stepped.
func (r *Requester) Stepped(now time.Time) {
	r.read, r.at = now, time.Now()
	if r.machine.AwaitsAgent() {
		signal(r.stepped)
	}
}

func signal(to chan struct{}) {
	select {
	case to <- struct{}{}:
	default: // it is known already
	}
}

// looked is what a Requester looks at of an agent.
type looked interface {
	Time(now time.Time) time.Time
	Blocks() []ipam.Block
	Idle() bool
}

// asker runs a function on the goroutine that owns an agent, between two of its steps; an error when there is none any more.
type asker func(ctx context.Context, look func(looked)) error

// Run keeps the node's addresses until ctx or the agent ends. It is called once.
func (r *Requester) Run(ctx context.Context, owner *host.Driver) {
	r.run(ctx, func(ctx context.Context, look func(looked)) error {
		return owner.Ask(ctx, func(a *agent.Agent) { look(a) })
	})
}

func (r *Requester) run(ctx context.Context, owner asker) {
	r.mu.Lock()
	r.owner = owner
	r.mu.Unlock()
	defer r.caller.start(ctx, r.cfg.Cloud)()
	alarm := time.NewTimer(0)
	defer alarm.Stop()
	for ctx.Err() == nil {
		var event func(looked) datastore.Event
		select {
		case <-ctx.Done():
			return
		case answer := <-r.answers:
			r.metrics.called(r.performing, answer.Err)
			r.performing = nil
			event = func(looked) datastore.Event { return datastore.Called{Result: answer} }
		case <-alarm.C:
			event = func(looked) datastore.Event { return datastore.Woke{} }
		case <-r.stepped:
			event = func(a looked) datastore.Event {
				if !r.machine.AwaitsAgent() {
					return nil
				}
				return datastore.AgentSeen{Blocks: a.Blocks(), Idle: a.Idle()}
			}
		}
		var effects []datastore.Effect
		var now time.Time
		var blocks []netip.Prefix
		var known bool
		err := owner(ctx, func(a looked) {
			if ev := event(a); ev != nil {
				effects = r.step(a, ev)
			}
			now = r.now
			blocks, known = r.machine.Blocks()
		})
		if err != nil {
			return // the agent has stopped, or ctx has ended
		}
		for _, e := range effects {
			r.perform(e, now, alarm)
		}
		if known {
			r.granted.Begin(blocks) // of a node that has nothing the machine tells nothing
		}
	}
}

// step lets the machine take a step at the agent's present time. It runs on the goroutine that owns the agent.
func (r *Requester) step(a looked, ev datastore.Event) []datastore.Effect {
	r.tick(a)
	return slices.Clone(r.machine.Step(r.now, ev))
}

// tick makes it the agent's present time.
func (r *Requester) tick(a looked) { r.now = a.Time(r.read.Add(time.Since(r.at))) }

// perform does what the machine asks for; now is the agent's time.
func (r *Requester) perform(e datastore.Effect, now time.Time, alarm *time.Timer) {
	switch e := e.(type) {
	case datastore.Perform:
		r.cfg.Log.Debug("call", "call", e.Call.String())
		r.metrics.calling(e.Call)
		r.performing = &e.Call
		r.ask(e.Call)
	case datastore.AskAgent:
		signal(r.stepped)
	case datastore.TellAgent:
		r.granted.Give(e.Blocks)
	case datastore.WakeAt:
		alarm.Reset(max(0, e.At.Sub(now)))
	case datastore.Note:
		r.note(e.Text)
	case datastore.WantTrunk:
		r.note("a trunk interface is wanted, which the controller of branch interfaces attaches")
	}
}

// lookTime is how long a look at the agent's addresses may take; the agent's longest step is far below.
const lookTime = 5 * time.Second

// look runs f on the store between two steps of the agent. Of an agent that does not run there is nothing to see.
func (r *Requester) look(f func(store)) {
	r.mu.Lock()
	owner := r.owner
	r.mu.Unlock()
	if owner == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookTime)
	defer cancel()
	var mu sync.Mutex
	over := false
	_ = owner(ctx, func(looked) {
		mu.Lock()
		defer mu.Unlock()
		if !over {
			f(r.pool)
		}
	})
	mu.Lock()
	defer mu.Unlock()
	over = true // who asked does not wait for it any more
}

// Introspection shows the addresses under upstream's paths. It changes nothing.
func (r *Requester) Introspection() http.Handler {
	mux := http.NewServeMux()
	introspect(mux, r.look, r.cfg.Settings)
	return mux
}

// Metrics are its figures; With adds them to others.
func (r *Requester) Metrics() *Metrics { return r.metrics }

// With is another's figures and these.
func (m *Metrics) With(of prometheus.Gatherer) prometheus.Gatherer {
	return prometheus.Gatherers{of, m.Registry}
}

// note logs what the machine has to say, but the same once in a row.
func (r *Requester) note(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if text != r.said {
		r.cfg.Log.Warn(oneline.Text(text))
	}
	r.said = text
}

// Pending says what is under way beside waiting for a time, "" when nothing is. short: the node has less than its targets and looks
// at its pool again. It is for the goroutine that owns the agent.
func (r *Requester) Pending(a looked) (pending string, short bool) {
	r.tick(a)
	return r.machine.Pending(), r.machine.Short()
}

// Cluster is a cluster whose own node has what EC2 has given it for its pod CIDRs. It is called once, before Run.
func (r *Requester) Cluster(of host.Cluster) host.Cluster {
	r.granted = host.NewGranted(of, r.cfg.Node, nil)
	return r.granted
}
