package kube

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host"
)

// AddressRequesterConfig says whose addresses are told. Client, Agent's Node and Alloc are needed.
type AddressRequesterConfig struct {
	// Client needs, of CiliumNodes: list, watch, create, update, and update of their status; of Nodes: list.
	Client kubernetes.Interface
	// Agent is the machine's configuration; its Routes are Linux's, and its Pick is any where it has none.
	Agent cilium.AddressAgentConfig
	// Linux shows the host's routes, which keep addresses from pods; nil: there are none.
	Linux interface {
		Dump(netns string) (vppwire.LinuxState, error)
	}
	// Pace is as an OperatorConfig's.
	Pace float64
	// RequestTimeout is how long a request may go unanswered; 0 is 10 s.
	RequestTimeout time.Duration
	// Log is for people; nil: nobody.
	Log *slog.Logger
}

// AddressRequester says in a node's CiliumNode which addresses of its pool are in use, and answers the operator in the release handshake:
// it drives a cilium.AddressAgent, which steps on the goroutine that owns the agent, as the allocator does. Its Cluster tells the agent
// what the pool has. Exported methods may be called from any goroutine but where they say otherwise.
type AddressRequester struct {
	cfg   AddressRequesterConfig
	clock clock
	pace  pace
	// These belong to the goroutine that owns the agent. looking: the machine has asked for the agent's state.
	machine *cilium.AddressAgent
	looking bool

	granted *host.Granted
	// stepped says that the agent or its Node is another one.
	stepped chan struct{}
	objects ciliumNodes
	alarm   *time.Timer
}

// NewAddressRequester returns a requester that does nothing before Run.
func NewAddressRequester(cfg AddressRequesterConfig) (*AddressRequester, error) {
	complete(&cfg.RequestTimeout, &cfg.Log)
	r := &AddressRequester{cfg: cfg, clock: newClock(), stepped: make(chan struct{}, 1), objects: newCiliumNodes(cfg.Client), alarm: time.NewTimer(time.Hour)}
	r.alarm.Stop()
	r.pace = newPace(&r.clock, cfg.Pace)
	if cfg.Agent.Routes = r.routes; cfg.Agent.Pick == nil {
		cfg.Agent.Pick = anyOf{}
	}
	var err error
	r.machine, err = cilium.NewAddressAgent(cfg.Agent)
	return r, err
}

// anyOf draws what is free to choose.
type anyOf struct{}

// Pick implements cilium.Picker.
func (anyOf) Pick(_ string, n int) int { return rand.IntN(n) }

// routes are those of the host.
func (r *AddressRequester) routes() (list []cilium.Route) {
	if r.cfg.Linux == nil {
		return nil
	}
	state, err := r.cfg.Linux.Dump("")
	if err != nil {
		r.cfg.Log.Warn("the host's routes cannot be read, and keep no address from pods", "error", err)
		return nil
	}
	for _, route := range state.Routes {
		list = append(list, cilium.Route{Dst: route.Dst, Link: route.Link, Gw: route.Via, Src: state.Source(route)})
	}
	return list
}

// Stepped is to be called where vppwire/host calls its Config.Stepped.
func (r *AddressRequester) Stepped(effects []agent.Effect) {
	for _, e := range effects {
		switch answer, ok := e.(agent.Answer); {
		case !ok:
		case answer.Exhausted:
			r.machine.Refused(refusedPods)
		case answer.Code == agent.CodeOK && answer.Result.Addr.IsValid():
			r.machine.Placed(refusedPods)
		}
	}
	if r.looking && r.machine.Behind() {
		signal(r.stepped)
	}
}

// Holder is what an AddressRequester looks at of an agent: agent.Agent.
type Holder interface {
	Blocks() []ipam.Block
	Idle() bool
}

// Owner runs a function on the goroutine that owns an agent, between two of its steps; an error when there is none any more.
type Owner func(ctx context.Context, look func(Holder)) error

// OwnerOf is a driver's.
func OwnerOf(d *host.Driver) Owner {
	return func(ctx context.Context, look func(Holder)) error {
		return d.Ask(ctx, func(a *agent.Agent) { look(a) })
	}
}

