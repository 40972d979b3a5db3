package controllers

import (
	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/scenarios"
)

// crdSystem are Cilium's modes whose CiliumNode resources have a pool: the operator keeps every node's supplied with
// single addresses by watermarks, and gets them back by the release handshake with its agent. They are EC2's in mode
// eni, an address service's in mode crd.
type crdSystem struct {
	provider
	operated[*crdOperator, *crdAgent]
	allocs   map[string]*cilium.ExpiringNode
	restarts map[string]int
}

func newCRDSystem(env Env) (*crdSystem, error) {
	from, err := newProvider(env)
	if err != nil {
		return nil, err
	}
	s := &crdSystem{provider: from, allocs: make(map[string]*cilium.ExpiringNode), restarts: make(map[string]int)}
	s.operated = operated[*crdOperator, *crdAgent]{env: env, program: operatorProgram, agents: make(map[string]*crdAgent),
		boot: func(l *leader) *crdOperator { return newCRDOperator(s, l) },
		reside: func(node string, side Side) *crdAgent {
			s.restarts[node]++
			return newCRDAgent(s, node, side, s.allocs[node])
		}}
	env.Cluster.API.Observe(collectOwned(&s.env))
	return s, nil
}

// newProvider is a mode's.
func newProvider(env Env) (provider, error) {
	if env.Plan.Cilium.Mode == scenarios.CRD {
		return newAddressService(env)
	}
	v, err := newVPC(env)
	if err != nil {
		return nil, err
	}
	for _, z := range v.net.Zones { // the handshake needs a cloud that does not reassign an address while it is being freed
		z.Pods.Rotate()
	}
	return v, nil
}

// watermarks are what the configuration says of each node.
func (s *crdSystem) watermarks() cilium.Watermarks {
	c := s.env.Plan.Cilium
	return cilium.Watermarks{PreAllocate: c.PreAllocate, MinAllocate: c.MinAllocate, MaxAllocate: c.MaxAllocate, MaxAboveWatermark: c.MaxAboveWatermark}
}

// Allocator implements System.
func (s *crdSystem) Allocator(node string) (ipam.NodeAllocator, error) {
	n, err := cilium.NewExpiringNode(picker{&s.env}, gateway)
	s.allocs[node] = n
	return n, err
}

// Tried implements System.
func (s *crdSystem) Tried(node string, a Attempt) {
	switch x := s.agents[node]; {
	case x == nil:
	case a.Placed:
		x.addresses.Placed(a.Pod)
	default:
		x.addresses.Refused(a.Pod)
		x.changed()
	}
}

// FreeBlock implements System.
func (s *crdSystem) FreeBlock() bool { return s.vacant() }

// grows reports whether a node's interfaces, with those that it may still get, have room for more addresses.
func (s *crdSystem) grows(node string) bool {
	units, i := 0, s.of(node)
	if i == nil {
		return false
	}
	for _, e := range i.Metadata(s.env.now()) {
		units += len(e.Units)
	}
	interfaces, each := s.most()
	return units < interfaces*each
}
