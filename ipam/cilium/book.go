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

// book is the blocks of several pools with their ledger.
type book struct {
	pools map[string]*carver
	names []string // of pools, ascending
	// byNode is what each node holds, by pool, in the order of the claims.
	byNode  map[string]map[string][]netip.Prefix
	version uint64
	// restored says that the whole ledger and all nodes have been told.
	restored bool
}

func newBook() book {
	return book{pools: make(map[string]*carver), byNode: make(map[string]map[string][]netip.Prefix)}
}

// pool is the named pool; one that is not configured exists without ranges, so that its blocks are not forgotten.
func (b *book) pool(name string, bits int, delay time.Duration) *carver {
	c := b.pools[name]
	if c == nil {
		c = newCarver(bits, delay)
		b.pools[name] = c
		at, _ := slices.BinarySearch(b.names, name)
		b.names = slices.Insert(b.names, at, name)
	}
	return c
}

func (b *book) apply(c Claim) error {
	// A compacted ledger starts later than with version 1.
	if c.Version != b.version+1 && b.version > 0 || c.Version == 0 {
		return fmt.Errorf("ledger entry %q follows version %d", c, b.version)
	}
	if !word(c.Pool) || !word(c.Node) || !c.CIDR.IsValid() || c.CIDR != space.Normal(c.CIDR) {
		return fmt.Errorf("ledger entry %q is not valid", c)
	}
	var err error
	switch c.Op {
	case OpClaim:
		err = b.take(c.Pool, c.Node, c.CIDR)
	case OpReturn:
		if p := b.pools[c.Pool]; p == nil || !p.giveBack(c.At, c.Node, c.CIDR) {
			err = errors.New("the node does not hold that CIDR")
		} else {
			b.forget(c.Pool, c.Node, c.CIDR)
		}
	default:
		err = errors.New("unknown operation")
	}
	if err != nil {
		return fmt.Errorf("ledger entry %q: %w", c, err)
	}
	b.version = c.Version
	return nil
}

// take makes node hold cidr without an entry; it may hold it already.
func (b *book) take(pool, node string, cidr netip.Prefix) error {
	c := b.pool(pool, cidr.Bits(), 0)
	if c.holder[cidr] == node {
		return nil // a confirmation
	}
	if other, _ := b.elsewhere(pool, cidr); other != "" {
		return fmt.Errorf("CIDR %s of %s overlaps pool %s: %w", cidr, node, other, ErrCIDRTaken)
	}
	if err := c.restore(node, cidr); err != nil {
		return err
	}
	b.remember(pool, node, cidr)
	return nil
}

// elsewhere is the first other pool of which a block that overlaps cidr is held or cooling, and that block; "" for none.
// Ranges may have moved from one pool to another while nodes hold blocks of them.
func (b *book) elsewhere(pool string, cidr netip.Prefix) (string, netip.Prefix) {
	for _, name := range b.names {
		if name == pool {
			continue
		}
		if block, engaged := b.pools[name].engaged(cidr); engaged {
			return name, block
		}
	}
	return "", netip.Prefix{}
}

func (b *book) remember(pool, node string, cidr netip.Prefix) {
	held := b.byNode[node]
	if held == nil {
		held = make(map[string][]netip.Prefix)
		b.byNode[node] = held
	}
	held[pool] = append(held[pool], cidr)
}

func (b *book) forget(pool, node string, cidr netip.Prefix) {
	held := b.byNode[node]
	held[pool] = slices.DeleteFunc(held[pool], func(p netip.Prefix) bool { return p == cidr })
	if len(held[pool]) == 0 {
		delete(held, pool)
	}
	if len(held) == 0 {
		delete(b.byNode, node)
	}
}

func (b *book) entry(now time.Time, op ClaimOp, pool, node string, cidr netip.Prefix) Claim {
	b.version++
	return Claim{Version: b.version, Op: op, Pool: pool, Node: node, CIDR: cidr, At: time.Unix(0, now.UnixNano()).UTC()}
}

// claim gives node one more block of a pool.
func (b *book) claim(now time.Time, pool, node string) (Claim, error) {
	if !b.restored {
		return Claim{}, ErrNotRestored
	}
	c := b.pools[pool]
	if c == nil || len(c.ranges) == 0 {
		return Claim{}, fmt.Errorf("pool %s has no ranges: %w", pool, ErrNoCIDR)
	}
	p, err := c.claim(now, node, func(p netip.Prefix) (netip.Prefix, bool) {
		other, block := b.elsewhere(pool, p)
		return block, other != ""
	})
	if err != nil {
		return Claim{}, fmt.Errorf("pool %s: %w", pool, err)
	}
	b.remember(pool, node, p)
	return b.entry(now, OpClaim, pool, node, p), nil
}

// giveBack ends node's hold on cidr; false when it has none.
func (b *book) giveBack(now time.Time, pool, node string, cidr netip.Prefix) (Claim, bool) {
	c := b.pools[pool]
	if c == nil || !c.giveBack(now, node, cidr) {
		return Claim{}, false
	}
	b.forget(pool, node, cidr)
	return b.entry(now, OpReturn, pool, node, cidr), true
}

// adopt enters a block that a node shows and the ledger does not know.
func (b *book) adopt(now time.Time, pool, node string, cidr netip.Prefix) (entries []Claim, err error) {
	cidr = space.Normal(cidr)
	if !cidr.IsValid() || !word(node) {
		return nil, fmt.Errorf("node %q shows CIDR %s", node, cidr)
	}
	if b.holds(pool, node, cidr) {
		return nil, nil
	}
	if err := b.take(pool, node, cidr); err != nil {
		return nil, err
	}
	return []Claim{b.entry(now, OpClaim, pool, node, cidr)}, nil
}

func (b *book) holds(pool, node string, cidr netip.Prefix) bool {
	return slices.Contains(b.byNode[node][pool], cidr)
}

// returnAll ends every hold of a node.
func (b *book) returnAll(now time.Time, node string) (entries []Claim) {
	for _, pool := range slices.Sorted(maps.Keys(b.byNode[node])) {
		for _, cidr := range slices.Clone(b.byNode[node][pool]) {
			if e, ok := b.giveBack(now, pool, node, cidr); ok {
				entries = append(entries, e)
			}
		}
	}
	return entries
}

// records is the shortest ledger with the same holds, cooling blocks and version.
func (b *book) records() (entries []Claim) {
	add := func(op ClaimOp, pool, node string, cidr netip.Prefix, at time.Time) {
		entries = append(entries, Claim{Op: op, Pool: pool, Node: node, CIDR: cidr, At: time.Unix(0, at.UnixNano()).UTC()})
	}
	for _, pool := range b.names {
		for _, r := range b.pools[pool].cooling {
			// Nobody has to be named for a block that comes back, but a ledger's line has a node.
			add(OpClaim, pool, "-", r.cidr, r.at)
			add(OpReturn, pool, "-", r.cidr, r.at)
		}
		for _, node := range slices.Sorted(maps.Keys(b.byNode)) {
			for _, cidr := range b.byNode[node][pool] {
				add(OpClaim, pool, node, cidr, time.Unix(0, 0))
			}
		}
	}
	// Each of these entries was written once, and each left out as well: the versions suffice.
	for i := range entries {
		entries[i].Version = b.version - uint64(len(entries)-1-i)
	}
	return entries
}
