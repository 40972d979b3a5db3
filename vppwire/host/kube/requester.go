package kube

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/ipam/contiv"
	"github.com/vppdrill/vppdrill/ipam/nodeipam"
	"github.com/vppdrill/vppdrill/vppwire/agent"
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

// Requester asks for the blocks of one node in its PoolNode, and gives back those that it does not need: first the agent drops a block, is
// done with it and has told the other nodes, then the object shows it no more. Facts tell the agent what the object shows.
type Requester struct {
	cfg RequesterConfig
	// demand belongs to the goroutine of the agent's steps.
	demand cilium.NodeDemand

	mu sync.Mutex
	// now is the agent as its last step left it. leaving are blocks that the node gives back.
	now     agentDemand
	known   bool
	leaving []netip.Prefix
	shown   []netip.Prefix

	// stepped says that now is another one.
	stepped chan struct{}
	// ready is closed when it is known what the object shows, or that there is none.
	ready chan struct{}
	once  sync.Once
}

// agentDemand is what of an agent says how many blocks it needs.
type agentDemand struct {
	needed int
	// six: pods have addresses of IPv6.
	six bool
	// excess are blocks that could go, held all that it has, used those with a pod's address.
	excess, held, used []netip.Prefix
	// idle: whatever it has decided is journaled and told to the other nodes.
	idle bool
}

func (a agentDemand) equal(b agentDemand) bool {
	return a.needed == b.needed && a.six == b.six && a.idle == b.idle && slices.Equal(a.excess, b.excess) && slices.Equal(a.held, b.held) && slices.Equal(a.used, b.used)
}

// NewRequester returns a Requester that does nothing before Facts.Watch.
func NewRequester(cfg RequesterConfig) *Requester {
	if cfg.RequestTimeout == 0 {
		cfg.RequestTimeout = defaultRequestTimeout
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Requester{cfg: cfg, demand: cilium.NodeDemand{PreAllocate: cfg.PreAllocate}, stepped: make(chan struct{}, 1), ready: make(chan struct{})}
}

// refusedOwner stands for all pods that found no address: kubelets ask again under names of their own, and each would count.
var refusedOwner = ipam.Owner{Network: "pools", ContainerID: "refused", IfName: "any"}

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
			r.demand.Refused(at, refusedOwner)
		}
	}
	plan, known := a.Ranges()
	if !known {
		return // nor is it what kind of addresses the node needs
	}
	d := agentDemand{needed: r.demand.Needed(at, r.cfg.Alloc), six: plan.PodSubnet.Addr().Is6()}
	d.excess = r.demand.Excess(r.cfg.Alloc, d.needed)
	for _, b := range r.cfg.Alloc.Blocks() {
		d.held = append(d.held, b.Prefix)
	}
	for l := range r.cfg.Alloc.Leases() {
		if i := slices.IndexFunc(d.held, func(p netip.Prefix) bool { return p.Contains(l.Addr) }); i >= 0 && !slices.Contains(d.used, d.held[i]) {
			d.used = append(d.used, d.held[i])
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	d.idle = len(r.leaving) > 0 && a.Idle() // it is asked for nothing else
	if !r.known || !d.equal(r.now) {
		r.now, r.known = d, true
		signal(r.stepped)
	}
}

// want are the blocks that the agent should have.
func (r *Requester) want() []netip.Prefix {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.shown), func(p netip.Prefix) bool { return slices.Contains(r.leaving, p) })
}

// run follows the node's object and writes into it until ctx ends. uid tells the node's Node object, empty while there is none; changed
// is called whenever want may be another.
func (r *Requester) run(ctx context.Context, uid func() string, changed func()) {
	objects := newPoolNodes(r.cfg.Client)
	news := make(chan func(*poolNode))
	tell := func(do func(*poolNode)) {
		select {
		case news <- do:
		case <-ctx.Done():
		}
	}
	newer := func(n poolNode) func(*poolNode) {
		return func(have *poolNode) {
			if have.CiliumNode == nil || have.Metadata.UID != n.Metadata.UID || have.revision < n.revision {
				*have = n
			}
		}
	}
	var follower sync.WaitGroup
	defer follower.Wait()
	follower.Go(func() {
		objects.followThose(ctx, fields.OneTermEqualSelector("metadata.name", r.cfg.Node).String(), func(list []poolNode) {
			tell(func(have *poolNode) {
				if len(list) == 0 {
					*have = poolNode{}
				}
				for _, n := range list {
					newer(n)(have)
				}
			})
		}, func(n poolNode) { tell(newer(n)) }, func(poolNode) { tell(func(have *poolNode) { *have = poolNode{} }) })
	})
	var view poolNode
	listed := false
	again := time.NewTicker(operatorPause) // what was refused or not answered is looked at again, and demand ends by itself
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case do := <-news:
			do(&view)
			listed = true
		case <-r.stepped:
		case <-again.C:
		}
		if !listed || view.bad != nil {
			continue
		}
		own := uid()
		if view.owner != "" && own == "" { // Facts wait for the first evaluation
			var err error
			if own, err = r.nodeUID(ctx); err != nil {
				r.cfg.Log.Warn("whose the node's demand is cannot be told", "node", r.cfg.Node, "error", err)
				continue
			}
		}
		r.evaluate(ctx, objects, &view, own, changed)
	}
}

