package contiv

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// Config sets an Allocator up. The zero Config is valid: the allocator picks, and only its cursor delays reuse.
type Config struct {
	// External: another IPAM plugin picks; Allocate takes only Want.Addr.
	External bool
	// ReuseDelay is how long a released address is not given out again, >= 0: released at t, it is free at t+ReuseDelay.
	// With External it does not apply, because the other plugin owns that policy.
	ReuseDelay time.Duration
}

// Allocator gives out the pod addresses of one node, whose blocks the caller sets. It is not safe for concurrent use.
//
// In each block it goes on behind the address given last and wraps at the end; blocks are tried in SetBlocks order. Of
// each block it reserves the network address, the gateway (index 1), the NAT loopback (last but one) and the broadcast
// address. Blocks may overlap only with draining ones: then an address held in one is taken in the other.
type Allocator struct {
	cfg    Config
	owners owners
	byID   []*block // nil where an ID is vacant
	active []*block // in SetBlocks order
	// overlapping says that some held blocks share addresses.
	overlapping bool
	// embers are addresses of dropped blocks that still cool, by release time.
	embers []ember
	// clock is the latest time seen; Records leaves out what had cooled by then.
	clock time.Time
}

var _ ipam.NodeAllocator = (*Allocator)(nil)

// New returns an allocator without blocks.
func New(cfg Config) (*Allocator, error) {
	if cfg.ReuseDelay < 0 {
		return nil, fmt.Errorf("reuse delay %s is negative", cfg.ReuseDelay)
	}
	if cfg.External {
		cfg.ReuseDelay = 0
	}
	return &Allocator{cfg: cfg, owners: newOwners()}, nil
}

// Allocate implements ipam.Allocator. An owner that holds another address than Want.Addr gets ErrTaken, a cooling
// Want.Addr ErrExhausted. Contiv has one pool: Want.Pool is "" or "default", else ErrNotInPool.
func (a *Allocator) Allocate(now time.Time, o ipam.Owner, w ipam.Want) (ipam.Lease, []ipam.Record, error) {
	a.saw(now)
	k, h := a.owners.find(o)
	if h != nil {
		l := a.byID[h.block].lease(o, h)
		if w.Addr.IsValid() && space.NormalAddr(w.Addr) != l.Addr {
			return ipam.Lease{}, nil, fmt.Errorf("%s holds %s and wants %s: %w", o, l.Addr, w.Addr, ipam.ErrTaken)
		}
		return l, nil, nil
	}
	if !o.Valid() {
		return ipam.Lease{}, nil, fmt.Errorf("owner %q is not valid", o)
	}
	b, addr, err := a.pick(now, w)
	if err != nil {
		return ipam.Lease{}, nil, err
	}
	l := a.give(b, addr, k, now.UnixNano())
	return l, []ipam.Record{{Op: ipam.OpLease, Owner: o, Addr: l.Addr, Prefix: b.prefix, At: l.Since}}, nil
}

// pick takes an address out of a pool.
func (a *Allocator) pick(now time.Time, w ipam.Want) (*block, netip.Addr, error) {
	switch {
	case w.Pool != "" && w.Pool != "default":
		return nil, netip.Addr{}, fmt.Errorf("pool %q: %w", w.Pool, ipam.ErrNotInPool)
	case len(a.active) == 0:
		return nil, netip.Addr{}, ipam.ErrNoBlock
	case w.Addr.IsValid():
		return a.pickExactly(now, space.NormalAddr(w.Addr))
	case a.cfg.External:
		return nil, netip.Addr{}, fmt.Errorf("external IPAM named no address: %w", ipam.ErrNotInPool)
	}
	for _, b := range a.active {
		if addr, ok := b.pool.Allocate(now); ok {
			return b, addr, nil
		}
	}
	total, _ := a.Capacity(now)
	return nil, netip.Addr{}, fmt.Errorf("pool %s with %d addresses: %w", a.describe(), total, ipam.ErrExhausted)
}

func (a *Allocator) pickExactly(now time.Time, addr netip.Addr) (*block, netip.Addr, error) {
	for _, b := range a.active {
		if !b.prefix.Contains(addr) {
			continue
		}
		err := b.pool.Take(now, addr)
		switch {
		case err == nil:
			return b, addr, nil
		case errors.Is(err, space.ErrHeld):
			err = ipam.ErrTaken
		case errors.Is(err, space.ErrCooling):
			total, _ := a.Capacity(now)
			return nil, netip.Addr{}, fmt.Errorf("address %s cools in pool %s with %d addresses: %w", addr, b.prefix, total, ipam.ErrExhausted)
		default:
			err = ipam.ErrNotInPool
		}
		return nil, netip.Addr{}, fmt.Errorf("address %s in %s: %w", addr, b.prefix, err)
	}
	return nil, netip.Addr{}, fmt.Errorf("address %s in %s: %w", addr, a.describe(), ipam.ErrNotInPool)
}

