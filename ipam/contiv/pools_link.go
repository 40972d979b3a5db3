package contiv

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// Added implements ipam.Policy: Arranged, which always follows, gives the block a pool.
func (p *pools) Added(*block) {}

// Arranged implements ipam.Policy.
func (p *pools) Arranged(int) { p.link() }

// Dropped implements ipam.Policy. The block's cooling addresses are kept, unless another block cools them too.
func (p *pools) Dropped(b *block) {
	addrs, times := b.Own.CoolingSince(p.ledger.Clock())
	for i, addr := range addrs {
		if !p.cools(addr) {
			p.keep(ipam.CoolingAddr{Addr: addr, Block: b.Prefix, At: times[i]})
		}
	}
	if p.linked {
		p.link()
	}
}

func (p *pools) cools(addr netip.Addr) bool {
	for b := range p.ledger.HeldAt(addr) {
		if b.Own.Pool != nil && b.Own.Cools(addr) {
			return true
		}
	}
	return false
}

// keep notes a release that no pool can: its block is gone, or another block reserves the address.
func (p *pools) keep(c ipam.CoolingAddr) {
	if old := slices.IndexFunc(p.cooling, func(x ipam.CoolingAddr) bool { return x.Addr == c.Addr }); old >= 0 {
		if !p.cooling[old].At.Before(c.At) {
			return
		}
		p.cooling = slices.Delete(p.cooling, old, old+1)
	}
	i, _ := slices.BinarySearchFunc(p.cooling, c, func(x, y ipam.CoolingAddr) int {
		return cmp.Or(x.At.Compare(y.At), x.Addr.Compare(y.Addr))
	})
	p.cooling = slices.Insert(p.cooling, i, c)
}

// link gives a pool to every block that has none and, where blocks overlap or did, to all of them anew.
func (p *pools) link() {
	p.expire(p.ledger.Clock())
	anew := p.linked || p.ledger.Overlapping()
	p.linked = p.ledger.Overlapping()
	for _, b := range p.ledger.Held() {
		if b.Own.Pool == nil || anew {
			p.fill(b)
		}
	}
}

// expire forgets what has cooled long enough.
func (p *pools) expire(now time.Time) {
	p.cooling = slices.DeleteFunc(p.cooling, func(c ipam.CoolingAddr) bool { return now.Sub(c.At) >= p.cfg.ReuseDelay })
}

// fill makes b's pool from what all blocks know.
func (p *pools) fill(b *block) {
	own := reserved(b)
	fresh, err := space.NewPool(space.PoolConfig{
		Prefix: b.Prefix, Reserved: own[:], After: b.Gateway, ReuseDelay: p.cfg.ReuseDelay,
	})
	if err != nil {
		panic(fmt.Sprintf("contiv: block %s was checked: %v", b.Prefix, err))
	}
	for addr := range p.ledger.Leased() {
		// What is outside or reserved needs no mark, and nothing else can be wrong in an empty pool.
		_ = fresh.Restore(addr)
	}
	// Others' own addresses come after the leases: a lease that is older than such a block stays one.
	for _, other := range p.ledger.Held() {
		for _, addr := range reserved(other) {
			fresh.Reserve(addr)
		}
	}
	for _, other := range p.ledger.Held() {
		if other.Own.Pool == nil || !other.Prefix.Overlaps(b.Prefix) {
			continue
		}
		addrs, times := other.Own.CoolingSince(p.ledger.Clock())
		for i, addr := range addrs {
			if !fresh.Cool(times[i], addr) && !fresh.Cools(addr) && !fresh.Holds(addr) && b.Prefix.Contains(addr) {
				p.keep(ipam.CoolingAddr{Addr: addr, Block: b.Prefix, At: times[i]})
			}
		}
	}
	p.cooling = slices.DeleteFunc(p.cooling, func(c ipam.CoolingAddr) bool { return fresh.Cool(c.At, c.Addr) })
	if b.Own.Pool != nil {
		if after, ok := b.Own.Cursor(); ok {
			fresh.SetCursor(after)
		}
	}
	b.Own.Pool = fresh
}

// Cool implements ipam.Cooler.
func (p *pools) Cool(at time.Time, addr netip.Addr, prefix netip.Prefix) error {
	if p.cfg.ReuseDelay == 0 {
		return nil
	}
	cools := false
	for b := range p.ledger.HeldAt(addr) {
		if b.Own.Holds(addr) {
			return ipam.ErrTaken
		}
		cools = b.Own.Pool.Cool(at, addr) || b.Own.Cools(addr) || cools
	}
	if !cools {
		p.keep(ipam.CoolingAddr{Addr: addr, Block: prefix, At: at})
	}
	return nil
}

// Cooling implements ipam.Cooler: by block, then what is in no pool, each by time of release.
func (p *pools) Cooling(now time.Time) []ipam.CoolingAddr {
	p.expire(now)
	var list []ipam.CoolingAddr
	told := make(map[netip.Addr]bool) // overlapping blocks both know an address
	for _, b := range p.ledger.Held() {
		addrs, times := b.Own.CoolingSince(now)
		for i, addr := range addrs {
			if !told[addr] {
				told[addr] = true
				list = append(list, ipam.CoolingAddr{Addr: addr, Block: b.Prefix, At: times[i]})
			}
		}
	}
	return append(list, p.cooling...)
}

// FreeAt implements ipam.Cooler.
func (p *pools) FreeAt(now time.Time) time.Time {
	var first time.Time
	for _, b := range p.ledger.Active() {
		if at := b.Own.FreeAt(now); !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}
