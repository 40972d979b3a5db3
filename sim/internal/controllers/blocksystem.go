package controllers

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/calico"
	"github.com/vppdrill/vppdrill/ipam/contiv"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/blockranges"
	"github.com/vppdrill/vppdrill/sim/internal/cluster"
)

// Preparer is a System whose CNI plugin asks for an address by itself, before it asks the agent. Then is called when
// the agent may be asked: the address is there, or none is available.
type Preparer interface {
	Prepare(node string, a Attempt, then func())
}

// blockSystem is Calico: each node assigns itself addresses of the cluster's blocks, which are resources that every
// node updates by compare-and-swap; the controllers take back the blocks of removed nodes.
type blockSystem struct {
	operated[*tender, *blockHost]
	pools  calico.Pools
	allocs map[string]calico.Node
	// shown is what each node has, by the names of the blocks.
	shown map[string]map[string][]netip.Prefix
	// named are the ranges of named pools, in which a node without addresses need not find any; asked what owners asked for.
	named []netip.Prefix
	asked map[ipam.Owner]string
	plan  contiv.Plan
	// aside counts the free addresses of the blocks with an affinity to a node.
	aside map[string]int
}

var (
	_ Preparer  = (*blockSystem)(nil)
	_ PoolAsker = (*blockSystem)(nil)
)

// AsksPool implements PoolAsker: as Calico's plugin reads the annotations of each pod.
func (s *blockSystem) AsksPool(o ipam.Owner, pool string) {
	if pool != "" {
		s.asked[o] = pool
	}
}

// PoolOf implements PoolAsker.
func (s *blockSystem) PoolOf(o ipam.Owner) string {
	first, _ := o.First()
	return s.asked[first]
}

func newBlockSystem(env Env) (System, error) {
	plan, err := env.Plan.Plan()
	if err != nil {
		return nil, err
	}
	own := scenarios.SectionOf[scenarios.CalicoIPAM](env.Plan)
	s := &blockSystem{allocs: make(map[string]calico.Node), shown: make(map[string]map[string][]netip.Prefix), aside: make(map[string]int), asked: make(map[ipam.Owner]string),
		plan: plan, pools: calico.Pools{MaxBlocks: own.MaxBlocks, Strict: own.StrictAffinity}}
	for _, of := range plan.Families() {
		if of.PodSubnet.Addr().Is6() {
			s.pools.BlockBits6 = of.PodSubnetOneNodePrefixLen
		} else {
			s.pools.BlockBits = of.PodSubnetOneNodePrefixLen
		}
	}
	s.operated = operated[*tender, *blockHost]{env: env, program: tenderProgram, agents: make(map[string]*blockHost),
		boot:   func(l *leader) *tender { return newTender(s, l) },
		reside: func(node string, side Side) *blockHost { return newBlockHost(s, node, side, s.allocs[node]) }}
	if s.pools.Ranges, err = env.ranges(); err != nil {
		return nil, err
	}
	if len(own.Pools) > 0 {
		s.pools.Names, s.pools.Selectors = make(map[string]netip.Prefix), make(map[netip.Prefix]calico.Selector)
	}
	for _, p := range own.Pools {
		s.pools.Ranges, s.named = append(s.pools.Ranges, p.CIDR), append(s.named, p.CIDR)
		s.pools.Names[p.Name] = p.CIDR
		if s.pools.Selectors[p.CIDR], err = calico.ParseSelector(p.Selector()); err != nil {
			return nil, err
		}
	}
	env.Cluster.API.Observe(s.observe)
	return s, nil
}

