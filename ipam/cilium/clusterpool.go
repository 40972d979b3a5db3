package cilium

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// Ranges of a ClusterPool without configuration (cilium-operator's defaults, 1.10).
const (
	DefaultClusterPoolIPv4CIDR     = "10.0.0.0/8"
	DefaultClusterPoolIPv4MaskSize = 24
	DefaultClusterPoolIPv6CIDR     = "fd00::/104"
	DefaultClusterPoolIPv6MaskSize = 120
)

// ClusterPoolConfig sets a ClusterPool up.
type ClusterPoolConfig struct {
	// IPv4 and IPv6 are the ranges of each family; a family without ranges is disabled, and one is needed.
	IPv4, IPv6 []netip.Prefix
	// MaskSize4 and MaskSize6 are the lengths of a node's CIDRs; 0 means 24 and 120.
	MaskSize4, MaskSize6 int
	// ReuseDelay is how long a returned CIDR goes to nobody, >= 0.
	ReuseDelay time.Duration
}

// ClusterPool carves one pod CIDR of each family per node out of the cluster's ranges.
//
// Restore it before use: Apply the ledger, Adopt what nodes show, FinishRestore; Assign refuses before that. Append
// what Assign and Unassign return to the ledger (Claim) before anything else learns about it. Nodes are named by
// incarnation (ObjectMeta.Incarnation), and a CIDR is written only to the incarnation that it was assigned to.
type ClusterPool struct {
	cfg    ClusterPoolConfig
	claims claimLedger
}

// NewClusterPool returns a pool in which nobody holds anything yet.
func NewClusterPool(c ClusterPoolConfig) (*ClusterPool, error) {
	if c.MaskSize4 == 0 {
		c.MaskSize4 = DefaultClusterPoolIPv4MaskSize
	}
	if c.MaskSize6 == 0 {
		c.MaskSize6 = DefaultClusterPoolIPv6MaskSize
	}
	switch {
	case len(c.IPv4)+len(c.IPv6) == 0:
		return nil, errors.New("cluster pool: no ranges")
	case c.ReuseDelay < 0:
		return nil, fmt.Errorf("cluster pool: reuse delay %s is negative", c.ReuseDelay)
	}
	p := &ClusterPool{cfg: c, claims: newClaimLedger()}
	for _, r := range slices.Concat(c.IPv4, c.IPv6) {
		if err := p.Extend(r); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Extend adds a range to its family; blocks in it that nodes hold already stay theirs.
func (p *ClusterPool) Extend(r netip.Prefix) error {
	f := DeriveFamily(space.Normal(r).Addr())
	if f == "" {
		return errors.New("cluster pool: range is not valid")
	}
	bits := p.cfg.MaskSize4
	if f == IPv6 {
		bits = p.cfg.MaskSize6
	}
	c := p.claims.pool(string(f), bits, p.cfg.ReuseDelay)
	// A pool that the ledger made before its first range had no configuration to follow.
	c.bits, c.delay = bits, p.cfg.ReuseDelay
	if err := c.extend(r); err != nil {
		return fmt.Errorf("cluster pool %s: %w", f, err)
	}
	return nil
}

// Version is the version of the ledger's last entry that this pool knows.
func (p *ClusterPool) Version() uint64 { return p.claims.version }

// Apply takes the ledger's next entry. An entry that contradicts what came before is refused and changes nothing.
func (p *ClusterPool) Apply(c Claim) error {
	if f := Family(c.Pool); f != IPv4 && f != IPv6 || DeriveFamily(c.CIDR.Addr()) != f {
		return fmt.Errorf("ledger entry %q: pool is not the CIDR's family", c)
	}
	return p.claims.apply(c)
}

// Adopt takes the CIDRs that a node shows. What the ledger does not know is entered, in the ranges or not, and has to
// be appended. A CIDR that another node holds or overlaps stays the other's; the error wraps ErrCIDRTaken and tells,
// and the node's other CIDRs are adopted all the same.
func (p *ClusterPool) Adopt(now time.Time, node string, cidrs []netip.Prefix) (entries []Claim, err error) {
	for _, cidr := range cidrs {
		more, refused := p.claims.adopt(now, string(DeriveFamily(space.Normal(cidr).Addr())), node, cidr)
		entries = append(entries, more...)
		err = errors.Join(err, refused)
	}
	return entries, err
}

// FinishRestore says that the ledger and every node have been told.
func (p *ClusterPool) FinishRestore() { p.claims.restored = true }

// Assign gives node a CIDR of each enabled family that it has none of, all or nothing, and returns all that it holds,
// IPv4 first. A node that has what it needs gets it again without entries. Errors wrap ErrNotRestored or ErrNoCIDR.
func (p *ClusterPool) Assign(now time.Time, node string) ([]netip.Prefix, []Claim, error) {
	if !p.claims.restored {
		return nil, nil, fmt.Errorf("CIDR for node %s: %w", node, ErrNotRestored)
	}
	if !word(node) {
		return nil, nil, fmt.Errorf("node %q: not a name", node)
	}
	var missing []string
	for _, f := range [...]Family{IPv4, IPv6} {
		c := p.claims.pools[string(f)]
		if c == nil || len(c.ranges) == 0 || len(p.claims.byNode[node][string(f)]) > 0 {
			continue
		}
		if !c.hasFree(now) {
			return nil, nil, fmt.Errorf("CIDR for node %s: pool %s with %d blocks: %w", node, f, c.capacity(), ErrNoCIDR)
		}
		missing = append(missing, string(f))
	}
	var entries []Claim
	for _, pool := range missing {
		e, err := p.claims.claim(now, pool, node)
		if err != nil {
			panic(fmt.Sprintf("cilium: pool %s had a free block: %v", pool, err))
		}
		entries = append(entries, e)
	}
	return p.Held(node), entries, nil
}

// Held is the CIDRs of a node, IPv4 first, each family in the order of claims.
func (p *ClusterPool) Held(node string) []netip.Prefix {
	held := p.claims.byNode[node]
	return slices.Concat(held[string(IPv4)], held[string(IPv6)])
}

// Unassign returns everything that a node holds; a node without CIDRs is no error. Call it when the node's resource is
// gone, not when it is only about to go.
func (p *ClusterPool) Unassign(now time.Time, node string) []Claim {
	return p.claims.returnAll(now, node)
}

// FreeAt is when the next returned CIDR can be assigned again, the zero time when none waits at now.
func (p *ClusterPool) FreeAt(now time.Time) time.Time {
	var first time.Time
	for _, f := range families {
		if c := p.claims.pools[string(f)]; c != nil {
			if at := c.freeAt(now); !at.IsZero() && (first.IsZero() || at.Before(first)) {
				first = at
			}
		}
	}
	return first
}

// Records is the shortest ledger that says what this one says, up to the same version, for compaction. An empty one is
// complete only together with that version.
func (p *ClusterPool) Records() []Claim { return p.claims.records() }

// Restate is all that this ledger says, as its next entries, which have to be appended: a ledger that begins with the
// first of them is whole. None where nothing is held.
func (p *ClusterPool) Restate() []Claim { return p.claims.restate() }

// hasFree reports whether a claim at now would succeed.
func (c *carver) hasFree(now time.Time) bool {
	c.expire(now)
	return slices.ContainsFunc(c.ranges, func(s *space.Subnets) bool { return s.Taken() < s.Capacity() })
}
