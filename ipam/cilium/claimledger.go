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

// claimLedger is the blocks of several pools as the ledger of claims tells them.
type claimLedger struct {
	pools map[string]*carver
	names []string // of pools, ascending
	// byNode is what each node holds, by pool, in the order of the claims.
	byNode  map[string]map[string][]netip.Prefix
	version uint64
	// restored says that the whole ledger and all nodes have been told.
	restored bool
}

func newClaimLedger() claimLedger {
	return claimLedger{pools: make(map[string]*carver), byNode: make(map[string]map[string][]netip.Prefix)}
}

// pool is the named pool; one that is not configured exists without ranges, so that its blocks are not forgotten.
func (l *claimLedger) pool(name string, bits int, delay time.Duration) *carver {
	c := l.pools[name]
	if c == nil {
		c = newCarver(bits, delay)
		l.pools[name] = c
		at, _ := slices.BinarySearch(l.names, name)
		l.names = slices.Insert(l.names, at, name)
	}
	return c
}

func (l *claimLedger) apply(c Claim) error {
	// A compacted ledger starts later than with version 1.
	if c.Version != l.version+1 && l.version > 0 || c.Version == 0 {
		return fmt.Errorf("ledger entry %q follows version %d", c, l.version)
	}
	if !word(c.Pool) || !word(c.Node) || !c.CIDR.IsValid() || c.CIDR != space.Normal(c.CIDR) {
		return fmt.Errorf("ledger entry %q is not valid", c)
	}
	var err error
	switch c.Op {
	case OpClaim:
		err = l.take(c.Pool, c.Node, c.CIDR)
	case OpReturn:
		switch p := l.pools[c.Pool]; {
		case p == nil || p.holder[c.CIDR] == "":
			// A store that has lost its data has lost the claim, too: nobody holds it, as the entry says.
		case p.giveBack(c.At, c.Node, c.CIDR):
			l.forget(c.Pool, c.Node, c.CIDR)
		default:
			err = errors.New("another node holds that CIDR")
		}
	default:
		err = errors.New("unknown operation")
	}
	if err != nil {
		return fmt.Errorf("ledger entry %q: %w", c, err)
	}
	l.version = c.Version
	return nil
}

// take makes node hold cidr without an entry; it may hold it already.
func (l *claimLedger) take(pool, node string, cidr netip.Prefix) error {
	c := l.pool(pool, cidr.Bits(), 0)
	if c.holder[cidr] == node {
		return nil // a confirmation
	}
	if other, _ := l.elsewhere(pool, cidr); other != "" {
		return fmt.Errorf("CIDR %s of %s overlaps pool %s: %w", cidr, node, other, ErrCIDRTaken)
	}
	if err := c.restore(node, cidr); err != nil {
		return err
	}
	l.remember(pool, node, cidr)
	return nil
}

// elsewhere is the first other pool of which a block that overlaps cidr is held or cooling, and that block; "" for
// none. Ranges may have moved from one pool to another while nodes hold blocks of them.
func (l *claimLedger) elsewhere(pool string, cidr netip.Prefix) (string, netip.Prefix) {
	for _, name := range l.names {
		if name == pool {
			continue
		}
		if block, engaged := l.pools[name].engaged(cidr); engaged {
			return name, block
		}
	}
	return "", netip.Prefix{}
}

func (l *claimLedger) remember(pool, node string, cidr netip.Prefix) {
	held := l.byNode[node]
	if held == nil {
		held = make(map[string][]netip.Prefix)
		l.byNode[node] = held
	}
	held[pool] = append(held[pool], cidr)
}

func (l *claimLedger) forget(pool, node string, cidr netip.Prefix) {
	held := l.byNode[node]
	held[pool] = slices.DeleteFunc(held[pool], func(p netip.Prefix) bool { return p == cidr })
	if len(held[pool]) == 0 {
		delete(held, pool)
	}
	if len(held) == 0 {
		delete(l.byNode, node)
	}
}