// nodeUID asks for the UID of the node's Node object, which is empty while there is none.
func (r *Requester) nodeUID(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, r.cfg.RequestTimeout)
	defer cancel()
	list, err := r.cfg.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", r.cfg.Node).String()})
	if err != nil || len(list.Items) == 0 {
		return "", err
	}
	return string(list.Items[0].UID), nil
}

// evaluate tells what the object shows, and writes what the node needs and has given back.
func (r *Requester) evaluate(ctx context.Context, objects poolNodes, view *poolNode, uid string, changed func()) {
	r.mu.Lock()
	if !r.known {
		r.mu.Unlock()
		return // the agent has not read its journal, or knows no ranges
	}
	r.shown = nil
	// The object of a former Node of this name is as good as none: its blocks go back to the pools with it, once the garbage collector comes.
	former := view.CiliumNode != nil && view.owner != "" && view.owner != uid
	if view.CiliumNode != nil && !former {
		for _, a := range view.Spec.IPAM.Pools.Allocated {
			if a.Pool == cilium.DefaultPool {
				r.shown = append(r.shown, a.CIDRs...)
			}
		}
	}
	r.choose()
	now := r.now
	pools := r.pools(view)
	r.mu.Unlock()
	r.once.Do(func() { close(r.ready) })
	changed()
	ctx, cancel := context.WithTimeout(ctx, r.cfg.RequestTimeout)
	defer cancel()
	var fresh poolNode
	var err error
	switch {
	case former, view.CiliumNode == nil && uid == "":
		return // there is no Node yet for it to belong to, or no room for it
	case view.CiliumNode == nil:
		fresh, err = objects.create(ctx, r.cfg.Node, uid, now.requests())
	case slices.Equal(pools.Requested, view.Spec.IPAM.Pools.Requested) && slices.EqualFunc(pools.Allocated, view.Spec.IPAM.Pools.Allocated, sameAllocation):
		return
	default:
		fresh, err = objects.update(ctx, *view, pools)
	}
	switch outcome(err) {
	case nodeipam.Done:
		*view = fresh
	case nodeipam.Conflict: // the watch tells what is there
	default:
		r.cfg.Log.Warn("the node's demand is not written", "node", r.cfg.Node, "error", err)
	}
}

// choose decides which blocks leave. One that a pod got meanwhile stays.
func (r *Requester) choose() {
	r.leaving = slices.DeleteFunc(r.leaving, func(p netip.Prefix) bool {
		return !slices.Contains(r.shown, p) || slices.Contains(r.now.used, p)
	})
	for _, p := range r.now.excess {
		if slices.Contains(r.shown, p) && !slices.Contains(r.leaving, p) {
			r.leaving = append(r.leaving, p)
		}
	}
}

// pools are what the object should say: without blocks that the agent has dropped for good.
func (r *Requester) pools(view *poolNode) (p cilium.PoolsSpec) {
	p.Requested = r.now.requests()
	if view.CiliumNode == nil {
		return p
	}
	left := func(b netip.Prefix) bool {
		return slices.Contains(r.leaving, b) && r.now.idle && !slices.Contains(r.now.held, b)
	}
	for _, a := range view.Spec.IPAM.Pools.Allocated {
		if a.CIDRs = slices.DeleteFunc(slices.Clone(a.CIDRs), left); len(a.CIDRs) > 0 {
			p.Allocated = append(p.Allocated, a)
		}
	}
	return p
}

// requests ask for what is needed of the default pool.
func (a agentDemand) requests() []cilium.PoolRequest {
	needed := cilium.PoolDemand{IPv4Addrs: a.needed}
	if a.six {
		needed = cilium.PoolDemand{IPv6Addrs: a.needed}
	}
	return []cilium.PoolRequest{{Pool: cilium.DefaultPool, Needed: needed}}
}

// create makes a node's object.
func (p poolNodes) create(ctx context.Context, name, uid string, requested []cilium.PoolRequest) (poolNode, error) {
	u, err := newPoolNode(name, uid, requested)
	if err != nil {
		return poolNode{}, err
	}
	now, err := p.write(ctx, http.MethodPost, "", u)
	if err != nil {
		return poolNode{}, err
	}
	return readPoolNode(now), nil
}
