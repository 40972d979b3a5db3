package cilium

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// PoolOperatorConfig sets a PoolOperator up.
type PoolOperatorConfig struct {
	// ReuseDelay is how long a returned CIDR goes to nobody, >= 0.
	ReuseDelay time.Duration
	// Range says which addresses of a CIDR count.
	Range RangeOptions
}

// PoolOperator gives CIDRs of named pools to nodes that ask for addresses. Restore it as a ClusterPool; the ledger's
// pools are named "pool/family".
type PoolOperator struct {
	cfg    PoolOperatorConfig
	claims claimLedger
	// shown are blocks that a node's resource showed: only such a block can have been given back.
	shown map[netip.Prefix]string
}

// NewPoolOperator returns an operator without pools.
func NewPoolOperator(c PoolOperatorConfig) (*PoolOperator, error) {
	if c.ReuseDelay < 0 {
		return nil, fmt.Errorf("pool operator: reuse delay %s is negative", c.ReuseDelay)
	}
	return &PoolOperator{cfg: c, claims: newClaimLedger(), shown: make(map[netip.Prefix]string)}, nil
}

// Version is the version of the ledger's last entry that this operator knows.
func (o *PoolOperator) Version() uint64 { return o.claims.version }

// Apply takes the ledger's next entry. An entry that contradicts what came before is refused and changes nothing.
func (o *PoolOperator) Apply(c Claim) error {
	name, family, ok := strings.Cut(c.Pool, "/")
	if !ok || name == "" || DeriveFamily(c.CIDR.Addr()) != Family(family) {
		return fmt.Errorf("ledger entry %q: pool is not name/family", c)
	}
	return o.claims.apply(c)
}

// Adopt takes the CIDRs that a node shows, as ClusterPool.Adopt.
func (o *PoolOperator) Adopt(now time.Time, n *CiliumNode) (entries []Claim, err error) {
	for _, a := range n.Spec.IPAM.Pools.Allocated {
		for _, cidr := range a.CIDRs {
			cidr = space.Normal(cidr)
			pool := ledgerPool(a.Pool, DeriveFamily(cidr.Addr()))
			if !poolName(a.Pool) {
				// Such an entry could not be read back from the ledger.
				err = errors.Join(err, fmt.Errorf("node %q shows CIDR %s of pool %q: not a name", n.Metadata.Incarnation(), cidr, a.Pool))
				continue
			}
			more, refused := o.claims.adopt(now, pool, n.Metadata.Incarnation(), cidr)
			entries = append(entries, more...)
			err = errors.Join(err, refused)
			if refused == nil {
				o.shown[cidr] = n.Metadata.Incarnation()
			}
		}
	}
	return entries, err
}

// FinishRestore says that the ledger and every node have been told.
func (o *PoolOperator) FinishRestore() { o.claims.restored = true }

// Reconcile answers a node's resource: it takes back what the node has given back, gives CIDRs until each request fits,
// and returns what the resource should show. Entries have to be appended to the ledger before that is written. A pool
// that is unknown or exhausted is told in the error, and everything else is done all the same.
func (o *PoolOperator) Reconcile(now time.Time, n *CiliumNode) (allocated []PoolAllocation, entries []Claim, err error) {
	node := n.Metadata.Incarnation()
	if !o.claims.restored || !word(node) {
		return nil, nil, fmt.Errorf("pools of node %q: %w", node, ErrNotRestored)
	}
	entries = o.takeBack(now, n)
	// What is about to be shown without having been seen there was claimed by this leader some time ago: it may have
	// been deposed since, and the block be somebody else's.
	for _, pool := range slices.Sorted(maps.Keys(o.claims.byNode[node])) {
		for _, cidr := range o.claims.byNode[node][pool] {
			if o.shown[cidr] != node {
				entries = append(entries, o.claims.entry(now, OpClaim, pool, node, cidr))
			}
		}
	}
	var errs []error
	for _, r := range n.Spec.IPAM.Pools.Requested {
		for _, f := range [...]Family{IPv4, IPv6} {
			more, err := o.fill(now, node, ledgerPool(r.Pool, f), r.Needed.of(f))
			entries = append(entries, more...)
			errs = append(errs, err)
		}
	}
	return o.allocated(node), entries, errors.Join(errs...)
}

