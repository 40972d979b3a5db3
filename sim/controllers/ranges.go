package controllers

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/nodeipam"
	"github.com/vppdrill/vppdrill/ipam/space"
	"github.com/vppdrill/vppdrill/sim/cluster"
)

// rangeSystem is Kubernetes: the controller manager's allocator writes a pod CIDR into each Node object, of ranges of its own or as the
// cloud has it.
type rangeSystem struct {
	env      Env
	hostBits int
	// service and second are the ranges of services, of the first and the second family.
	service, second netip.Prefix
	// names has the ranges' names in the API, ranges the ranges; both in order of creation.
	ranges []nodeipam.ClusterCIDR
	made   int

	// cloud is nil for RangeAllocator.
	cloud *aliases

	election
	leading  *controller
	requests int64
}

func newRangeSystem(env Env) (*rangeSystem, error) {
	plan, err := env.Plan.Plan()
	if err != nil {
		return nil, err
	}
	s := &rangeSystem{env: env, hostBits: plan.PodSubnet.Addr().BitLen() - plan.PodSubnetOneNodePrefixLen, service: plan.Service}
	list, err := s.env.ranges()
	if err != nil {
		return nil, err
	}
	for _, r := range list {
		s.ranges = append(s.ranges, s.object(r))
	}
	s.cloud = cloudAliases(env.Plan.NodeIPAM.Allocator, list[0], list[0].Addr().BitLen()-s.hostBits, plan.Service)
	if plan.Second != nil { // one range of both, as nodes have a block of each
		c := &s.ranges[0]
		c.IPv4, c.IPv6 = env.Plan.PodSubnetCIDR.OfFamily(false), env.Plan.PodSubnetCIDR.OfFamily(true)
		s.second = plan.Second.Service
	}
	env.Cluster.API.Observe(s.observe)
	return s, nil
}

// params are the controller's for its type.
func (s *rangeSystem) params() (nodeipam.CIDRAllocatorType, nodeipam.CIDRAllocatorParams) {
	p := nodeipam.CIDRAllocatorParams{ServiceCIDR: s.service, SecondaryServiceCIDR: s.second}
	if s.cloud == nil {
		p.MultiCIDRs = slices.Clone(s.ranges)
		return nodeipam.RangeAllocatorType, p
	}
	p.ClusterCIDRs, p.NodeCIDRMaskSizes, p.Picker = []netip.Prefix{s.cloud.within}, []int{s.cloud.bits}, picker{&s.env}
	return nodeipam.CIDRAllocatorType(s.env.Plan.NodeIPAM.Allocator), p
}

// object is the ClusterCIDR of a range.
func (s *rangeSystem) object(r netip.Prefix) nodeipam.ClusterCIDR {
	s.made++
	c := nodeipam.ClusterCIDR{Name: fmt.Sprintf("range-%d", s.made), PerNodeHostBits: s.hostBits}
	if space.Normal(r).Addr().Is4() {
		c.IPv4 = r
	} else {
		c.IPv6 = r
	}
	return c
}

// observe tells what the API server says, which is the truth.
func (s *rangeSystem) observe(old, now cluster.Object) {
	was, _ := old.(*cluster.Node)
	is, _ := now.(*cluster.Node)
	switch {
	case is != nil && (was == nil && len(is.PodCIDRs) > 0 || was != nil && !slices.Equal(was.PodCIDRs, is.PodCIDRs)):
		s.env.Assigned(is.Name, is.PodCIDRs)
	case is == nil && was != nil:
		s.env.Assigned(was.Name, nil)
	}
}

func (s *rangeSystem) Allocator(string) (ipam.NodeAllocator, error) {
	return nodeipam.NewNode(nodeipam.NodeConfig{ReuseDelay: s.env.Plan.ReuseDelay})
}

func (s *rangeSystem) Start() { s.lead() }

func (s *rangeSystem) lead() {
	l := s.won(&s.env, rangeProgram)
	kind, params := s.params()
	r, err := nodeipam.New(kind, params, nodeipam.CloudProviderGCE)
	if err != nil {
		panic("controllers: the scenario's ranges were accepted before: " + err.Error())
	}
	var alloc nodeipam.Machine = r
	if plant := s.env.Plant.Controller; plant != nil {
		alloc = plant(s.lives, params, r)
	}
	s.leading = &controller{system: s, leader: l, alloc: alloc}
	s.leading.start()
}

