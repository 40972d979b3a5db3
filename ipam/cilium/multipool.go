package cilium

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// MultiPoolConfig sets a MultiPool up.
type MultiPoolConfig struct {
	// PreAllocate is how many addresses a pool keeps ready, >= 0; nil means 8 of the default pool.
	PreAllocate map[string]int
	// IPv4 and IPv6 enable the families; one is needed.
	IPv4, IPv6 bool
	// Range says which addresses of a CIDR are given out.
	Range RangeOptions
	// PendingTimeout is how long a request that found no address counts as demand; 0 is 5 min.
	PendingTimeout time.Duration
	// Pick is needed.
	Pick Picker
}

// DefaultPool is the pool of pods that name none.
const DefaultPool = "default"

// MultiPool is the agent's side of pools by name: it hands out addresses of the CIDRs that the node holds and works out
// which more it needs. Until FinishRestore it gives no CIDR back.
type MultiPool struct {
	cfg      MultiPoolConfig
	pools    map[string]*poolPair
	excluded []netip.Prefix
	restored bool
}

// poolPair is one pool's halves; a disabled family's is nil.
type poolPair struct {
	half [2]*CIDRPool
	// pending is until when an owner's request counts.
	pending [2]pending[string]
}

// NewMultiPool returns a node's pools without CIDRs.
func NewMultiPool(c MultiPoolConfig) (*MultiPool, error) {
	switch {
	case c.Pick == nil:
		return nil, errors.New("multi-pool: a Picker is needed")
	case !c.IPv4 && !c.IPv6:
		return nil, errors.New("multi-pool: no family is enabled")
	case c.PendingTimeout < 0:
		return nil, fmt.Errorf("multi-pool: pending timeout %s is negative", c.PendingTimeout)
	}
	if c.PreAllocate == nil {
		c.PreAllocate = map[string]int{DefaultPool: preAllocateDefault}
	}
	c.PreAllocate = maps.Clone(c.PreAllocate)
	m := &MultiPool{cfg: c, pools: make(map[string]*poolPair)}
	for _, name := range slices.Sorted(maps.Keys(c.PreAllocate)) {
		if name == "" || c.PreAllocate[name] < 0 {
			return nil, fmt.Errorf("multi-pool: pre-allocation %d of pool %q", c.PreAllocate[name], name)
		}
		m.pool(name)
	}
	return m, nil
}

func (m *MultiPool) enabled(f Family) bool {
	switch f {
	case IPv4:
		return m.cfg.IPv4
	case IPv6:
		return m.cfg.IPv6
	}
	return false
}

// pool is the named pool, made when it is named first.
func (m *MultiPool) pool(name string) *poolPair {
	p := m.pools[name]
	if p == nil {
		p = new(poolPair)
		for _, f := range families {
			if m.enabled(f) {
				p.half[f.at()] = NewCIDRPool(m.cfg.Range, m.cfg.Pick)
				for _, x := range m.excluded {
					p.half[f.at()].Exclude(x)
				}
			}
		}
		m.pools[name] = p
	}
	return p
}

// AllocateNext allocates an address of a pool; "" is the default pool. When none is free the error is
// a PoolNotReadyError, before FinishRestore ErrNotRestored; either way the request counts as demand until it succeeds
// or times out.
func (m *MultiPool) AllocateNext(now time.Time, pool string, f Family, owner string) (*AllocationResult, error) {
	if pool == "" {
		pool = DefaultPool
	}
	if !m.enabled(f) {
		return nil, fmt.Errorf("%s allocator not available", f)
	}
	p := m.pool(pool)
	p.pending[f.at()].add(now, owner, m.cfg.PendingTimeout)
	if !m.restored {
		return nil, fmt.Errorf("pool %s: %w", pool, ErrNotRestored)
	}
	ip, err := p.half[f.at()].AllocateNext()
	if err != nil {
		return nil, PoolNotReadyError{Pool: pool, Family: f}
	}
	delete(p.pending[f.at()], owner)
	return &AllocationResult{IP: ip, PoolName: pool}, nil
}

