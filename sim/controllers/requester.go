package controllers

import (
	"errors"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/sim/cluster"
)

// requester is the part of a Cilium agent that asks for CIDRs and gives them back, for one life of a node's agent.
type requester struct {
	*nodeWriter
	system *poolSystem
	side   Side
	alloc  *cilium.Node
	// demands are those of its pools, the default one first.
	demands []poolDemand
	feed    *cluster.Informer

	listed bool
	view   *cluster.Resource
	// leaving are CIDRs that the node gives back: first its agent drops them, then the resource.
	leaving []netip.Prefix
	told    []netip.Prefix
	// scheduled: an evaluation is on its way. leases and blocks are what was evaluated last.
	scheduled      bool
	leases, blocks int
	// again is for when an evaluation was planned last, since the start.
	again time.Duration
}

// poolDemand is what a node asks for of one pool.
type poolDemand struct {
	pool string
	Demand
}

// demandsOf are those of a node's pools.
func (s *poolSystem) demandsOf(node string, alloc *cilium.Node) []poolDemand {
	first := &allocatorDemand{NodeDemand: cilium.NodeDemand{PreAllocate: s.env.Plan.Cilium.PreAllocate}, alloc: alloc}
	list := []poolDemand{{cilium.DefaultPool, first}}
	if s.env.Plan.Cilium.Mode == scenarios.ClusterPool {
		list[0].Demand = oneCIDR{first}
	}
	if plant := s.env.Plant.Demand; plant != nil {
		list[0].Demand = plant(node, list[0].Demand)
	}
	for _, p := range s.env.Plan.Cilium.Pools {
		first.Pool = cilium.DefaultPool
		list = append(list, poolDemand{p.Name, &allocatorDemand{NodeDemand: cilium.NodeDemand{PreAllocate: p.PreAllocate, Pool: p.Name}, alloc: alloc}})
	}
	return list
}

// demandOf is the demand of a pool; "" is the default one.
func (r *requester) demandOf(pool string) poolDemand {
	for _, d := range r.demands {
		if d.pool == pool {
			return d
		}
	}
	return r.demands[0]
}

func newRequester(s *poolSystem, node string, side Side, alloc *cilium.Node) *requester {
	r := &requester{nodeWriter: newNodeWriter(&s.env, node, "cilium", &s.requests), system: s, side: side, alloc: alloc}
	r.nodeWriter.soon = r.soon
	r.demands = s.demandsOf(node, alloc)
	if plant := s.env.Plant.Side; plant != nil {
		r.side = plant(node, side)
	}
	// Fresh, as vppwire/host/kube lists: the object of the node's former life must not be taken for its own.
	r.feed = s.env.Cluster.API.NewInformer(cluster.InformerConfig{Name: "cilium", At: r.at, Kind: cluster.KindResource, Node: node, Fresh: true, Handler: r})
	return r
}

// Listed implements cluster.Handler.
func (r *requester) Listed(objects []cluster.Object, _ int64) {
	r.listed, r.view = true, nil
	for _, o := range objects {
		r.view = o.(*cluster.Resource)
	}
	r.soon()
}

// Changed implements cluster.Handler.
func (r *requester) Changed(ch cluster.Change) {
	switch o := ch.Object.(*cluster.Resource); {
	case ch.Type == cluster.Deleted:
		r.view = nil
	case r.view == nil || r.view.UID != o.UID || r.view.ResourceVersion < o.ResourceVersion:
		r.view = o
	}
	r.soon()
}

// want are the blocks that the agent should have.
func (r *requester) want() []netip.Prefix {
	if r.view == nil {
		return nil
	}
	return slices.DeleteFunc(prefixes(r.view.Value.(*cilium.CiliumNode).Spec.IPAM.Pools.Allocated),
		func(p netip.Prefix) bool { return slices.Contains(r.leaving, p) })
}

// changed looks whether the agent's step concerns the demand.
func (r *requester) changed() {
	if len(r.leaving) > 0 || r.alloc.Len() != r.leases || len(r.alloc.Blocks()) != r.blocks {
		r.soon()
	}
}

// soon evaluates in an event of its own: the agent is in the middle of a step.
func (r *requester) soon() {
	if r.scheduled || r.dead {
		return
	}
	r.scheduled = true
	r.system.env.Clock.After(0, &step{r.node, "cilium demand", func() {
		if r.scheduled = false; !r.dead {
			r.evaluate()
		}
	}})
}

// refusedTime is after how long an owner that found no address counts as demand no more (ipam/cilium, NodeDemand).
const refusedTime = 5*time.Minute + time.Second

// later evaluates again in a while, once however often it is asked for at one time.
func (r *requester) later(d time.Duration) {
	at := r.system.env.Clock.Now() + d
	if r.again == at {
		return
	}
	r.again = at
	r.system.env.Clock.After(d, &step{r.node, "cilium demand expires", r.soon})
}

