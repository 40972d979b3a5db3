package ipam

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// Ledger is who holds which address of one node's blocks: the part of a NodeAllocator that is the same in every address
// system. It decides about owners, blocks and records; its Policy decides about addresses. It is not safe for
// concurrent use.
//
// Blocks are disjoint, save that an active block may overlap draining ones: then an address held in one is taken in the
// other.
type Ledger[T any] struct {
	policy Policy[T]
	cooler Cooler          // nil where nothing cools
	cursor CursorKeeper[T] // nil where a pick starts anywhere
	pools  PoolPicker[T]   // nil where there is one pool
	table  leaseTable
	byID   []*HeldBlock[T] // nil where an ID is free
	freeID int             // no ID below it is free
	held   []*HeldBlock[T] // ascending
	active []*HeldBlock[T] // in SetBlocks order
	sorted []*HeldBlock[T] // the active ones, ascending
	// overlapping says that some held blocks share addresses.
	overlapping bool
	// clock is the latest time seen.
	clock time.Time
	// given and freed count addresses by family, IPv4 first.
	given, freed [2]uint64
}

var _ NodeAllocator = (*Ledger[struct{}])(nil)

// NewLedger returns a ledger without blocks.
func NewLedger[T any](p Policy[T]) Ledger[T] {
	l := Ledger[T]{policy: p, table: newLeaseTable()}
	l.cooler, _ = p.(Cooler)
	l.cursor, _ = p.(CursorKeeper[T])
	return l
}

// Allocate implements Allocator. An owner that holds another address than Want.Addr gets ErrTaken, a cooling Want.Addr
// ErrCooling. Without a PoolPicker there is one pool: Want.Pool is "" or "default", else ErrNotInPool.
func (l *Ledger[T]) Allocate(now time.Time, o Owner, w Want) (Lease, []Record, error) {
	e, b, addr, err := l.assign(now, o, w)
	switch {
	case err != nil:
		return Lease{}, nil, err
	case e != nil:
		have := l.lease(o, e)
		if w.Addr.IsValid() && space.NormalAddr(w.Addr) != have.Addr {
			return Lease{}, nil, fmt.Errorf("%s holds %s and wants %s: %w", o, have.Addr, w.Addr, ErrTaken)
		}
		return have, nil, nil
	}
	have := Lease{Owner: o, Addr: addr, Block: b.Prefix, Gateway: b.Gateway, Since: exact(now)}
	return have, []Record{{Op: OpLease, Owner: o, Addr: addr, Prefix: b.Prefix, At: have.Since}}, nil
}

// Assign is Allocate for whoever keeps no Records: it returns the block that the address was picked from, and whether o
// held it before.
func (l *Ledger[T]) Assign(now time.Time, o Owner) (b *HeldBlock[T], addr netip.Addr, held bool, err error) {
	e, b, addr, err := l.assign(now, o, Want{})
	if e != nil {
		b = l.byID[e.block]
		return b, b.addr(e.index), true, nil
	}
	return b, addr, false, err
}

// assign gives o an address, or returns the lease that it has.
func (l *Ledger[T]) assign(now time.Time, o Owner, w Want) (held *leaseEntry, b *HeldBlock[T], addr netip.Addr, err error) {
	l.saw(now)
	k, e := l.table.find(o)
	if e != nil {
		return e, nil, netip.Addr{}, nil
	}
	if !o.Valid() {
		return nil, nil, netip.Addr{}, fmt.Errorf("owner %q is not valid", o)
	}
	if b, addr, err = l.pick(now, w); err != nil {
		return nil, nil, netip.Addr{}, err
	}
	l.give(k, b, addr, now.UnixNano())
	return nil, b, addr, nil
}

// defaultPool is whose address an owner gets that names no pool.
const defaultPool = "default"

// pick takes an address out of a block.
func (l *Ledger[T]) pick(now time.Time, w Want) (b *HeldBlock[T], addr netip.Addr, err error) {
	switch {
	case l.pools == nil && w.Pool != "" && w.Pool != defaultPool:
		return nil, netip.Addr{}, fmt.Errorf("pool %q: %w", w.Pool, ErrNotInPool)
	case len(l.active) == 0:
		return nil, netip.Addr{}, ErrNoBlock
	case w.Addr.IsValid():
		addr = space.NormalAddr(w.Addr)
		if b = l.ActiveAt(addr); b == nil {
			return nil, netip.Addr{}, fmt.Errorf("address %s in %s: %w", addr, l.describe(), ErrNotInPool)
		}
		if err = l.policy.Take(now, b, addr); err != nil {
			return nil, netip.Addr{}, fmt.Errorf("address %s in %s: %w", addr, b.Prefix, err)
		}
		return b, addr, nil
	}
	if l.pools != nil {
		if b, addr, err = l.pools.PickOf(now, cmp.Or(w.Pool, defaultPool)); err != nil {
			err = fmt.Errorf("pool %s: %w", cmp.Or(w.Pool, defaultPool), err)
		}
		return b, addr, err
	}
	if b, addr, err = l.policy.Pick(now); errors.Is(err, ErrExhausted) {
		total, _ := l.Capacity(now)
		what := l.describe()
		if len(l.active) == 1 {
			what = "pool " + what
		}
		err = fmt.Errorf("%s with %d addresses: %w", what, total, err)
	}
	return b, addr, err
}