// observe reports what blocks show.
func (s *blockSystem) observe(old, now cluster.Object) {
	was, before := blockOf(old)
	is, after := blockOf(now)
	if !before && !after {
		return
	}
	s.setAside(was, -len(was.Free))
	s.setAside(is, len(is.Free))
	block := was.CIDR
	if after {
		block = is.CIDR
	}
	has := make(map[string][]netip.Prefix)
	for _, h := range was.Hosts {
		if h != "" {
			has[nodeName(h)] = nil
		}
	}
	for _, h := range is.Hosts {
		if h != "" {
			has[nodeName(h)] = nil
		}
	}
	for _, node := range slices.Sorted(maps.Keys(has)) {
		var list []netip.Prefix
		for i, h := range is.Hosts {
			if h != "" && nodeName(h) == node {
				list = append(list, unit(is.Addr(i)))
			}
		}
		if slices.Equal(list, s.shown[node][block.String()]) {
			continue
		}
		if s.shown[node] == nil {
			s.shown[node] = make(map[string][]netip.Prefix)
		}
		s.shown[node][block.String()] = list
		var all []netip.Prefix
		for _, name := range slices.Sorted(maps.Keys(s.shown[node])) {
			all = append(all, s.shown[node][name]...)
		}
		s.env.Assigned(node, all)
	}
}

// setAside counts more or fewer free addresses of a block for the node with its affinity.
func (s *blockSystem) setAside(b calico.Block, n int) {
	if node := nodeName(b.Affinity); node != "" && n != 0 {
		s.aside[node] += n
		s.env.SetAside(node, s.aside[node])
	}
}

// unit is an address as an agent's block.
func unit(a netip.Addr) netip.Prefix { return netip.PrefixFrom(a, a.BitLen()) }

// blocks are all there are.
func (s *blockSystem) blocks() (list []calico.Block) {
	resources, _ := s.env.Cluster.API.List(cluster.KindResource, "")
	for _, o := range resources {
		if b, ok := blockOf(o); ok {
			list = append(list, b)
		}
	}
	return list
}

// Allocator implements System.
func (s *blockSystem) Allocator(node string) (ipam.NodeAllocator, error) {
	n := calico.NewNode(s.plan.FamilyPools()...)
	s.allocs[node] = n
	return n, nil
}

// Join implements System.
func (*blockSystem) Join(string) error { return nil }

// Leave implements System: the controllers see that the Node object is gone.
func (*blockSystem) Leave(string) {}

// Tried implements System.
func (s *blockSystem) Tried(node string, a Attempt) {
	if h := s.agents[node]; h != nil && !a.Placed {
		h.step(calico.PodRefused{Owner: a.Owner})
	}
}

// Prepare implements Preparer.
func (s *blockSystem) Prepare(node string, a Attempt, then func()) {
	h := s.agents[node]
	if h == nil {
		then()
		return
	}
	h.prepare(a, s.asked[a.Owner], then)
}

// AddRange implements System: another pool.
func (s *blockSystem) AddRange(r netip.Prefix) error {
	s.pools.Ranges = append(slices.Clone(s.pools.Ranges), r)
	s.changed()
	return nil
}

// changed says that the pools are others.
func (s *blockSystem) changed() {
	for _, name := range sortedNames(s.agents) {
		s.agents[name].step(calico.PoolsChanged{Pools: s.pools})
	}
	s.leading.step(calico.PoolsChanged{Pools: s.pools})
}

// RemoveRange implements System: its blocks give no more addresses.
func (s *blockSystem) RemoveRange(r netip.Prefix) error {
	i := slices.Index(s.pools.Ranges, r)
	if i < 0 {
		return fmt.Errorf("there is no range %s", r)
	}
	s.pools.Ranges = slices.Delete(slices.Clone(s.pools.Ranges), i, i+1)
	s.changed()
	return nil
}

// FreeBlock implements System by a sum of its own: a node without addresses takes a free block of each family, or borrows an address of
// another node's.
func (s *blockSystem) FreeBlock() bool {
	open := slices.DeleteFunc(slices.Clone(s.pools.Ranges), func(r netip.Prefix) bool { return slices.Contains(s.named, r) })
	return blockranges.Lends(&s.plan, s.pools.Strict, open, s.blocks())
}
