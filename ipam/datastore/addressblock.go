package datastore

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// state is what an address is doing. Every address is in exactly one; counts keep score.
type state uint8

const (
	idle state = iota
	assigned
	cooling
	// aside: it is kept from pods, though none holds it.
	aside
	states
)

// counts is how many addresses are in each state.
type counts [states]int

// block is one prefix that a Node holds.
type block = ipam.HeldBlock[units]

// units are what addresses keep with a block that is active.
type units struct {
	// taken has the addresses that are not idle; nil while the block is not active.
	taken *space.Bitmap
	counts
	// spare is how many addresses are blocked, held or not.
	spare    int
	position int  // among the active blocks
	eni      *eni // where a NodePool is alone with the Node
}

// hostBitsMax keeps an address's index in a block within 64 bits.
const hostBitsMax = 63

// Shape implements ipam.Policy.
func (a *addresses) Shape(b *block) (err error) {
	bits := space.HostBits(b.Prefix)
	switch {
	case bits > hostBitsMax:
		return fmt.Errorf("more than %d host bits", hostBitsMax)
	case a.gateway.IsValid() && b.Prefix.Contains(a.gateway):
		return fmt.Errorf("contains the gateway %s", a.gateway)
	case a.gateway.IsValid():
		b.Gateway = a.gateway
		return nil
	case bits < 3:
		return errors.New("needs at least 3 host bits")
	}
	b.Gateway, err = space.Nth(b.Prefix, 1)
	return err
}

// ownOf are the addresses of b that no pod gets.
func (a *addresses) ownOf(b *block) []netip.Addr {
	if a.gateway.IsValid() {
		return nil
	}
	last := space.Last(b.Prefix)
	return []netip.Addr{b.Prefix.Addr(), b.Gateway, last.Prev(), last}
}

// Added implements ipam.Policy.
func (a *addresses) Added(b *block) {
	for _, addr := range a.ownOf(b) {
		a.setBlocked(addr, 1)
	}
}

// Dropped implements ipam.Policy.
func (a *addresses) Dropped(b *block) {
	for _, addr := range a.ownOf(b) {
		a.setBlocked(addr, -1)
	}
}

// setBlocked adds to the number of those who keep an address from pods.
func (a *addresses) setBlocked(addr netip.Addr, by int) {
	before, n := a.state(addr), a.blocked[addr]
	if a.blocked[addr] = n + by; n+by == 0 {
		delete(a.blocked, addr)
	}
	if (n == 0) != (n+by == 0) {
		if b := a.ledger.ActiveAt(addr); b != nil && b.Own.taken != nil {
			b.Own.spare += by
		}
	}
	a.moved(addr, nil, before, a.state(addr))
}

// Arranged implements ipam.Policy: blocks that were not active before learn what is taken.
func (a *addresses) Arranged(from int) {
	active := a.ledger.Active()
	for _, b := range a.arranged[min(from, len(a.arranged)):] {
		b.Own.position = -1
		if b.Draining() {
			b.Own.taken = nil
		}
	}
	for i := from; i < len(a.arranged); i++ {
		a.open.Clear(uint64(i))
		a.begun.Clear(uint64(i))
	}
	a.arranged = append(a.arranged[:min(from, len(a.arranged))], active[from:]...)
	if a.open.Size() < uint64(len(active)) {
		a.open, a.begun = widened(a.open, 2*len(active)), widened(a.begun, 2*len(active))
	}
	for i, b := range active[from:] {
		b.Own.position = from + i
		if b.Own.taken == nil {
			a.populate(b)
		}
		a.mark(b)
	}
}

// mark notes whether b has something to give.
func (a *addresses) mark(b *block) {
	if b.Own.position < 0 {
		return // the active blocks are being arranged
	}
	at, open := uint64(b.Own.position), b.Own.taken.Count() < b.Own.taken.Size()
	set(a.open, at, open)
	set(a.begun, at, open && b.Own.counts[assigned] > 0)
}

func set(bits *space.Bitmap, at uint64, on bool) {
	if on {
		bits.Set(at)
	} else {
		bits.Clear(at)
	}
}

// widened is a larger bitmap with the same bits set.
func widened(bits *space.Bitmap, size int) *space.Bitmap {
	wider := space.NewBitmap(uint64(size))
	for i, ok := bits.NextSet(0); ok; i, ok = bits.NextSet(i + 1) {
		wider.Set(i)
	}
	return wider
}

// populate works out b's account, by its addresses or by all that is known, whichever is less.
func (a *addresses) populate(b *block) {
	b.Own.taken = space.NewBitmap(space.Count(b.Prefix))
	b.Own.counts, b.Own.spare = counts{}, 0
	enter := func(addr netip.Addr) {
		index, ok := space.Index(b.Prefix, addr)
		if !ok || b.Own.taken.Test(index) {
			return
		}
		if a.blocked[addr] > 0 {
			b.Own.spare++
		}
		if s := a.state(addr); s != idle {
			b.Own.counts[s]++
			b.Own.taken.Set(index)
		}
	}
	if b.Own.taken.Size() <= uint64(len(a.facts)+len(a.blocked)) {
		for addr := b.Prefix.Addr(); b.Prefix.Contains(addr); addr = addr.Next() {
			enter(addr)
		}
	} else {
		for addr := range a.facts { // in any order: each sets its own bit
			enter(addr)
		}
		for addr := range a.blocked { // in any order: the same
			enter(addr)
		}
	}
	b.Own.counts[idle] = int(b.Own.taken.Size() - b.Own.taken.Count())
}