// give enters that k's owner holds addr, which the policy has taken from b.
func (l *Ledger[T]) give(k leaseKey, b *HeldBlock[T], addr netip.Addr, since int64) {
	index, ok := space.Index(b.Prefix, addr)
	if !ok {
		panic(fmt.Sprintf("ipam: block %s gave out %s", b.Prefix, addr))
	}
	l.table.add(k, leaseEntry{since: since, index: index, block: b.id})
	b.leases++
	l.given[familyOf(addr)]++
	l.policy.Given(b, addr)
}

// familyOf is the place of an address's family in a pair, IPv4 first.
func familyOf(a netip.Addr) int {
	if a.Is4() {
		return 0
	}
	return 1
}

// Moves is how often a family's addresses were given and freed since the ledger was made, replayed records among them: what was given and
// not freed is held.
func (l *Ledger[T]) Moves(ip6 bool) (given, freed uint64) {
	i := 0
	if ip6 {
		i = 1
	}
	return l.given[i], l.freed[i]
}

// Release implements Allocator. Besides the release it may record that a draining block is gone.
func (l *Ledger[T]) Release(now time.Time, o Owner) []Record {
	b, addr := l.Unassign(now, o)
	if b == nil {
		return nil
	}
	at := exact(now)
	if l.byID[b.id] == b {
		return []Record{{Op: OpRelease, Owner: o, Addr: addr, Prefix: b.Prefix, At: at}}
	}
	return []Record{{Op: OpRelease, Owner: o, Addr: addr, Prefix: b.Prefix, At: at}, {Op: OpDrop, Prefix: b.Prefix, At: at}}
}

// Unassign is Release for whoever keeps no Records: it returns the address that o held and the block that it was picked
// from, which is gone with it when it was draining and empty. The block is nil when o held nothing.
func (l *Ledger[T]) Unassign(now time.Time, o Owner) (b *HeldBlock[T], addr netip.Addr) {
	l.saw(now)
	k, e := l.table.find(o)
	if e == nil {
		return nil, netip.Addr{}
	}
	b = l.byID[e.block]
	addr = b.addr(e.index)
	l.takeBack(exact(now), k, b, addr)
	if b.draining && b.leases == 0 {
		l.drop(b)
	}
	return b, addr
}

// takeBack ends a lease without a look at its block's end.
func (l *Ledger[T]) takeBack(at time.Time, k leaseKey, b *HeldBlock[T], addr netip.Addr) {
	l.table.remove(k)
	b.leases--
	l.freed[familyOf(addr)]++
	l.policy.Freed(at, b, addr)
}

// Leases implements Allocator. It works on a copy: the caller may change the ledger meanwhile.
func (l *Ledger[T]) Leases() iter.Seq[Lease] { return slices.Values(l.sortedLeases()) }

func (l *Ledger[T]) sortedLeases() []Lease {
	leases := make([]Lease, 0, l.table.count)
	l.table.each(func(e *leaseEntry) { leases = append(leases, l.lease(l.table.owner(e), e)) })
	slices.SortFunc(leases, func(x, y Lease) int { return x.Addr.Compare(y.Addr) })
	return leases
}

// Lease implements NodeAllocator.
func (l *Ledger[T]) Lease(o Owner) (Lease, bool) {
	_, e := l.table.find(o)
	if e == nil {
		return Lease{}, false
	}
	return l.lease(o, e), true
}

// Holding is the block that o's address was picked from, and the address: what Lease tells, for whoever needs no more.
// The block is nil when o holds nothing.
func (l *Ledger[T]) Holding(o Owner) (*HeldBlock[T], netip.Addr) {
	_, e := l.table.find(o)
	if e == nil {
		return nil, netip.Addr{}
	}
	b := l.byID[e.block]
	return b, b.addr(e.index)
}

// lease is what e says of its owner.
func (l *Ledger[T]) lease(o Owner, e *leaseEntry) Lease {
	b := l.byID[e.block]
	return Lease{Owner: o, Addr: b.addr(e.index), Block: b.Prefix, Gateway: b.Gateway, Since: time.Unix(0, e.since).UTC()}
}

func (b *HeldBlock[T]) addr(index uint64) netip.Addr {
	a, err := space.Nth(b.Prefix, index)
	if err != nil {
		panic(fmt.Sprintf("ipam: lease of index %d in block %s: %v", index, b.Prefix, err))
	}
	return a
}

// Len is how many leases there are.
func (l *Ledger[T]) Len() int { return l.table.count }

// Capacity implements NodeAllocator; both figures stop at the largest int.
func (l *Ledger[T]) Capacity(now time.Time) (total, free int) {
	l.saw(now)
	for _, b := range l.active {
		t, f := l.policy.Size(now, b)
		total, free = addSaturating(total, t), addSaturating(free, f)
	}
	return total, free
}

func addSaturating(a int, b uint64) int {
	if b > uint64(math.MaxInt-a) {
		return math.MaxInt
	}
	return a + int(b)
}

// FreeAt implements NodeAllocator; only active blocks count.
func (l *Ledger[T]) FreeAt(now time.Time) time.Time {
	l.saw(now)
	if l.cooler == nil {
		return time.Time{}
	}
	return l.cooler.FreeAt(now)
}

// Clock is the latest time that the ledger was told.
func (l *Ledger[T]) Clock() time.Time { return l.clock }

func (l *Ledger[T]) saw(now time.Time) {
	if now.After(l.clock) {
		l.clock = now
	}
}

// exact is t as a Record keeps it.
func exact(t time.Time) time.Time { return time.Unix(0, t.UnixNano()).UTC() }
