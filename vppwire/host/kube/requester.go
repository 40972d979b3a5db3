package kube

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"

	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/ipam/contiv"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/host"
)

// RequesterConfig says whose demand is told.
type RequesterConfig struct {
	// Client needs, of PoolNodes: list, watch, create, update; of Nodes: list.
	Client kubernetes.Interface
	// Node is the agent's own node, Alloc its allocator.
	Node  string
	Alloc *cilium.Node
	// PreAllocate is how many addresses are kept ready, >= 0.
	PreAllocate int
	// RequestTimeout is how long a request may go unanswered; 0 is 10 s.
	RequestTimeout time.Duration
	// Log is for people; nil: nobody.
	Log *slog.Logger
}

// Requester asks for the blocks of one node in its PoolNode, and gives back those that it does not need: it drives a
// cilium.Requester. Its Cluster tells the agent what that says.
type Requester struct {
	cfg   RequesterConfig
	clock clock
	// demands belong to the goroutine of the agent's steps.
	demands *cilium.Demands

	mu sync.Mutex
	// agent is the agent as its last step left it, as far as seen is true. leaving: some of the blocks that it has go. pending is what the
	// machine waits for, and unseen: it has not seen the agent as it is.
	agent   cilium.AgentSeen
	seen    bool
	leaving bool
	pending string
	unseen  bool

	// stepped says that the agent or its Node is another one.
	stepped chan struct{}
}

// NewRequester returns a Requester that does nothing before its Cluster is watched.
func NewRequester(cfg RequesterConfig) *Requester {
	complete(&cfg.RequestTimeout, &cfg.Log)
	r := &Requester{cfg: cfg, clock: newClock(), demands: cilium.NewDemands(cfg.Alloc), stepped: make(chan struct{}, 1)}
	for _, f := range cfg.Alloc.Families() {
		r.demands.Add(cilium.DefaultPool, f, cilium.NewDemand(cfg.Alloc, cilium.NodeDemand{PreAllocate: cfg.PreAllocate, Pool: string(f)}))
	}
	return r
}

// refusedPods stands for all pods that found no address: kubelets ask again under names of their own, and each would
// count.
const refusedPods = "refused"

// Stepper is what a Requester looks at of an agent: agent.Agent.
type Stepper interface {
	Time(now time.Time) time.Time
	Idle() bool
	Ranges() (contiv.Plan, bool)
}

// Stepped is to be called where vppwire/host calls its Config.Stepped.
func (r *Requester) Stepped(now time.Time, a Stepper, effects []agent.Effect) {
	at := a.Time(now)
	for _, e := range effects {
		if answer, ok := e.(agent.Answer); ok && answer.Exhausted {
			r.demands.Refused(at, cilium.DefaultPool, refusedPods)
		}
	}
	plan, known := a.Ranges()
	if !known {
		return // nor is it what kind of addresses the node needs
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := r.demands.Look(at, r.cfg.Alloc.Blocks(), r.leaving && a.Idle(), plan.PodSubnet.Addr().Is6())
	if !r.seen || !seen.Equal(r.agent) {
		r.agent, r.seen, r.unseen = seen, true, true
		signal(r.stepped)
	}
}

// Cluster is a cluster whose own node has the blocks that the node's object says; they are asked for while it is watched.
func (r *Requester) Cluster(of host.Cluster) host.Cluster {
	return &requestedFrom{host.NewGranted(of, r.cfg.Node, func() { signal(r.stepped) }), r}
}

type requestedFrom struct {
	*host.Granted
	r *Requester
}

// Watch implements host.Cluster.
func (c *requestedFrom) Watch(ctx context.Context, tell func(agent.Event)) {
	var asking sync.WaitGroup
	defer asking.Wait()
	asking.Go(func() { c.r.run(logged(ctx, c.r.cfg.Log), c.Granted) })
	c.Granted.Watch(ctx, tell)
}

// run follows the node's object and writes into it until ctx ends.
func (r *Requester) run(ctx context.Context, granted *host.Granted) {
	q := &requesting{Requester: r, ctx: ctx, machine: cilium.NewRequester(r.cfg.Node), objects: newPoolNodes(r.cfg.Client),
		alarm: time.NewTimer(time.Hour), granted: granted}
	q.alarm.Stop()
	defer q.alarm.Stop()
	own, ok := ownNode{r.cfg.Client, r.cfg.Node, r.cfg.RequestTimeout, r.cfg.Log}.find(ctx)
	if !ok {
		return
	}
	q.uid = own
	q.step(cilium.NodeIs{UID: own})
	news := make(chan cilium.Event)
	var follower sync.WaitGroup
	defer follower.Wait()
	follower.Go(func() {
		q.objects.followThose(ctx, fields.OneTermEqualSelector("metadata.name", r.cfg.Node).String(), func(ev cilium.Event) {
			select {
			case news <- ev:
			case <-ctx.Done():
			}
		})
	})
	for {
		select {
		case <-ctx.Done():
			return
		case ev := <-news:
			q.step(ev)
		case <-q.alarm.C:
			q.step(cilium.Woke{})
		case <-r.stepped:
		}
		if own, another := granted.Another(q.uid); another {
			q.uid = own
			q.step(cilium.NodeIs{UID: own})
		}
		q.look()
	}
}

// requesting is one life of a Requester.
type requesting struct {
	*Requester
	ctx     context.Context
	machine *cilium.Requester
	objects poolNodes
	alarm   *time.Timer
	granted *host.Granted
	// uid is the own Node object's.
	uid string
	// looking: the machine has asked for the agent's state.
	looking bool
}

// look shows the machine the agent as its last step left it.
func (q *requesting) look() {
	q.mu.Lock()
	seen, known := q.agent, q.seen
	q.mu.Unlock()
	if !q.looking || !known {
		return
	}
	q.step(seen)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.unseen = !q.agent.Equal(seen)
}

// Pending says what is under way, "" when nothing is.
func (r *Requester) Pending() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pending == "" && r.unseen {
		return "its Cilium agent is about to look"
	}
	return r.pending
}

// step gives the machine an event, and the answers to what it asks for.
func (q *requesting) step(ev cilium.Event) {
	for queue := []cilium.Event{ev}; len(queue) > 0 && q.ctx.Err() == nil; queue = queue[1:] {
		for _, e := range q.machine.Step(q.clock.now(), queue[0]) {
			if answer := q.perform(e); answer != nil {
				queue = append(queue, answer)
			}
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.leaving, q.pending = len(q.machine.Leaving()) > 0, q.machine.Pending()
}

// perform does what the machine asks for, and returns the answer to a request.
func (q *requesting) perform(e cilium.Effect) cilium.Event {
	ctx, cancel := context.WithTimeout(q.ctx, q.cfg.RequestTimeout)
	defer cancel()
	switch e := e.(type) {
	case cilium.CreateResource:
		return wrote(e.ID)(q.objects.create(ctx, e.Object))
	case cilium.WriteResource:
		return wrote(e.ID)(q.objects.write(ctx, e.Object))
	case cilium.TellAgent:
		q.mu.Lock()
		q.leaving = len(q.machine.Leaving()) > 0
		q.mu.Unlock()
		q.granted.Give(e.Blocks)
	case cilium.LookAtAgent:
		q.looking = true
	case cilium.Note:
		q.cfg.Log.Warn(e.Text, "node", q.cfg.Node)
	case cilium.WakeAt:
		pace{clock: &q.clock}.set(q.alarm, e.At)
	default:
		panic(fmt.Sprintf("kube: unknown effect %T", e))
	}
	return nil
}