func (r *requester) evaluate() {
	r.leases, r.blocks = r.alloc.Len(), len(r.alloc.Blocks())
	if !r.listed || r.writing {
		return
	}
	needed := make([]int, len(r.demands))
	for i, d := range r.demands {
		needed[i] = d.Needed(r.system.env.now())
	}
	if r.view == nil {
		r.create(needed)
		return
	}
	r.choose(needed)
	r.system.env.decided(r.node, "wants %d addresses, has %v and gives back %v", needed, r.want(), r.leaving)
	if want := r.want(); !slices.Equal(want, r.told) {
		r.told = slices.Clone(want)
		r.system.env.Tell(r.node, want)
	}
	r.publish(needed)
}

// choose decides which CIDRs leave. One that a pod got meanwhile stays.
func (r *requester) choose(needed []int) {
	shown := prefixes(r.view.Value.(*cilium.CiliumNode).Spec.IPAM.Pools.Allocated)
	r.leaving = slices.DeleteFunc(r.leaving, func(p netip.Prefix) bool {
		return !slices.Contains(shown, p) || r.demands[0].Occupied(p)
	})
	for i, d := range r.demands {
		for _, p := range d.Excess(needed[i]) {
			if slices.Contains(shown, p) && !slices.Contains(r.leaving, p) {
				r.leaving = append(r.leaving, p)
			}
		}
	}
}

// publish writes demand and what has left into the resource.
func (r *requester) publish(needed []int) {
	old := ciliumNode(r.view)
	n := *old
	n.Spec.IPAM.Pools.Requested = r.requested(needed)
	n.Spec.IPAM.Pools.Allocated = nil
	for _, a := range old.Spec.IPAM.Pools.Allocated {
		a.CIDRs = slices.DeleteFunc(slices.Clone(a.CIDRs), r.left)
		if len(a.CIDRs) > 0 {
			n.Spec.IPAM.Pools.Allocated = append(n.Spec.IPAM.Pools.Allocated, a)
		}
	}
	if slices.Equal(n.Spec.IPAM.Pools.Requested, old.Spec.IPAM.Pools.Requested) &&
		slices.EqualFunc(n.Spec.IPAM.Pools.Allocated, old.Spec.IPAM.Pools.Allocated, sameAllocation) {
		return
	}
	r.put(resourceAsk, updateResource(&cluster.Resource{Meta: r.view.Meta, Value: &n}))
}

// left reports whether the agent has dropped a CIDR for good: it is journaled, and the other nodes know.
func (r *requester) left(p netip.Prefix) bool {
	return slices.Contains(r.leaving, p) && r.side.Idle() &&
		!slices.ContainsFunc(r.side.Blocks(), func(b ipam.Block) bool { return b.Prefix == p })
}

// requested is what the resource asks for; of pools beside the default one only where something is needed.
func (r *requester) requested(needed []int) (list []cilium.PoolRequest) {
	for i, d := range r.demands {
		if i == 0 || needed[i] > 0 {
			list = append(list, r.system.request(d.pool, needed[i]))
		}
	}
	return list
}

// create makes the node's resource, as soon as there is a Node object to own it.
func (r *requester) create(needed []int) {
	n := &cilium.CiliumNode{}
	n.Spec.IPAM.Pools.Requested = r.requested(needed)
	r.put(resourceMake, makeResource(r.node, n))
}

// makeResource makes a node's resource, if there is a Node object to own it.
func makeResource(node string, n *cilium.CiliumNode) func(*cluster.API) (cluster.Object, error) {
	return func(a *cluster.API) (cluster.Object, error) {
		if _, ok := a.Node(node); !ok {
			return nil, cluster.ErrNotFound
		}
		fresh := &cluster.Resource{Meta: cluster.Meta{Name: node}, Value: n}
		if err := a.Create(fresh); err != nil {
			return nil, err
		}
		return fresh, nil
	}
}

// put writes the node's resource.
func (r *requester) put(what string, act func(*cluster.API) (cluster.Object, error)) {
	was := r.view
	r.write(what, r.node, act, func(o cluster.Object, err error) {
		if x, ok := o.(*cluster.Resource); ok && (r.view == nil || r.view.UID != x.UID || r.view.ResourceVersion < x.ResourceVersion) {
			r.view = x
		}
		switch {
		case err == nil:
			r.soon()
		case !errors.Is(err, cluster.ErrConflict) && !errors.Is(err, cluster.ErrExists):
			r.wait(retryTime)
		case r.view != was: // the watch, which tells what is there, has told it while this was being written
			r.soon()
		}
	})
}

func (r *requester) start() { r.feed.Start() }

func (r *requester) stop() {
	r.dead = true
	r.feed.Stop()
}

func (r *requester) pending() string {
	switch {
	case !r.listed || r.view == nil:
		return "its CiliumNode resource is not known"
	case r.writing || r.scheduled || r.retrying:
		return "its CiliumNode resource is being written"
	case len(r.leaving) > 0:
		return "it gives CIDRs back"
	}
	return ""
}

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