// AllocateIP allocates exactly ip of a pool; "" is the default pool.
func (m *MultiPool) AllocateIP(pool string, ip netip.Addr, owner string) (*AllocationResult, error) {
	if pool == "" {
		pool = DefaultPool
	}
	ip = space.NormalAddr(ip)
	f := DeriveFamily(ip)
	switch {
	case f == "":
		return nil, InvalidIPError{Text: ip.String()}
	case !m.enabled(f):
		return nil, f.disabled()
	}
	p := m.pool(pool)
	if err := p.half[f.at()].Allocate(ip); err != nil {
		return nil, fmt.Errorf("pool %s: %w", pool, err)
	}
	delete(p.pending[f.at()], owner)
	return &AllocationResult{IP: ip, PoolName: pool}, nil
}

// ReleaseIP frees ip of a pool and reports whether it was in use; "" is the default pool.
func (m *MultiPool) ReleaseIP(pool string, ip netip.Addr) bool {
	if pool == "" {
		pool = DefaultPool
	}
	f := DeriveFamily(ip)
	p := m.pools[pool]
	return p != nil && m.enabled(f) && p.half[f.at()].Release(space.NormalAddr(ip))
}

// Update takes what the operator shows. CIDRs of a disabled family are passed over. An error tells about pools whose
// CIDRs overlap, which stay as they were; all others are taken.
func (m *MultiPool) Update(allocated []PoolAllocation) error {
	shown := make(map[string][2][]netip.Prefix)
	for _, a := range allocated {
		pair := shown[a.Pool]
		for _, c := range a.CIDRs {
			if f := DeriveFamily(space.Normal(c).Addr()); f != "" {
				pair[f.at()] = append(pair[f.at()], c)
			}
		}
		shown[a.Pool] = pair
		m.pool(a.Pool)
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(m.pools)) {
		for at, half := range m.pools[name].half {
			if half == nil {
				continue
			}
			if err := half.UpdatePool(shown[name][at]); err != nil {
				errs = append(errs, fmt.Errorf("pool %s: %w", name, err))
			}
		}
	}
	return errors.Join(errs...)
}

// FinishRestore says that every address in use before the agent's start has been allocated again, and that the node's
// resource has been written and read back by this agent: a write that its predecessor left on its way, which might give
// a block back, fails then.
func (m *MultiPool) FinishRestore() { m.restored = true }

// Sync gives back CIDRs that are not needed and returns what the node's resource should say now: the demand of each
// pool with any, and the CIDRs that the node keeps, both in the order of names. It counts as told, unless Refused says
// otherwise.
func (m *MultiPool) Sync(now time.Time) (requested []PoolRequest, allocated []PoolAllocation) {
	for _, name := range slices.Sorted(maps.Keys(m.pools)) {
		p := m.pools[name]
		demand := PoolDemand{IPv4Addrs: m.needed(now, name, IPv4), IPv6Addrs: m.needed(now, name, IPv6)}
		a := PoolAllocation{Pool: name}
		for _, f := range [...]Family{IPv4, IPv6} {
			half := p.half[f.at()]
			if half == nil {
				continue
			}
			if m.restored {
				half.ReleaseExcessCIDRs(demand.of(f))
			}
			a.CIDRs = append(a.CIDRs, half.InUseCIDRs()...)
			half.Told()
		}
		if demand != (PoolDemand{}) {
			requested = append(requested, PoolRequest{Pool: name, Needed: demand})
		}
		if len(a.CIDRs) > 0 {
			allocated = append(allocated, a)
		}
	}
	return requested, allocated
}

// Refused says that what Sync returned last was certainly not stored, for one because the resource is newer. Without an
// answer from the store nobody knows, and Refused must not be called.
func (m *MultiPool) Refused() {
	for _, name := range slices.Sorted(maps.Keys(m.pools)) {
		for _, half := range m.pools[name].half {
			if half != nil {
				half.Untold()
			}
		}
	}
}

// Exclude keeps addresses of x from being picked in every pool.
func (m *MultiPool) Exclude(x netip.Prefix) {
	m.excluded = append(m.excluded, space.Normal(x))
	for _, name := range slices.Sorted(maps.Keys(m.pools)) {
		for _, half := range m.pools[name].half {
			if half != nil {
				half.Exclude(x)
			}
		}
	}
}
