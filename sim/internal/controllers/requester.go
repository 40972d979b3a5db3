package controllers

import (
	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/scenarios"
)

// requester is the part of a Cilium agent that asks for CIDRs and gives them back, for one life of a node's agent.
type requester struct {
	*ciliumAgent
	demands *cilium.Demands
}

func newRequester(s *poolSystem, node string, side Side, alloc *cilium.Node) *requester {
	m := cilium.NewRequester(node)
	r := &requester{newCiliumAgent(&s.env, node, m, &s.requests), s.demands(node, alloc)}
	if plant := s.env.Plant.Side; plant != nil {
		side = plant(node, side)
	}
	r.look = func() cilium.AgentSeen { return r.demands.Look(s.env.now(), side.Blocks(), side.Idle(), s.ip6()) }
	r.behind = func() bool { return len(m.Leaving()) > 0 || r.demands.Behind() }
	return r
}

// demands are those of a node's pools.
func (s *poolSystem) demands(node string, alloc *cilium.Node) *cilium.Demands {
	c, list := s.env.Plan.Cilium, cilium.NewDemands(alloc)
	for _, f := range alloc.Families() {
		d := cilium.NodeDemand{PreAllocate: c.PreAllocate, Pool: string(f)}
		if len(c.Pools) > 0 {
			d.Pool = cilium.DefaultPool
		}
		first := cilium.NewDemand(alloc, d)
		if c.Mode == scenarios.ClusterPool {
			first = cilium.OneCIDR(alloc)
		}
		if plant := s.env.Plant.Demand; plant != nil {
			first = plant(node, first)
		}
		list.Add(cilium.DefaultPool, f, first)
	}
	for _, p := range c.Pools {
		list.Add(p.Name, "", cilium.NewDemand(alloc, cilium.NodeDemand{PreAllocate: p.PreAllocate, Pool: p.Name}))
	}
	return list
}

// tried says that a pod found an address of a pool, or none.
func (r *requester) tried(pool string, a Attempt) {
	if a.Placed {
		r.demands.Placed(a.Pod)
		return
	}
	r.demands.Refused(r.env.now(), pool, a.Pod)
	if r.looking {
		r.soon()
	}
}
