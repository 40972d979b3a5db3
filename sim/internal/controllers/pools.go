package controllers

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/ipam/contiv"
	"github.com/vppdrill/vppdrill/scenarios/blockranges"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/sim/internal/cluster"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// poolSystem is Cilium's multi-pool mode with the default pool, or its cluster-pool mode: agents ask in their
// CiliumNode resources, the operator answers there, and its ledger is in the store.
type poolSystem struct {
	operated[*operator, *requester]
	// plan says how long a node's blocks are.
	plan   contiv.Plan
	ranges []netip.Prefix
	allocs map[string]*cilium.Node
	// asked is the pool that an owner asked for last, where there are several.
	asked map[ipam.Owner]string
}

// PoolAsker is a System whose pods may ask for a pool by an annotation, of theirs or of their namespace.
type PoolAsker interface {
	// AsksPool says before each ADD what the pod's annotation says; empty without one.
	AsksPool(o ipam.Owner, pool string)
	// PoolOf is the pool that it found, empty where there is one pool.
	PoolOf(o ipam.Owner) string
}

// AsksPool implements PoolAsker: as an agent of Cilium's looks the annotations up when a pod comes.
func (s *poolSystem) AsksPool(o ipam.Owner, pool string) {
	if len(s.env.Plan.Cilium.Pools) > 0 {
		s.asked[o] = s.named(pool)
	}
}

// PoolOf implements PoolAsker.
func (s *poolSystem) PoolOf(o ipam.Owner) string { return s.asked[o] }

// named is the pool of a pod with an annotation: its own, its namespace's, the default one.
func (s *poolSystem) named(pool string) string {
	return cmp.Or(pool, s.env.Plan.Cilium.NamespacePool, cilium.DefaultPool)
}

// poolOf is the pool that a block is of.
func (s *poolSystem) poolOf(block netip.Prefix) string {
	for _, p := range s.env.Plan.Cilium.Pools {
		if slices.ContainsFunc(p.IPv4, block.Overlaps) {
			return p.Name
		}
	}
	return cilium.DefaultPool
}

// PooledAllocator is a node's allocator with several pools.
type PooledAllocator interface {
	// FreeFor is how many addresses a pod with that annotation could get now; "" is a pod without one.
	FreeFor(now time.Time, pool string) uint64
}

var _ PooledAllocator = (*cilium.PooledNode)(nil)

func newPoolSystem(env Env) (*poolSystem, error) {
	plan, err := env.Plan.Plan()
	if err != nil {
		return nil, err
	}
	s := &poolSystem{
		plan: plan, allocs: make(map[string]*cilium.Node), asked: make(map[ipam.Owner]string),
	}
	s.operated = operated[*operator, *requester]{env: env, program: operatorProgram, agents: make(map[string]*requester),
		boot:   func(l *leader) *operator { return newOperator(s, l) },
		reside: func(node string, side Side) *requester { return newRequester(s, node, side, s.allocs[node]) }}
	if s.ranges, err = s.env.ranges(); err != nil {
		return nil, err
	}
	env.Cluster.API.Observe(s.observe)
	env.Cluster.API.Observe(collectOwned(&s.env))
	return s, nil
}

// observe reports what resources show.
func (s *poolSystem) observe(old, now cluster.Object) {
	was, _ := old.(*cluster.Resource)
	is, _ := now.(*cluster.Resource)
	switch {
	case is != nil && (was == nil || !slices.Equal(blocksOf(was), blocksOf(is))):
		s.env.Assigned(is.Name, blocksOf(is))
	case is == nil && was != nil:
		s.env.Assigned(was.Name, nil)
	}
}

