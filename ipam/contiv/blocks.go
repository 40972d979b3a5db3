package contiv

import (
	"cmp"
	"fmt"
	"iter"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// ember is an address of a dropped block that was released at that time.
type ember struct {
	addr   netip.Addr
	prefix netip.Prefix // of the dropped block
	at     time.Time
}

// SetBlocks implements ipam.NodeAllocator. It refuses, and changes nothing, when a prefix has fewer than 3 host bits, two
// prefixes overlap, or a new block's gateway or NAT loopback is an address that a pod holds in a draining block.
func (a *Allocator) SetBlocks(now time.Time, prefixes []netip.Prefix) ([]ipam.Record, error) {
	a.saw(now)
	at := exact(now)
	wanted := make([]*block, len(prefixes))
	for i, p := range prefixes {
		b, err := newBlock(at, p)
		if err != nil {
			return nil, err
		}
		for _, earlier := range wanted[:i] {
			if earlier.prefix.Overlaps(b.prefix) {
				return nil, fmt.Errorf("block %s overlaps %s", b.prefix, earlier.prefix)
			}
		}
		if known := a.block(b.prefix); known != nil {
			b = known
		} else if err := a.checkNew(b); err != nil {
			return nil, err
		}
		wanted[i] = b
	}
	records := a.retire(at, wanted)
	// What is active already in the wanted order needs no word; from the first difference on, each is named again.
	same := 0
	for same < len(a.active) && same < len(wanted) && a.active[same] == wanted[same] {
		same++
	}
	for _, b := range wanted[same:] {
		a.activate(at, b)
		records = append(records, ipam.Record{Op: ipam.OpBlock, Addr: b.gateway, Prefix: b.prefix, At: at})
	}
	a.relink()
	return records, nil
}

// retire drains held blocks that are not wanted, and drops those without leases.
func (a *Allocator) retire(at time.Time, wanted []*block) (records []ipam.Record) {
	for b := range a.ascending() {
		switch {
		case slices.Contains(wanted, b):
		case b.leases == 0:
			a.drop(b)
			records = append(records, ipam.Record{Op: ipam.OpDrop, Prefix: b.prefix, At: at})
		case !b.draining:
			a.drain(at, b)
			records = append(records, ipam.Record{Op: ipam.OpDrain, Prefix: b.prefix, At: at})
		}
	}
	return records
}

// checkNew refuses a block whose own addresses are held by pods.
func (a *Allocator) checkNew(b *block) error {
	for _, own := range [...]netip.Addr{b.gateway, b.loopback} {
		for other := range a.others(b, own) {
			if other.pool.Holds(own) {
				return fmt.Errorf("block %s: its own address %s is held by a pod of block %s: %w", b.prefix, own, other.prefix, ipam.ErrTaken)
			}
		}
	}
	return nil
}

// Blocks implements ipam.NodeAllocator.
func (a *Allocator) Blocks() []ipam.Block {
	var blocks []ipam.Block
	for _, b := range a.active {
		blocks = append(blocks, b.public())
	}
	for b := range a.ascending() {
		if b.draining {
			blocks = append(blocks, b.public())
		}
	}
	return blocks
}

func (a *Allocator) block(p netip.Prefix) *block {
	for _, b := range a.byID {
		if b != nil && b.prefix == p {
			return b
		}
	}
	return nil
}

// ascending yields held blocks by prefix; the body may drop blocks.
func (a *Allocator) ascending() iter.Seq[*block] {
	held := slices.DeleteFunc(slices.Clone(a.byID), func(b *block) bool { return b == nil })
	slices.SortFunc(held, func(x, y *block) int { return x.prefix.Compare(y.prefix) })
	return slices.Values(held)
}

// activate puts b last among the active blocks, whether it is new, draining or active. Callers relink.
func (a *Allocator) activate(at time.Time, b *block) {
	if b.pool == nil {
		id := slices.Index(a.byID, nil)
		if id < 0 {
			id = len(a.byID)
			a.byID = append(a.byID, nil)
		}
		b.id = uint32(id)
		a.byID[id] = b
	}
	if b.draining {
		b.draining, b.since = false, at
	}
	a.deactivate(b)
	a.active = append(a.active, b)
}

func (a *Allocator) drain(at time.Time, b *block) {
	b.draining, b.drained = true, at
	a.deactivate(b)
}

func (a *Allocator) deactivate(b *block) {
	a.active = slices.DeleteFunc(a.active, func(x *block) bool { return x == b })
}

// drop forgets a block without leases. Its cooling addresses live on as embers, unless another block cools them too.
func (a *Allocator) drop(b *block) {
	a.deactivate(b)
	a.byID[b.id] = nil
	addrs, times := b.pool.CoolingSince(a.clock)
	for i, addr := range addrs {
		if !a.overlapping || !a.cools(addr) {
			a.glow(ember{addr: addr, prefix: b.prefix, at: times[i]})
		}
	}
	if a.overlapping {
		a.relink()
	}
}

func (a *Allocator) cools(addr netip.Addr) bool {
	return slices.ContainsFunc(a.byID, func(b *block) bool { return b != nil && b.pool.Cools(addr) })
}

// glow keeps a release in mind that no pool can: its block is gone, or another block reserves the address.
func (a *Allocator) glow(e ember) {
	if old := slices.IndexFunc(a.embers, func(x ember) bool { return x.addr == e.addr }); old >= 0 {
		if !a.embers[old].at.Before(e.at) {
			return
		}
		a.embers = slices.Delete(a.embers, old, old+1)
	}
	i, _ := slices.BinarySearchFunc(a.embers, e, func(x, y ember) int {
		return cmp.Or(x.at.Compare(y.at), x.addr.Compare(y.addr))
	})
	a.embers = slices.Insert(a.embers, i, e)
}

// relink gives a pool to every block that has none and, where blocks overlap or did, to all of them anew: each pool
// then knows the leases, the cooling and the reserved addresses of every block in its range.
func (a *Allocator) relink() {
	a.embers = slices.DeleteFunc(a.embers, func(e ember) bool { return a.clock.Sub(e.at) >= a.cfg.ReuseDelay })
	overlapped := a.overlapping
	a.overlapping = a.overlap()
	for b := range a.ascending() {
		if b.pool == nil || overlapped || a.overlapping {
			a.fill(b)
		}
	}
}

func (a *Allocator) overlap() bool {
	for i, x := range a.byID {
		for _, y := range a.byID[i+1:] {
			if x != nil && y != nil && x.prefix.Overlaps(y.prefix) {
				return true
			}
		}
	}
	return false
}

// fill makes b's pool from what all blocks know.
func (a *Allocator) fill(b *block) {
	pool, err := space.NewPool(space.PoolConfig{
		Prefix: b.prefix, Reserved: b.reserved(), After: b.gateway, ReuseDelay: a.cfg.ReuseDelay,
	})
	if err != nil {
		panic(fmt.Sprintf("contiv: block %s was checked: %v", b.prefix, err))
	}
	a.owners.each(func(h *held) {
		// What is outside or reserved needs no mark, and nothing else can be wrong in an empty pool.
		_ = pool.Restore(a.byID[h.block].addr(h.index))
	})
	if a.overlapping {
		a.shareReserved(b, pool)
	}
	for other := range a.ascending() {
		if other.pool != nil && other.prefix.Overlaps(b.prefix) {
			addrs, times := other.pool.CoolingSince(a.clock)
			for i, addr := range addrs {
				if !pool.Cool(times[i], addr) && !pool.Cools(addr) && !pool.Holds(addr) && b.prefix.Contains(addr) {
					a.glow(ember{addr: addr, prefix: b.prefix, at: times[i]})
				}
			}
		}
	}
	a.embers = slices.DeleteFunc(a.embers, func(e ember) bool { return pool.Cool(e.at, e.addr) })
	if b.pool != nil {
		if after, ok := b.pool.Cursor(); ok {
			pool.SetCursor(after)
		}
	}
	b.pool = pool
}

// shareReserved reserves other blocks' own addresses in b's pool. It comes after the leases: one that is older than such a
// block stays a lease.
func (a *Allocator) shareReserved(b *block, pool *space.Pool) {
	for other := range a.ascending() {
		if other != b {
			for _, addr := range other.reserved() {
				pool.Reserve(addr)
			}
		}
	}
}
