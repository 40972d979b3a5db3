package nodeipam

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam/internal/cidrset"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// rangeSet is the ranges and who claims what of them. Ranges may overlap: a claim counts in every range that it
// touches.
type rangeSet struct {
	pools []*pool
	// reserved are service ranges: claimed everywhere and never returned.
	reserved []netip.Prefix
}

// pool is a ClusterCIDR at work, or the ranges of the command line.
type pool struct {
	ClusterCIDR
	// fallback ranges come last and take every node.
	fallback bool
	// closed ranges give no more blocks and vanish with the last claim.
	closed bool
	// sets are one per family, in the order in which a node's CIDRs are written.
	sets []*cidrset.Ledger
	// claims counts nodes' CIDRs that touch the pool.
	claims int
}

// addFallback adds the ranges of the command line.
func (b *rangeSet) addFallback(params CIDRAllocatorParams) error {
	p := &pool{fallback: true}
	if len(params.ClusterCIDRs) != len(params.NodeCIDRMaskSizes) {
		return fmt.Errorf("%d cluster CIDRs and %d node mask sizes", len(params.ClusterCIDRs), len(params.NodeCIDRMaskSizes))
	}
	for i, c := range params.ClusterCIDRs {
		if err := p.addSet(c, params.NodeCIDRMaskSizes[i], params.AnyWidth); err != nil {
			return err
		}
	}
	b.add(p)
	return nil
}

// addClusterCIDR adds a range with a selector.
func (b *rangeSet) addClusterCIDR(c ClusterCIDR, anyWidth bool) (*pool, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if b.pool(c.Name) != nil {
		return nil, fmt.Errorf("ClusterCIDR %s exists", c.Name)
	}
	p := &pool{ClusterCIDR: c}
	for _, prefix := range [...]netip.Prefix{c.IPv4, c.IPv6} {
		if prefix.IsValid() {
			if err := p.addSet(prefix, c.mask(prefix), anyWidth); err != nil {
				return nil, fmt.Errorf("invalid ClusterCIDR %s: %w", c.Name, err)
			}
		}
	}
	b.add(p)
	return p, nil
}

func (p *pool) addSet(cluster netip.Prefix, mask int, anyWidth bool) error {
	var opts []cidrset.Option
	if anyWidth {
		opts = append(opts, cidrset.WithAnyWidth())
	}
	set, err := cidrset.NewLedger(cluster, mask, opts...)
	if err != nil {
		return err
	}
	for _, other := range p.sets {
		if sameFamily(other.ClusterCIDR(), set.ClusterCIDR()) {
			return fmt.Errorf("cluster CIDRs %s and %s are of one family", other.ClusterCIDR(), set.ClusterCIDR())
		}
	}
	p.sets = append(p.sets, set)
	return nil
}

func sameFamily(a, b netip.Prefix) bool { return a.Addr().BitLen() == b.Addr().BitLen() }

func (b *rangeSet) add(p *pool) {
	b.pools = append(b.pools, p)
	for _, reserved := range b.reserved {
		p.claim(reserved)
	}
}

// reserve takes a service range out of every range; the zero Prefix is none.
func (b *rangeSet) reserve(service netip.Prefix) {
	service = space.Normal(service)
	if !service.IsValid() {
		return
	}
	b.reserved = append(b.reserved, service)
	for _, p := range b.pools {
		p.claim(service)
	}
}

func (b *rangeSet) pool(name string) *pool {
	for _, p := range b.pools {
		if !p.fallback && p.Name == name {
			return p
		}
	}
	return nil
}

// claim reports whether cidr touches the pool.
func (p *pool) claim(cidr netip.Prefix) (inside bool) {
	for _, set := range p.sets {
		inside = set.Claim(cidr) == nil || inside
	}
	return inside
}

// claim notes that a node holds cidr.
func (b *rangeSet) claim(cidr netip.Prefix) {
	for _, p := range b.pools {
		if p.claim(cidr) {
			p.claims++
		}
	}
}

// standing reports whether cidr, which is claimed, touches a range, and whether another claim overlaps it.
func (b *rangeSet) standing(cidr netip.Prefix) (inside, shared bool) {
	for _, p := range b.pools {
		for _, set := range p.sets {
			n := set.Claims(cidr)
			inside, shared = inside || n > 0, shared || n > 1
		}
	}
	return inside, shared
}

// giveBack ends one claim. A closed pool without claims is dropped.
func (b *rangeSet) giveBack(cidr netip.Prefix) {
	for _, p := range b.pools {
		for _, set := range p.sets {
			if set.ClusterCIDR().Overlaps(cidr) {
				p.claims--
				if _, err := set.Return(cidr); err != nil {
					panic("nodeipam: " + err.Error()) // every claim was made in every pool that it touches
				}
			}
		}
	}
	b.dropClosed()
}

func (b *rangeSet) dropClosed() {
	b.pools = slices.DeleteFunc(b.pools, func(p *pool) bool { return p.closed && p.claims == 0 })
}

// errNoMatch says that no range is meant for a node.
var errNoMatch = errors.New("no cidrSets with matching labels found")

// pick claims a block of each family for a node with these labels, all of one range or nothing. The error names the
// ranges that are full and how many blocks each of them has.
func (b *rangeSet) pick(labels map[string]string) ([]netip.Prefix, error) {
	candidates := b.candidates(labels)
	if len(candidates) == 0 {
		return nil, errNoMatch
	}
	var full []error
	for _, p := range candidates {
		if set := p.lacking(); set != nil {
			full = append(full, set.Full())
			continue
		}
		return b.take(p), nil
	}
	if len(full) == 1 {
		return nil, full[0]
	}
	return nil, errors.Join(full...)
}

// lacking is a set of the pool that has no free block, nil when each has one.
func (p *pool) lacking() *cidrset.Ledger {
	for _, set := range p.sets {
		if set.Free() == 0 {
			return set
		}
	}
	return nil
}

func (b *rangeSet) take(p *pool) []netip.Prefix {
	cidrs := make([]netip.Prefix, len(p.sets))
	for i, set := range p.sets {
		cidr, err := set.AllocateNext()
		if err != nil {
			panic("nodeipam: a set with a free block is full: " + err.Error())
		}
		cidrs[i] = cidr
		p.claims++
		for _, other := range b.pools {
			if other != p && other.claim(cidr) {
				other.claims++
			}
		}
	}
	return cidrs
}

// candidates are the open pools for a node in choice order, fallbacks last.
func (b *rangeSet) candidates(labels map[string]string) []*pool {
	if len(b.pools) == 1 && b.pools[0].fallback {
		return b.pools
	}
	type rated struct {
		Candidate
		pool *pool
	}
	var list []rated
	var last []*pool
	for _, p := range b.pools {
		switch count, ok := p.Selector.Matches(labels); {
		case p.fallback:
			last = append(last, p)
		case ok && !p.closed:
			list = append(list, rated{Candidate{p.ClusterCIDR, count}, p})
		}
	}
	slices.SortFunc(list, func(x, y rated) int { return x.Compare(y.Candidate) })
	pools := make([]*pool, 0, len(list)+len(last))
	for _, r := range list {
		pools = append(pools, r.pool)
	}
	return append(pools, last...)
}

// hasFree reports whether some open pool has a free block of each family.
func (b *rangeSet) hasFree() bool {
	return slices.ContainsFunc(b.pools, func(p *pool) bool { return !p.closed && p.lacking() == nil })
}