// Wrote says that what Reconcile returned for n has been stored, or seen: what n shows now and not later was given
// back. Without it a block that a node gives back before anybody has looked would be shown once more. From then on
// Reconcile must not be given a view from before n: it would look as if the node had given back what n brought.
func (o *PoolOperator) Wrote(n *CiliumNode) { o.observe(n) }

// observe marks the blocks of n that it shows, and returns them all with their pool.
func (o *PoolOperator) observe(n *CiliumNode) map[string]bool {
	node := n.Metadata.Incarnation()
	shows := make(map[string]bool)
	for _, a := range n.Spec.IPAM.Pools.Allocated {
		for _, cidr := range a.CIDRs {
			cidr = space.Normal(cidr)
			pool := ledgerPool(a.Pool, DeriveFamily(cidr.Addr()))
			shows[pool+" "+cidr.String()] = true
			if o.claims.holds(pool, node, cidr) {
				o.shown[cidr] = node
			}
		}
	}
	return shows
}

// takeBack returns blocks that the node showed before and does not show any more.
func (o *PoolOperator) takeBack(now time.Time, n *CiliumNode) (entries []Claim) {
	node := n.Metadata.Incarnation()
	shows := o.observe(n)
	for _, pool := range slices.Sorted(maps.Keys(o.claims.byNode[node])) {
		for _, cidr := range slices.Clone(o.claims.byNode[node][pool]) {
			if shows[pool+" "+cidr.String()] || o.shown[cidr] != node {
				continue
			}
			delete(o.shown, cidr)
			if e, ok := o.claims.giveBack(now, pool, node, cidr); ok {
				entries = append(entries, e)
			}
		}
	}
	return entries
}

// fill gives node blocks of a pool until needed addresses fit.
func (o *PoolOperator) fill(now time.Time, node, pool string, needed int) (entries []Claim, err error) {
	have := uint64(0)
	for _, cidr := range o.claims.byNode[node][pool] {
		_, n := usable(cidr, o.cfg.Range)
		have += n
	}
	for have < uint64(min(max(needed, 0), numberMax)) {
		e, err := o.claims.claim(now, pool, node)
		if err != nil {
			return entries, fmt.Errorf("node %s needs %d addresses and has %d: %w", node, needed, have, err)
		}
		entries = append(entries, e)
		_, n := usable(e.CIDR, o.cfg.Range)
		have += n
	}
	return entries, nil
}

// allocated is what node holds, by pool name, IPv4 first.
func (o *PoolOperator) allocated(node string) (list []PoolAllocation) {
	for _, pool := range slices.Sorted(maps.Keys(o.claims.byNode[node])) {
		name, _, _ := strings.Cut(pool, "/")
		if last := len(list) - 1; last < 0 || list[last].Pool != name {
			list = append(list, PoolAllocation{Pool: name})
		}
		a := &list[len(list)-1]
		a.CIDRs = append(a.CIDRs, o.claims.byNode[node][pool]...)
	}
	return list
}

// Delete returns everything that an incarnation of a node holds. Call it when the resource is gone.
func (o *PoolOperator) Delete(now time.Time, incarnation string) []Claim {
	entries := o.claims.returnAll(now, incarnation)
	for _, e := range entries {
		delete(o.shown, e.CIDR)
	}
	return entries
}

// Records is the shortest ledger that says what this one says, as ClusterPool.Records.
func (o *PoolOperator) Records() []Claim { return o.claims.records() }

// Restate is all that this ledger says, as its next entries, as ClusterPool.Restate.
func (o *PoolOperator) Restate() []Claim { return o.claims.restate() }