func (s *poolSystem) Allocator(node string) (ipam.NodeAllocator, error) {
	c := cilium.NodeConfig{Pick: picker{&s.env}, FirstRouter: true, Keep: agent.KeptForNAT, Outside: gateway, Dual: s.plan.Second != nil}
	several := len(s.env.Plan.Cilium.Pools) > 0
	if several {
		c.PoolOf = s.poolOf
	}
	n, err := cilium.NewNode(c)
	if s.allocs[node] = n; err != nil || !several {
		return n, err
	}
	return &cilium.PooledNode{Node: n, Asked: func(o ipam.Owner) string { return s.asked[o] }, Named: s.named}, nil
}

func (*poolSystem) Join(string) error { return nil }
func (*poolSystem) Leave(string)      {}

func (s *poolSystem) Tried(node string, a Attempt) {
	if r := s.agents[node]; r != nil {
		r.tried(s.asked[a.Owner], a)
	}
}

// AddRange extends the pool.
func (s *poolSystem) AddRange(r netip.Prefix) error {
	s.ranges = append(s.ranges, r)
	s.env.ranged(r, false)
	if err := s.upsert(s.leading.term); err != nil {
		return err
	}
	s.leading.step(cilium.PoolsChanged{})
	return nil
}

// RemoveRange takes a range from the pool.
func (s *poolSystem) RemoveRange(r netip.Prefix) error {
	i := slices.Index(s.ranges, r)
	if i < 0 {
		return fmt.Errorf("there is no range %s", r)
	}
	if err := s.leading.term.Retire(cilium.DefaultPool, r); err != nil {
		return err
	}
	s.ranges = slices.Delete(s.ranges, i, i+1)
	s.env.ranged(r, true)
	return nil
}

// Counts implements Counter: what the operator's ledger says that nodes hold, beside what resources show.
func (s *poolSystem) Counts() (counts []fact.RangeCount) {
	records, known := s.leading.term.Records()
	if s.electing || !known || s.leading.dead {
		return nil
	}
	held := map[netip.Prefix]bool{}
	for _, c := range records {
		held[c.CIDR] = c.Op == cilium.OpClaim
	}
	shows := map[netip.Prefix]bool{}
	for _, cidr := range s.shownByAll() {
		shows[cidr] = true
	}
	for _, r := range s.ranges {
		c := fact.RangeCount{Program: s.leading.name, Range: r}
		for cidr, holds := range held { // in any order: it is a count
			if holds && r.Overlaps(cidr) {
				c.Counted++
			}
		}
		for cidr := range shows { // in any order: it is a count
			if r.Overlaps(cidr) {
				c.Shown++
			}
		}
		counts = append(counts, c)
	}
	return counts
}

// shownByAll are the CIDRs that all resources show.
func (s *poolSystem) shownByAll() (list []netip.Prefix) {
	resources, _ := s.env.Cluster.API.List(cluster.KindResource, "")
	for _, o := range resources {
		list = append(list, blocksOf(o.(*cluster.Resource))...)
	}
	return list
}

// FreeBlock looks for a block of the ranges that no resource shows. One that cools is as good as taken, and how long it
// does only the operator knows.
func (s *poolSystem) FreeBlock() bool {
	if len(s.env.Plan.Cilium.Pools) > 0 { // it depends on the pod
		return false
	}
	if s.env.Plan.ReuseDelay > 0 {
		return false
	}
	taken := s.shownByAll()
	return blockranges.OfEachFamily(&s.plan, s.ranges, func(r netip.Prefix, bits int) bool { return blockranges.HasFree(r, bits, taken) })
}

// spec is the pool as the configuration says.
func (s *poolSystem) spec() (p cilium.PoolSpec) {
	for _, r := range s.ranges {
		bits := s.plan.OfFamily(r.Addr()).PodSubnetOneNodePrefixLen
		if r.Addr().Is6() {
			p.IPv6, p.MaskSize6 = append(p.IPv6, r), bits
		} else {
			p.IPv4, p.MaskSize4 = append(p.IPv4, r), bits
		}
	}
	return p
}

// ip6 reports whether pods of a cluster of one family have addresses of IPv6.
func (s *poolSystem) ip6() bool { return s.plan.PodSubnet.Addr().Is6() }
