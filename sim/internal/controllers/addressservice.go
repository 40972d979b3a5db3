package controllers

import (
	"errors"
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam/cilium"
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
// answers as EC2 does, for nodes that have one interface with room for any number.
type addressService struct {
	env   Env
	book  cilium.AddressBook
	nodes map[string]Cloud
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
	s.nodes[node] = newInstance(&servedNode{service: s, name: node}, func(blocks []netip.Prefix) { s.env.Assigned(node, blocks) })
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

// AddRange implements provider.
func (s *addressService) AddRange(r netip.Prefix) error { return s.book.AddRange(r) }

// RemoveRange implements provider.
func (s *addressService) RemoveRange(r netip.Prefix) error { return s.book.RemoveRange(r) }

func (s *addressService) of(node string) Cloud { return s.nodes[node] }

func (*addressService) most() (interfaces, each int) { return 1, 1 << 24 }

func (s *addressService) spare(node string) int { return s.left(node) }

func (s *addressService) left(string) int { return s.book.Free() }

func (s *addressService) vacant() bool { return s.book.Free() > 0 }

// servedNode is one node at an address service.
type servedNode struct {
	service *addressService
	name    string
	gone    bool
}

// servedInterface is what CiliumNodes of mode crd call the resource that their addresses are of.
const servedInterface = "service"

var (
	errServedGone = errors.New("the node is not known")
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
	return []ec2.ENI{{ID: servedInterface, Primary: true, Units: unitsOf(n.service.book.Of(n.name))}}
}

func unitsOf(addrs []netip.Addr) (list []netip.Prefix) {
	for _, a := range addrs {
		list = append(list, unit(a))
	}
	return list
}

// Assign implements Cloud: as many as there are.
func (n *servedNode) Assign(_ time.Time, _ string, units int, _ bool) ([]netip.Prefix, error) {
	if n.gone {
		return nil, errServedGone
	}
	some, err := n.service.book.Give(n.name, units)
	return unitsOf(some), err
}

// Unassign implements Cloud.
func (n *servedNode) Unassign(_ time.Time, _ string, units []netip.Prefix) error {
	if n.gone {
		return nil
	}
	var addrs []netip.Addr
	for _, u := range units {
		addrs = append(addrs, u.Addr())
	}
	n.service.book.TakeBack(n.name, addrs)
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
	_ = n.Unassign(now, servedInterface, unitsOf(n.service.book.Of(n.name)))
	n.gone = true
}
