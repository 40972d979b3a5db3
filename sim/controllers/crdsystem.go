package controllers

import (
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/sim/cluster"
)

// crdSystem are Cilium's modes whose CiliumNode resources have a pool: the operator keeps every node's supplied with single addresses by
// watermarks, and gets them back by the release handshake with its agent. They are EC2's in mode eni, an address service's in mode crd.
type crdSystem struct {
	provider
	operated[*crdOperator, *crdAgent]
	allocs   map[string]*cilium.AddressNode
	restarts map[string]int
}

func newCRDSystem(env Env) (*crdSystem, error) {
	from, err := newProvider(env)
	if err != nil {
		return nil, err
	}
	s := &crdSystem{provider: from, allocs: make(map[string]*cilium.AddressNode), restarts: make(map[string]int)}
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
	for _, z := range v.zones { // the handshake needs a cloud that does not give an address anew while it is being freed
		z.pods.Rotate()
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
	n, err := cilium.NewAddressNode(picker{&s.env}, gateway)
	s.allocs[node] = n
	return expiringNode{n, s, node}, err
}

// Refused implements System: the operator learns of pods only from what is in use.
func (*crdSystem) Refused(string, ipam.Owner) {}

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

// listing is what EC2 has for a node, as the operator sees it.
func listing(i Cloud, now time.Time) (cilium.AllocationMap, error) {
	enis, err := i.Describe(now)
	if err != nil {
		return nil, err
	}
	m := make(cilium.AllocationMap)
	for _, e := range enis {
		for _, u := range e.Units {
			m[u.Addr()] = cilium.AllocationIP{Resource: e.ID}
		}
	}
	return m, nil
}

// poolUnits are a pool's addresses, ascending.
func poolUnits(pool cilium.AllocationMap) []netip.Prefix {
	var list []netip.Prefix
	for _, a := range slices.SortedFunc(maps.Keys(pool), netip.Addr.Compare) {
		list = append(list, unit(a))
	}
	return list
}

// ciliumNode is a resource as ipam/cilium sees it.
func ciliumNode(r *cluster.Resource) *cilium.CiliumNode { return ciliumObject(r).CiliumNode }

// updateResource replaces a resource of the version that it names.
func updateResource(r *cluster.Resource) func(*cluster.API) (cluster.Object, error) {
	return writeResource(cilium.Object{CiliumNode: r.Value.(*cilium.CiliumNode), Raw: r})
}

// makeResource makes a node's resource, if there is a Node object to own it.
func makeResource(node string, n *cilium.CiliumNode) func(*cluster.API) (cluster.Object, error) {
	return func(a *cluster.API) (cluster.Object, error) {
		o, ok := a.Node(node)
		if !ok {
			return nil, cluster.ErrNotFound
		}
		x := cilium.Object{CiliumNode: n.Clone(), Owner: o.UID}
		x.Metadata.Name = node
		return createResource(x)(a)
	}
}