// give notes that k's owner holds addr since then, which b's pool has already taken.
func (a *Allocator) give(b *block, addr netip.Addr, k key, since int64) ipam.Lease {
	a.note(b, addr, k, since)
	return ipam.Lease{Owner: k.owner, Addr: addr, Block: b.prefix, Gateway: b.gateway, Since: time.Unix(0, since).UTC()}
}

func (a *Allocator) note(b *block, addr netip.Addr, k key, since int64) {
	index, ok := space.Index(b.prefix, addr)
	if !ok {
		panic(fmt.Sprintf("contiv: block %s gave out %s", b.prefix, addr))
	}
	b.leases++
	a.owners.add(k, held{since: since, index: index, block: b.id})
	if a.overlapping {
		for other := range a.others(b, addr) {
			// An error can only mean that the address is reserved there, and so not given out either.
			_ = other.pool.Restore(addr)
		}
	}
}

// Release implements ipam.Allocator. Besides the release it may record that a draining block is gone.
func (a *Allocator) Release(now time.Time, o ipam.Owner) []ipam.Record {
	a.saw(now)
	k, h := a.owners.find(o)
	if h == nil {
		return nil
	}
	b := a.byID[h.block]
	addr := b.addr(h.index)
	a.owners.remove(k)
	a.takeBack(now, b, addr)
	at := exact(now)
	records := []ipam.Record{{Op: ipam.OpRelease, Owner: o, Addr: addr, Prefix: b.prefix, At: at}}
	if b.draining && b.leases == 0 {
		a.drop(b)
		records = append(records, ipam.Record{Op: ipam.OpDrop, Prefix: b.prefix, At: at})
	}
	return records
}

func (a *Allocator) takeBack(now time.Time, b *block, addr netip.Addr) {
	b.leases--
	b.pool.Release(now, addr)
	if a.overlapping {
		reserved := false
		for other := range a.others(b, addr) {
			other.pool.Release(now, addr)
			reserved = reserved || slices.Contains(other.reserved(), addr)
		}
		if reserved {
			a.relink() // the lease was older than that block; now the address is reserved
		}
	}
}

// others yields the held blocks except b that contain addr.
func (a *Allocator) others(b *block, addr netip.Addr) iter.Seq[*block] {
	return func(yield func(*block) bool) {
		for _, other := range a.byID {
			if other != nil && other != b && other.prefix.Contains(addr) && !yield(other) {
				return
			}
		}
	}
}

// Leases implements ipam.Allocator. It works on a copy: the caller may change the allocator meanwhile.
func (a *Allocator) Leases() iter.Seq[ipam.Lease] { return slices.Values(a.sortedLeases()) }

func (a *Allocator) sortedLeases() []ipam.Lease {
	leases := make([]ipam.Lease, 0, a.owners.count)
	a.owners.each(func(h *held) { leases = append(leases, a.byID[h.block].lease(a.owners.owner(h), h)) })
	slices.SortFunc(leases, func(x, y ipam.Lease) int { return x.Addr.Compare(y.Addr) })
	return leases
}

// Lease implements ipam.NodeAllocator.
func (a *Allocator) Lease(o ipam.Owner) (ipam.Lease, bool) {
	_, h := a.owners.find(o)
	if h == nil {
		return ipam.Lease{}, false
	}
	return a.byID[h.block].lease(o, h), true
}

// Capacity implements ipam.NodeAllocator; both figures stop at the largest int.
func (a *Allocator) Capacity(now time.Time) (total, free int) {
	a.saw(now)
	for _, b := range a.active {
		total = addSaturating(total, b.pool.Capacity())
		free = addSaturating(free, b.pool.Free(now))
	}
	return total, free
}

func addSaturating(a int, b uint64) int {
	if b > uint64(math.MaxInt-a) {
		return math.MaxInt
	}
	return a + int(b)
}

// FreeAt implements ipam.NodeAllocator; only active blocks count.
func (a *Allocator) FreeAt(now time.Time) time.Time {
	a.saw(now)
	var first time.Time
	for _, b := range a.active {
		if at := b.pool.FreeAt(now); !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}

func (a *Allocator) saw(now time.Time) {
	if now.After(a.clock) {
		a.clock = now
	}
}

// exact is t as a Record keeps it.
func exact(t time.Time) time.Time { return time.Unix(0, t.UnixNano()).UTC() }

// describe names the active blocks for errors.
func (a *Allocator) describe() string {
	if len(a.active) == 1 {
		return a.active[0].prefix.String()
	}
	prefixes := make([]netip.Prefix, len(a.active))
	for i, b := range a.active {
		prefixes[i] = b.prefix
	}
	return fmt.Sprint(prefixes)
}
