package controllers

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam/space"
	"github.com/vppdrill/vppdrill/sim/ec2"
)

// provider is where the operator of CiliumNode resources gets single addresses from: EC2, or an address service without
// a cloud.
type provider interface {
	// Join and Leave report machines.
	Join(node string) error
	Leave(node string)
	// AddRange and RemoveRange change which addresses there are to be had.
	AddRange(r netip.Prefix) error
	RemoveRange(r netip.Prefix) error
	// of is what answers for a node, nil for one that is not known.
	of(node string) Cloud
	// most is how many interfaces a node can have, and addresses for pods each.
	most() (interfaces, each int)
	// left is the number of free addresses where the node gets its addresses from.
	left(node string) int
	// spare is how many addresses a node would get for sure, whatever other interfaces take for themselves.
	spare(node string) int
	// vacant reports whether a node without any address would get one, where that is known.
	vacant() bool
}

// of implements provider.
func (s *vpc) of(node string) Cloud { return s.instances[node] }

// most implements provider.
func (s *vpc) most() (interfaces, each int) { return s.limits.ENIs, s.limits.IPv4PerENI - 1 }

// spare implements provider.
func (s *vpc) spare(node string) int { return s.left(node) - s.limits.ENIs }

// left implements provider.
func (s *vpc) left(node string) int { return s.zoneOf(node).Pods.Free() }

// vacant is not known: what an instance can have depends on its interfaces.
func (*vpc) vacant() bool { return false }

// addressService is the provider of Cilium's mode crd: the keeper of a site's addresses, asked one node at a time. It
// answers as EC2 does, for nodes that have one interface with room for any number. A released address is given last.
type addressService struct {
	env    Env
	ranges []netip.Prefix
	free   []netip.Addr // the one that has been free for the longest first
	nodes  map[string]Cloud
}

func newAddressService(env Env) (*addressService, error) {
	ranges, err := env.ranges()
	if err != nil {
		return nil, err
	}
	s := &addressService{env: env, nodes: make(map[string]Cloud)}
	for _, r := range ranges {
		if err := s.AddRange(r); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Join implements provider.
func (s *addressService) Join(node string) error {
	s.nodes[node] = newInstance(&servedNode{service: s}, func(blocks []netip.Prefix) { s.env.Assigned(node, blocks) })
	if plant := s.env.Plant.Cloud; plant != nil {
		s.nodes[node] = plant(node, s.nodes[node])
	}
	return nil
}

// Leave implements provider: what the node had is free.
func (s *addressService) Leave(node string) {
	if n := s.nodes[node]; n != nil {
		n.Terminate(s.env.now())
		delete(s.nodes, node)
	}
}

// AddRange implements provider. The first and the last address of a range are never given.
func (s *addressService) AddRange(r netip.Prefix) error {
	r = space.Normal(r)
	if slices.Contains(s.ranges, r) {
		return fmt.Errorf("there is a range %s", r)
	}
	s.ranges = append(s.ranges, r)
	held := s.held() // of a range that was removed and comes back
	last := space.Last(r)
	for a := r.Addr().Next(); a.Less(last); a = a.Next() {
		if !held[a] {
			s.free = append(s.free, a)
		}
	}
	return nil
}

// RemoveRange implements provider: what nodes have of it they keep until they give it back.
func (s *addressService) RemoveRange(r netip.Prefix) error {
	i := slices.Index(s.ranges, r)
	if i < 0 {
		return fmt.Errorf("there is no range %s", r)
	}
	s.ranges = slices.Delete(s.ranges, i, i+1)
	s.free = slices.DeleteFunc(s.free, r.Contains)
	return nil
}

// held are the addresses that nodes have.
func (s *addressService) held() map[netip.Addr]bool {
	held := make(map[netip.Addr]bool)
	for _, n := range s.nodes { //vppdrill:unordered it becomes a set
		for _, e := range n.Metadata(s.env.now()) {
			for _, u := range e.Units {
				held[u.Addr()] = true
			}
		}
	}
	return held
}

// back takes an address back, if it is still the service's.
func (s *addressService) back(a netip.Addr) {
	if slices.ContainsFunc(s.ranges, func(r netip.Prefix) bool { return r.Contains(a) }) {
		s.free = append(s.free, a)
	}
}

func (s *addressService) of(node string) Cloud { return s.nodes[node] }

func (*addressService) most() (interfaces, each int) { return 1, 1 << 24 }

func (s *addressService) spare(node string) int { return s.left(node) }

func (s *addressService) left(string) int { return len(s.free) }

func (s *addressService) vacant() bool { return len(s.free) > 0 }

// servedNode is one node at an address service.
type servedNode struct {
	service *addressService
	units   []netip.Prefix
	gone    bool
}

// servedInterface is what CiliumNodes of mode crd call the resource that their addresses are of.
const servedInterface = "service"

var (
	errServedGone = errors.New("the node is not known")
	errServedNone = errors.New("no address is left")
	errServedOnly = errors.New("an address service has no interfaces")
)

// Describe implements Cloud.
func (n *servedNode) Describe(now time.Time) ([]ec2.ENI, error) {
	if n.gone {
		return nil, errServedGone
	}
	return n.Metadata(now), nil
}

// Metadata implements Cloud.
func (n *servedNode) Metadata(time.Time) []ec2.ENI {
	return []ec2.ENI{{ID: servedInterface, Primary: true, Units: slices.Clone(n.units)}}
}

// Assign implements Cloud: as many as there are.
func (n *servedNode) Assign(_ time.Time, _ string, units int, _ bool) (list []netip.Prefix, err error) {
	free := n.service.free
	switch {
	case n.gone:
		return nil, errServedGone
	case len(free) == 0:
		return nil, errServedNone
	}
	some := min(units, len(free))
	for _, a := range free[:some] {
		list = append(list, unit(a))
	}
	n.service.free = slices.Clone(free[some:])
	n.units = append(n.units, list...)
	return list, nil
}

// Unassign implements Cloud.
func (n *servedNode) Unassign(_ time.Time, _ string, units []netip.Prefix) error {
	n.units = slices.DeleteFunc(n.units, func(p netip.Prefix) bool {
		gone := slices.Contains(units, p)
		if gone {
			n.service.back(p.Addr())
		}
		return gone
	})
	return nil
}

// Create implements Cloud.
func (*servedNode) Create(time.Time, int, bool) (ec2.ENI, time.Time, error) {
	return ec2.ENI{}, time.Time{}, errServedOnly
}

// Delete implements Cloud.
func (*servedNode) Delete(time.Time, string) error { return errServedOnly }

// Attach implements Cloud.
func (*servedNode) Attach(time.Time, map[string]string, bool) (string, error) {
	return "", errServedOnly
}

// Terminate implements Cloud.
func (n *servedNode) Terminate(now time.Time) {
	_ = n.Unassign(now, servedInterface, slices.Clone(n.units))
	n.gone = true
}
