package controllers

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/nodeipam"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/blockranges"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/sim/internal/cluster"
)

// rangeSystem is Kubernetes: the controller manager's allocator writes a pod CIDR into each Node object, of ranges of
// its own or as the cloud has it.
type rangeSystem struct {
	env    Env
	ranges *blockranges.Ranges

	// cloud is nil for RangeAllocator, fabric where the network between the nodes is no cloud's.
	cloud  *aliases
	fabric *fabric

	election
	leading  *controller
	requests int64
}

func newRangeSystem(env Env) (System, error) {
	ranges, err := blockranges.New(env.Plan)
	if err != nil {
		return nil, err
	}
	s := &rangeSystem{env: env, ranges: ranges}
	within, bits := ranges.First()
	s.cloud = cloudAliases(env.Plan.NodeIPAM.Allocator, within, bits, ranges.Service())
	if s.fabric, err = newFabric(env.Plan); err != nil {
		return nil, err
	}
	env.Cluster.API.Observe(s.observe)
	return s, nil
}

// params are the controller's for its type.
func (s *rangeSystem) params() (nodeipam.CIDRAllocatorType, nodeipam.CIDRAllocatorParams) {
	if s.cloud == nil {
		p := s.ranges.Params()
		if s.fabric != nil {
			p.Routes = &nodeipam.RouteConfig{Cluster: s.env.Plan.NodeIPAM.ClusterName, CIDRs: s.fabric.pods}
		}
		return nodeipam.RangeAllocatorType, p
	}
	p := s.ranges.Services()
	p.ClusterCIDRs, p.NodeCIDRMaskSizes, p.Picker = []netip.Prefix{s.cloud.within}, []int{s.cloud.bits}, picker{&s.env}
	return nodeipam.CIDRAllocatorType(s.env.Plan.NodeIPAM.Allocator), p
}

// observe reports the API server's state, which is the truth.
func (s *rangeSystem) observe(old, now cluster.Object) {
	was, _ := old.(*cluster.Node)
	is, _ := now.(*cluster.Node)
	if s.cloud != nil && was == nil && is != nil && len(is.PodCIDRs) == 0 {
		s.report(is)
	}
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
	Accept(l.name, err)
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
	if s.fabric != nil {
		s.fabric.machines[node] = true
	}
	return nil
}

// Leave implements System.
func (s *rangeSystem) Leave(node string) {
	if s.cloud != nil {
		s.cloud.delete(node)
	}
	if s.fabric != nil {
		delete(s.fabric.machines, node)
	}
}

func (*rangeSystem) AgentUp(string, Side)                 {}
func (*rangeSystem) AgentDown(string)                     {}
func (*rangeSystem) Changed(string)                       {}
func (*rangeSystem) Tried(string, Attempt)                {}
func (*rangeSystem) Blocks(string) ([]netip.Prefix, bool) { return nil, false }

// AddRange creates a ClusterCIDR.
func (s *rangeSystem) AddRange(r netip.Prefix) error {
	c := s.ranges.Add(r)
	s.env.ranged(r, false)
	if s.leading != nil {
		s.leading.step(nodeipam.ClusterCIDRAdded{ClusterCIDR: c})
	}
	return nil
}

// RemoveRange deletes one.
func (s *rangeSystem) RemoveRange(r netip.Prefix) error {
	name, err := s.ranges.Remove(r)
	if err != nil {
		return err
	}
	s.env.ranged(r, true)
	if s.leading != nil {
		s.leading.step(nodeipam.ClusterCIDRDeleted{Name: name})
	}
	return nil
}

// RestartController implements System. Node objects keep what they show.
func (s *rangeSystem) RestartController(a scenarios.RestartController) error {
	opened, closed := s.ranges.Restart(a)
	for _, r := range closed {
		s.env.ranged(r, true)
	}
	for _, r := range opened {
		s.env.ranged(r, false)
	}
	s.restart(func() { s.leading.stop() }, s.lead)
	return nil
}

// LoseLeader lets another controller manager take over. The old one knows until when it leads, and learns later that
// its lease is lost.
func (s *rangeSystem) LoseLeader(how scenarios.LoseLeader) error {
	old := s.leading
	if old == nil || s.electing {
		return nil
	}
	old.step(nodeipam.Leading{Until: old.now().Add(renewDeadline)})
	s.lose(how, func() { old.after(retryPeriod, "hears that it leads no more", old.stop) }, s.lead)
	return nil
}

// FreeBlock looks for a block of the ranges that no Node object shows, or where the cloud gives them, for one that its
// Node object does not show yet.
func (s *rangeSystem) FreeBlock() bool {
	if s.cloud == nil || !s.cloud.given {
		return s.ranges.Free(s.shown())
	}
	return slices.ContainsFunc(s.nodes(), func(o cluster.Object) bool {
		n := o.(*cluster.Node)
		return len(n.PodCIDRs) == 0 && s.cloud.of[n.Name].IsValid()
	})
}

// Counts implements Counter. Where the cloud gives the blocks, the controller does not count them.
func (s *rangeSystem) Counts() (counts []fact.RangeCount) {
	counter, ok := s.leading.alloc.(interface{ Ranges() []nodeipam.RangeUse })
	if !ok || s.electing || s.cloud != nil && s.cloud.given {
		return nil
	}
	taken := s.ranges.WithServices(s.shown())
	for _, u := range counter.Ranges() {
		counts = append(counts, fact.RangeCount{Program: s.leading.name, Range: u.CIDR,
			Counted: u.Blocks - u.Free, Shown: u.Blocks - blockranges.Left(u.CIDR, u.Bits, taken)})
	}
	return counts
}

// shown are the pod CIDRs of all Node objects.
func (s *rangeSystem) shown() (cidrs []netip.Prefix) {
	for _, o := range s.nodes() {
		cidrs = append(cidrs, o.(*cluster.Node).PodCIDRs...)
	}
	return cidrs
}

func (s *rangeSystem) nodes() []cluster.Object {
	nodes, _ := s.env.Cluster.API.List(cluster.KindNode, "")
	return nodes
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
	case s.cloud == nil && s.leading.allocates():
		return s.leading.name + " tries again later"
	case s.cloud != nil && s.unserved() && s.FreeBlock(): // its alarms are of looks again, which never end
		return s.leading.name + " has nodes without a block"
	case s.fabric != nil: // and of its passes
		return s.fabric.pending(s.nodes())
	}
	return ""
}

// unserved reports whether a Node object has no pod CIDR.
func (s *rangeSystem) unserved() bool {
	return slices.ContainsFunc(s.nodes(), func(o cluster.Object) bool { return len(o.(*cluster.Node).PodCIDRs) == 0 })
}

// Requests counts writes of Node objects.
func (s *rangeSystem) Requests() int64 { return s.requests }