// Join implements System: the cloud makes an instance.
func (s *rangeSystem) Join(node string) error {
	if s.cloud != nil {
		s.cloud.create(node)
	}
	return nil
}

// Leave implements System.
func (s *rangeSystem) Leave(node string) {
	if s.cloud != nil {
		s.cloud.delete(node)
	}
}

func (*rangeSystem) AgentUp(string, Side)                 {}
func (*rangeSystem) AgentDown(string)                     {}
func (*rangeSystem) Changed(string)                       {}
func (*rangeSystem) Refused(string, ipam.Owner)           {}
func (*rangeSystem) Blocks(string) ([]netip.Prefix, bool) { return nil, false }

// AddRange creates a ClusterCIDR.
func (s *rangeSystem) AddRange(r netip.Prefix) error {
	c := s.object(r)
	s.ranges = append(s.ranges, c)
	if s.leading != nil {
		s.leading.step(nodeipam.ClusterCIDRAdded{ClusterCIDR: c})
	}
	return nil
}

// RemoveRange deletes one.
func (s *rangeSystem) RemoveRange(r netip.Prefix) error {
	i := slices.IndexFunc(s.ranges, func(c nodeipam.ClusterCIDR) bool { return c.IPv4 == r || c.IPv6 == r })
	switch {
	case i < 0:
		return fmt.Errorf("there is no range %s", r)
	case len(s.ranges) == 1:
		return fmt.Errorf("range %s is the last one", r)
	}
	name := s.ranges[i].Name
	s.ranges = slices.Delete(s.ranges, i, i+1)
	if s.leading != nil {
		s.leading.step(nodeipam.ClusterCIDRDeleted{Name: name})
	}
	return nil
}

// LoseLeader lets another controller manager take over.
func (s *rangeSystem) LoseLeader(pause time.Duration, within bool) error {
	if old := s.leading; old != nil && s.lose(pause, within, old.stop, s.lead) {
		old.step(nodeipam.Leading{Until: old.now().Add(renewDeadline)})
	}
	return nil
}

// FreeBlock looks for a block of the ranges that no Node object shows, or where the cloud gives them, for one that its Node object does not
// show yet.
func (s *rangeSystem) FreeBlock() bool {
	var taken []netip.Prefix
	nodes, _ := s.env.Cluster.API.List(cluster.KindNode, "")
	for _, o := range nodes {
		n := o.(*cluster.Node)
		if s.cloud != nil && s.cloud.given && len(n.PodCIDRs) == 0 && s.cloud.of[n.Name].IsValid() {
			return true
		}
		taken = append(taken, n.PodCIDRs...)
	}
	if s.cloud != nil && s.cloud.given {
		return false
	}
	for _, services := range [...]netip.Prefix{s.service, s.second} {
		if services.IsValid() {
			taken = append(taken, services)
		}
	}
	return slices.ContainsFunc(s.ranges, func(r nodeipam.ClusterCIDR) bool {
		for _, prefix := range [...]netip.Prefix{r.IPv4, r.IPv6} {
			if prefix.IsValid() && !hasFreeBlock(prefix, prefix.Addr().BitLen()-r.PerNodeHostBits, taken) {
				return false
			}
		}
		return true
	})
}

// Pending says that the leader is still busy. Nodes that wait for a free block do not count: only others can end that.
func (s *rangeSystem) Pending() string {
	switch {
	case s.electing:
		return "a controller manager is being elected"
	case s.leading.asked > 0:
		return fmt.Sprintf("%s waits for %d answers", s.leading.name, s.leading.asked)
	case !s.leading.feed.Synced():
		return s.leading.name + " has no watch"
	case s.cloud == nil && s.leading.due:
		return s.leading.name + " tries again later"
	case s.cloud != nil && s.unserved() && s.FreeBlock(): // its alarms are of looks again, which never end
		return s.leading.name + " has nodes without a block"
	}
	return ""
}

// unserved reports whether a Node object has no pod CIDR.
func (s *rangeSystem) unserved() bool {
	nodes, _ := s.env.Cluster.API.List(cluster.KindNode, "")
	return slices.ContainsFunc(nodes, func(o cluster.Object) bool { return len(o.(*cluster.Node).PodCIDRs) == 0 })
}

// Requests counts writes of Node objects.
func (s *rangeSystem) Requests() int64 { return s.requests }