// Cluster is a cluster whose own node has the addresses that its CiliumNode says. It is called once, before Run.
func (r *AddressRequester) Cluster(of host.Cluster) host.Cluster {
	r.granted = host.NewGranted(of, r.cfg.Agent.Node, func() { signal(r.stepped) })
	return r.granted
}

// Pending says what is under way, "" when nothing is. It is for the goroutine that owns the agent.
func (r *AddressRequester) Pending() string {
	if why := r.machine.Pending(); why != "" {
		return why
	}
	if r.looking && r.machine.Behind() {
		return "its Cilium agent is about to look"
	}
	return ""
}

// Waiting are the addresses that are kept for pods to come, until those come or their time is over: no other pod gets them. It is for the
// goroutine that owns the agent.
func (r *AddressRequester) Waiting() []netip.Addr { return r.machine.Waiting() }

// Run follows the node's CiliumNode and writes into it until ctx or the agent ends. It is called once.
func (r *AddressRequester) Run(ctx context.Context, owner Owner) {
	ctx, cancel := context.WithCancel(logged(ctx, r.cfg.Log))
	defer cancel()
	defer r.alarm.Stop()
	own := ownNode{r.cfg.Client, r.cfg.Agent.Node, r.cfg.RequestTimeout, r.cfg.Log}
	uid, ok := own.find(ctx)
	if !ok || r.step(ctx, owner, cilium.NodeIs{UID: uid}) != nil {
		return
	}
	news := make(chan cilium.Event)
	var follower sync.WaitGroup
	defer follower.Wait()
	defer cancel()
	follower.Go(func() {
		r.objects.followOwn(ctx, r.cfg.Agent.Node, func(ev cilium.Event) {
			select {
			case news <- ev:
			case <-ctx.Done():
			}
		})
	})
	for {
		var ev cilium.Event
		select {
		case <-ctx.Done():
			return
		case ev = <-news:
		case <-r.alarm.C:
			ev = cilium.Woke{}
		case <-r.stepped:
		}
		if is, another := r.granted.Another(uid); another {
			uid = is
			if r.step(ctx, owner, cilium.NodeIs{UID: uid}) != nil {
				return
			}
		}
		if r.step(ctx, owner, ev) != nil {
			return
		}
	}
}

// step gives the machine the agent as it is and then an event, and the answers to what it asks for; nil is no event.
func (r *AddressRequester) step(ctx context.Context, owner Owner, ev cilium.Event) error {
	for queue := []cilium.Event{ev}; len(queue) > 0; queue = queue[1:] {
		var effects []cilium.Effect
		err := owner(ctx, func(a Holder) {
			if r.looking {
				seen := cilium.AgentSeen{Idle: a.Idle()}
				for _, b := range a.Blocks() {
					seen.Held = append(seen.Held, b.Prefix)
				}
				effects = slices.Clone(r.machine.Step(r.pace.now(), seen))
			}
			if queue[0] != nil {
				effects = append(effects, r.machine.Step(r.pace.now(), queue[0])...)
			}
			r.looking = r.looking || slices.ContainsFunc(effects, func(e cilium.Effect) bool { _, ok := e.(cilium.LookAtAgent); return ok })
		})
		if err != nil {
			return err
		}
		for _, e := range effects {
			if answer := r.perform(ctx, e); answer != nil {
				queue = append(queue, answer)
			}
		}
	}
	return nil
}

// perform does what the machine asks for, and returns the answer to a request.
func (r *AddressRequester) perform(ctx context.Context, e cilium.Effect) cilium.Event {
	ctx, cancel := context.WithTimeout(ctx, r.cfg.RequestTimeout)
	defer cancel()
	switch e := e.(type) {
	case cilium.CreateResource:
		return wrote(e.ID)(r.objects.create(ctx, e.Object))
	case cilium.WriteResource:
		return wrote(e.ID)(r.objects.write(ctx, e.Object))
	case cilium.TellAgent:
		r.granted.Give(slices.Clone(e.Blocks))
	case cilium.LookAtAgent:
		signal(r.stepped)
	case cilium.Note:
		r.cfg.Log.Warn(e.Text, "node", r.cfg.Agent.Node)
	case cilium.WakeAt:
		r.pace.set(r.alarm, e.At)
	default:
		panic(fmt.Sprintf("kube: unknown effect %T", e))
	}
	return nil
}
