package ipam

import (
	"cmp"
	"net/netip"
	"slices"
	"time"
)

// expire forgets what has cooled long enough.
func (p *blocks) expire(now time.Time) {
	p.cooling = slices.DeleteFunc(p.cooling, func(c CoolingAddr) bool { return now.Sub(c.At) >= p.cfg.ReuseDelay })
}

// cool keeps a release in mind that no block can: its block is gone, or another block reserves the address.
func (p *blocks) cool(c CoolingAddr) {
	if old := slices.IndexFunc(p.cooling, func(x CoolingAddr) bool { return x.Addr == c.Addr }); old >= 0 {
		if !p.cooling[old].At.Before(c.At) {
			return
		}
		p.cooling = slices.Delete(p.cooling, old, old+1)
	}
	i, _ := slices.BinarySearchFunc(p.cooling, c, func(x, y CoolingAddr) int {
		return cmp.Or(x.At.Compare(y.At), x.Addr.Compare(y.Addr))
	})
	p.cooling = slices.Insert(p.cooling, i, c)
}

// keepCooling keeps what cools in a block that is gone, unless another block cools it too.
func (p *blocks) keepCooling(b *AddressBlock) {
	for _, c := range p.coolingOf(b) {
		if !p.cools(c.Addr) {
			p.cool(c)
		}
	}
}

func (p *blocks) cools(addr netip.Addr) bool {
	for b := range p.ledger.HeldAt(addr) {
		if c, ok := b.Own.(coolingAddresses); ok && c.Cools(addr) {
			return true
		}
	}
	return false
}

// coolingOf lists what cools in a block by its time of release.
func (p *blocks) coolingOf(b *AddressBlock) []CoolingAddr {
	c, ok := b.Own.(coolingAddresses)
	if !ok {
		return nil
	}
	addrs, times := c.CoolingSince(p.ledger.clock)
	list := make([]CoolingAddr, len(addrs))
	for i, addr := range addrs {
		list[i] = CoolingAddr{Addr: addr, Block: b.Prefix, At: times[i]}
	}
	return list
}

// shareCooling tells fresh addresses of b what cools in overlapping blocks, b's old addresses included, and in none.
func (p *blocks) shareCooling(b *AddressBlock, fresh Addresses, cooler coolingAddresses) {
	for _, other := range p.ledger.held {
		if !other.Prefix.Overlaps(b.Prefix) {
			continue
		}
		for _, c := range p.coolingOf(other) {
			if !cooler.Cool(c.At, c.Addr) && !cooler.Cools(c.Addr) && !fresh.Holds(c.Addr) && b.Prefix.Contains(c.Addr) {
				p.cool(CoolingAddr{Addr: c.Addr, Block: b.Prefix, At: c.At})
			}
		}
	}
	p.cooling = slices.DeleteFunc(p.cooling, func(c CoolingAddr) bool { return cooler.Cool(c.At, c.Addr) })
}

// Cool implements Cooler.
func (p *blocks) Cool(at time.Time, addr netip.Addr, block netip.Prefix) error {
	switch {
	case p.holder(addr) != nil:
		return ErrTaken
	case p.cfg.ReuseDelay == 0:
		return nil // another system may have written it
	}
	cools := false
	for b := range p.ledger.HeldAt(addr) {
		if c, ok := b.Own.(coolingAddresses); ok {
			cools = c.Cool(at, addr) || c.Cools(addr) || cools
		}
	}
	if !cools {
		p.cool(CoolingAddr{Addr: addr, Block: block, At: at})
	}
	return nil
}

// Cooling implements Cooler: by block, then those of none.
func (p *blocks) Cooling(now time.Time) (list []CoolingAddr) {
	p.expire(now)
	told := make(map[netip.Addr]bool) // overlapping blocks both know an address
	tell := func(cooling []CoolingAddr) {
		for _, c := range cooling {
			if !told[c.Addr] {
				told[c.Addr] = true
				list = append(list, c)
			}
		}
	}
	for _, b := range p.ledger.held {
		tell(p.coolingOf(b))
	}
	tell(p.cooling)
	return list
}

// FreeAt implements Cooler.
func (p *blocks) FreeAt(now time.Time) (first time.Time) {
	for _, b := range p.ledger.active {
		if c, ok := b.Own.(coolingAddresses); ok {
			if at := c.FreeAt(now); !at.IsZero() && (first.IsZero() || at.Before(first)) {
				first = at
			}
		}
	}
	return first
}