func (l *claimLedger) entry(now time.Time, op ClaimOp, pool, node string, cidr netip.Prefix) Claim {
	l.version++
	return Claim{Version: l.version, Op: op, Pool: pool, Node: node, CIDR: cidr, At: time.Unix(0, now.UnixNano()).UTC()}
}

// claim gives node one more block of a pool.
func (l *claimLedger) claim(now time.Time, pool, node string) (Claim, error) {
	if !l.restored {
		return Claim{}, ErrNotRestored
	}
	c := l.pools[pool]
	if c == nil || len(c.ranges) == 0 {
		return Claim{}, fmt.Errorf("pool %s has no ranges: %w", pool, ErrNoCIDR)
	}
	p, err := c.claim(now, node, func(p netip.Prefix) (netip.Prefix, bool) {
		other, block := l.elsewhere(pool, p)
		return block, other != ""
	})
	if err != nil {
		return Claim{}, fmt.Errorf("pool %s: %w", pool, err)
	}
	l.remember(pool, node, p)
	return l.entry(now, OpClaim, pool, node, p), nil
}

// giveBack ends node's hold on cidr; false when it has none.
func (l *claimLedger) giveBack(now time.Time, pool, node string, cidr netip.Prefix) (Claim, bool) {
	c := l.pools[pool]
	if c == nil || !c.giveBack(now, node, cidr) {
		return Claim{}, false
	}
	l.forget(pool, node, cidr)
	return l.entry(now, OpReturn, pool, node, cidr), true
}

// adopt enters a block that a node shows and the ledger does not know.
func (l *claimLedger) adopt(now time.Time, pool, node string, cidr netip.Prefix) (entries []Claim, err error) {
	cidr = space.Normal(cidr)
	if !cidr.IsValid() || !word(node) {
		return nil, fmt.Errorf("node %q shows CIDR %s", node, cidr)
	}
	if l.holds(pool, node, cidr) {
		return nil, nil
	}
	if err := l.take(pool, node, cidr); err != nil {
		return nil, err
	}
	return []Claim{l.entry(now, OpClaim, pool, node, cidr)}, nil
}

func (l *claimLedger) holds(pool, node string, cidr netip.Prefix) bool {
	return slices.Contains(l.byNode[node][pool], cidr)
}

// returnAll ends every hold of a node.
func (l *claimLedger) returnAll(now time.Time, node string) (entries []Claim) {
	for _, pool := range slices.Sorted(maps.Keys(l.byNode[node])) {
		for _, cidr := range slices.Clone(l.byNode[node][pool]) {
			if e, ok := l.giveBack(now, pool, node, cidr); ok {
				entries = append(entries, e)
			}
		}
	}
	return entries
}

// restate is what records says as the ledger's next entries: behind them nothing before them is needed.
func (l *claimLedger) restate() []Claim {
	entries := l.records()
	for i := range entries {
		l.version++
		entries[i].Version = l.version
	}
	return entries
}

// records is the shortest ledger with the same holds, cooling blocks and version.
func (l *claimLedger) records() (entries []Claim) {
	add := func(op ClaimOp, pool, node string, cidr netip.Prefix, at time.Time) {
		entries = append(entries, Claim{Op: op, Pool: pool, Node: node, CIDR: cidr, At: time.Unix(0, at.UnixNano()).UTC()})
	}
	for _, pool := range l.names {
		for _, r := range l.pools[pool].cooling {
			// Nobody has to be named for a block that comes back, but a ledger's line has a node.
			add(OpClaim, pool, "-", r.cidr, r.at)
			add(OpReturn, pool, "-", r.cidr, r.at)
		}
		for _, node := range slices.Sorted(maps.Keys(l.byNode)) {
			for _, cidr := range l.byNode[node][pool] {
				add(OpClaim, pool, node, cidr, time.Unix(0, 0))
			}
		}
	}
	// Each of these entries was written once, and each left out as well: the versions suffice.
	for i := range entries {
		entries[i].Version = l.version - uint64(len(entries)-1-i)
	}
	return entries
}
