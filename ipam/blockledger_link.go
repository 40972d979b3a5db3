package ipam

import (
	"errors"
	"fmt"
	"iter"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// Admit implements Policy. It refuses a block whose kept addresses are held.
func (p *blocks) Admit(b *AddressBlock, stay iter.Seq[*AddressBlock], recorded netip.Addr) error {
	kept, _ := p.cfg.System.Own(b)
	for _, own := range kept {
		if other := p.holder(own); other != nil {
			return fmt.Errorf("its own address %s is held by a pod of block %s: %w", own, other.Prefix, ErrTaken)
		}
	}
	router, ok := p.cfg.System.(Router)
	if !ok || b.Gateway.IsValid() && !b.Prefix.Contains(b.Gateway) { // a gateway outside takes none of its addresses
		return nil
	}
	addrs := p.fill(b, stay)
	if !recorded.IsValid() {
		b.Gateway, ok = router.Router(addrs)
	} else if err := addrs.Take(time.Time{}, recorded); err == nil || errors.Is(err, space.ErrReserved) {
		// A block that is older than the others may have its gateway on one of their edges.
		b.Gateway, ok = recorded, !slices.Contains(kept, recorded)
		for other := range stay {
			ok = ok && other.Gateway != recorded
		}
	} else {
		ok = false
	}
	if !ok {
		return fmt.Errorf("no address for the router: %w", ErrTaken)
	}
	return nil
}

// holder is a held block in which addr is held, nil when it is not.
func (p *blocks) holder(addr netip.Addr) *AddressBlock {
	for b := range p.ledger.HeldAt(addr) {
		if b.Own.Holds(addr) {
			return b
		}
	}
	return nil
}

// Restore implements Policy. The lease may be older than another block that reserves its address: a compact history
// tells draining blocks first, whatever came first. Such an address is only an edge of the other block, because a block
// of which a kept address is held is refused.
func (p *blocks) Restore(b *AddressBlock, addr netip.Addr) error {
	err := b.Own.Restore(addr)
	switch {
	case errors.Is(err, space.ErrHeld):
		return ErrTaken
	case errors.Is(err, space.ErrReserved):
		for other := range p.ledger.HeldAt(addr) {
			kept, edges := p.cfg.System.Own(other)
			if slices.Contains(kept, addr) || other == b && slices.Contains(edges, addr) {
				return fmt.Errorf("%w: %w", ErrNotInPool, err)
			}
		}
		return nil // Given sees that the addresses do not hold it yet
	case err != nil:
		return fmt.Errorf("%w: %w", ErrNotInPool, err)
	}
	return nil
}

// Given implements Policy: overlapping blocks learn of the lease.
func (p *blocks) Given(b *AddressBlock, addr netip.Addr) {
	if !p.linked {
		return
	}
	if !b.Own.Holds(addr) {
		p.link()
		return
	}
	for other := range p.ledger.HeldAt(addr) {
		if other != b {
			_ = other.Own.Restore(addr) // the error is that it is reserved there, and so not given out either
		}
	}
}

// Freed implements Policy: overlapping blocks learn of it.
func (p *blocks) Freed(at time.Time, b *AddressBlock, addr netip.Addr) {
	b.Own.Release(at, addr)
	if !p.linked {
		return
	}
	reserved := false
	for other := range p.ledger.HeldAt(addr) {
		if other != b {
			other.Own.Release(at, addr)
			kept, edges := p.cfg.System.Own(other)
			reserved = reserved || slices.Contains(kept, addr) || slices.Contains(edges, addr)
		}
	}
	if reserved {
		p.link() // the lease was older than that block; now the address is reserved
	}
}

// link gives addresses to every block that has none and, where blocks overlap or did, to all of them anew: those of
// each block then know the leases, the cooling and the own addresses of every block in its range.
func (p *blocks) link() {
	p.expire(p.ledger.clock)
	anew := p.linked || p.ledger.overlapping
	p.linked = p.ledger.overlapping
	for _, b := range p.ledger.held {
		if b.Own == nil || anew {
			p.refill(b)
		}
	}
}

// fill makes b's addresses from what the others know.
func (p *blocks) fill(b *AddressBlock, others iter.Seq[*AddressBlock]) Addresses {
	addrs := p.cfg.System.Fill(b)
	reserve := func(of *AddressBlock) {
		kept, edges := p.cfg.System.Own(of)
		for _, own := range slices.Concat(kept, edges) {
			addrs.Reserve(own)
		}
	}
	reserve(b)
	var overlapping []*AddressBlock
	for other := range others {
		if other != b && other.Prefix.Overlaps(b.Prefix) {
			overlapping = append(overlapping, other)
		}
	}
	if b.leases > 0 || len(overlapping) > 0 {
		p.ledger.table.each(func(e *leaseEntry) {
			// What is outside or reserved needs no mark, and nothing else can be wrong with addresses that are all free.
			_ = addrs.Restore(p.ledger.byID[e.block].addr(e.index))
		})
	}
	// Others' own addresses come after the leases: a lease that is older than such a block stays one.
	for _, other := range overlapping {
		reserve(other)
	}
	return addrs
}

// refill is fill with what cools, and with the cursor that b had.
func (p *blocks) refill(b *AddressBlock) {
	fresh := p.fill(b, slices.Values(p.ledger.held))
	if cooler, ok := fresh.(coolingAddresses); ok {
		p.shareCooling(b, fresh, cooler)
	}
	if old, ok := b.Own.(cursoredAddresses); ok {
		if after, ok := old.Cursor(); ok {
			fresh.(cursoredAddresses).SetCursor(after)
		}
	}
	b.Own = fresh
}
