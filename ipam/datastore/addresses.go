package datastore

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

// addresses are what a Node's addresses are doing, whether a block has them or not, and the choice among those that are
// idle. Facts about an address outlive its block: it cools on, and is found held, when a block brings it back.
type addresses struct {
	period  time.Duration // negative: nothing cools
	gateway netip.Addr
	ledger  *ledger
	// facts are what is known of addresses that are held or cool, cooling is how many cool. queue has those by release
	// time, and entries that facts contradict are void.
	facts   map[netip.Addr]fact
	cooling int
	queue   coolQueue
	// blocked counts who keeps an address from pods: the held blocks that reserve it, and damaged checkpoint entries.
	blocked map[netip.Addr]int
	// arranged are the active blocks as they were told last; open has the positions of those with an idle address, begun
	// of those among them of which a pod has an address.
	arranged    []*block
	open, begun *space.Bitmap
}

// fact: an address is held, or cools since at. It was picked from a block, which may not be held any more.
type fact struct {
	from *block
	at   int64 // Unix nanoseconds
	held bool
}

var (
	_ ipam.Policy[units] = (*addresses)(nil)
	_ ipam.Cooler        = (*addresses)(nil)
)

// state is what the address is doing: the first that is true of assigned, aside and cooling, else idle.
func (a *addresses) state(addr netip.Addr) state {
	f, ok := a.facts[addr]
	return a.stateOf(addr, f, ok)
}

func (a *addresses) stateOf(addr netip.Addr, f fact, known bool) state {
	switch {
	case f.held:
		return assigned
	case len(a.blocked) > 0 && a.blocked[addr] > 0:
		return aside
	case known:
		return cooling
	}
	return idle
}

// moved brings the account of an address's active block up to date. from is a block that has the address, nil where
// none is known.
func (a *addresses) moved(addr netip.Addr, from *block, before, after state) {
	if before == after {
		return
	}
	b := from
	if b == nil || !a.active(b) {
		b = a.ledger.ActiveAt(addr)
	}
	if b == nil || b.Own.taken == nil { // a block that comes counts for itself
		return
	}
	b.Own.counts[before]--
	b.Own.counts[after]++
	index, _ := space.Index(b.Prefix, addr)
	if after == idle {
		b.Own.taken.Clear(index)
	} else {
		b.Own.taken.Set(index)
	}
	a.mark(b)
}

// active reports whether a block that was held once gives out addresses still.
func (a *addresses) active(b *block) bool {
	at := b.Own.position
	return at >= 0 && at < len(a.arranged) && a.arranged[at] == b && !b.Draining()
}

// Admit implements ipam.Policy.
func (a *addresses) Admit(b *block, _ iter.Seq[*block], _ netip.Addr) error {
	own := a.ownOf(b)
	if len(own) == 0 {
		return nil
	}
	for _, addr := range own[1:3] { // VPP uses these two itself
		if a.facts[addr].held {
			return fmt.Errorf("its own address %s is held by a pod of another block: %w", addr, ipam.ErrTaken)
		}
	}
	return nil
}

// Pick implements ipam.Policy.
func (a *addresses) Pick(time.Time) (*block, netip.Addr, error) {
	a.expire(a.ledger.Clock())
	b, addr, ok := a.next()
	if !ok {
		return nil, netip.Addr{}, ipam.ErrExhausted
	}
	return b, addr, nil
}

// next is the address that the next pick takes: of a block that is in use already where there is one, because EC2 takes
// only whole blocks back and a node asks for more as soon as too few are unused.
func (a *addresses) next() (*block, netip.Addr, bool) {
	i, ok := a.begun.NextSet(0)
	if !ok {
		i, ok = a.open.NextSet(0)
	}
	if !ok {
		return nil, netip.Addr{}, false
	}
	b := a.arranged[i]
	index, ok := b.Own.taken.NextClear(0)
	if !ok {
		panic(fmt.Sprintf("datastore: block %s is open and has no address", b.Prefix))
	}
	addr, err := space.Nth(b.Prefix, index)
	if err != nil {
		panic(fmt.Sprintf("datastore: index %d of block %s: %v", index, b.Prefix, err))
	}
	return b, addr, true
}

// Take implements ipam.Policy.
func (a *addresses) Take(_ time.Time, b *block, addr netip.Addr) error {
	a.expire(a.ledger.Clock())
	switch s := a.state(addr); {
	case s == assigned && !slices.Contains(a.ownOf(b), addr):
		return ipam.ErrTaken
	case s == assigned || s == aside:
		return fmt.Errorf("it is reserved: %w", ipam.ErrNotInPool)
	case s == cooling:
		return ipam.ErrCooling
	}
	return nil
}

// Restore implements ipam.Policy. The first and last address of another block may be leased: the lease is older than
// that block. Its other two may not, because SetBlocks refuses such a block.
func (a *addresses) Restore(b *block, addr netip.Addr) error {
	if a.facts[addr].held {
		return ipam.ErrTaken
	}
	if a.gateway.IsValid() || a.blocked[addr] == 0 {
		return nil
	}
	own := slices.Contains(a.ownOf(b), addr)
	for other := range a.ledger.HeldAt(addr) {
		own = own || slices.Contains(a.ownOf(other)[1:3], addr)
	}
	if own {
		return fmt.Errorf("address is reserved: %w", ipam.ErrNotInPool)
	}
	return nil
}

// Given implements ipam.Policy.
func (a *addresses) Given(b *block, addr netip.Addr) {
	f, ok := a.facts[addr]
	if ok {
		a.cooling--
	}
	a.facts[addr] = fact{from: b, held: true}
	a.moved(addr, b, a.stateOf(addr, f, ok), assigned)
}

// Freed implements ipam.Policy.
func (a *addresses) Freed(at time.Time, b *block, addr netip.Addr) {
	if a.period < 0 {
		delete(a.facts, addr)
		a.moved(addr, b, assigned, a.stateOf(addr, fact{}, false))
		return
	}
	f := fact{from: b, at: at.UnixNano()}
	a.cool(addr, f)
	a.moved(addr, b, assigned, a.stateOf(addr, f, true))
}

func (a *addresses) cool(addr netip.Addr, f fact) {
	a.facts[addr] = f
	a.cooling++
	a.queue.push(cooled{addr, f.at})
}

// Cool implements ipam.Cooler. A release that is older than the one that is known says nothing.
func (a *addresses) Cool(at time.Time, addr netip.Addr, prefix netip.Prefix) error {
	old, ok := a.facts[addr]
	f := fact{from: &block{Prefix: prefix}, at: at.UnixNano()}
	f.from.Own.position = -1
	switch {
	case old.held:
		return ipam.ErrTaken
	case a.period < 0 || ok && old.at >= f.at:
		return nil
	case ok:
		a.cooling--
	}
	a.cool(addr, f)
	a.moved(addr, nil, a.stateOf(addr, old, ok), a.stateOf(addr, f, true))
	return nil
}

// uncool makes an address that cools idle: its release is over, or undone.
func (a *addresses) uncool(addr netip.Addr) {
	f, ok := a.facts[addr]
	if !ok || f.held {
		return
	}
	delete(a.facts, addr)
	a.cooling--
	a.moved(addr, f.from, a.stateOf(addr, f, true), a.stateOf(addr, fact{}, false))
}

// cools reports whether what was released then cools at now.
func (a *addresses) cools(now time.Time, released int64) bool {
	return a.period >= 0 && now.UnixNano()-released <= int64(a.period)
}

// expire ends what has cooled long enough.
func (a *addresses) expire(now time.Time) {
	for len(a.queue) > 0 && !a.cools(now, a.queue[0].at) {
		c := a.queue.pop()
		if f := a.facts[c.addr]; !f.held && f.at == c.at {
			a.uncool(c.addr)
		}
	}
}

// Cooling implements ipam.Cooler.
func (a *addresses) Cooling(now time.Time) []ipam.CoolingAddr {
	list := make([]ipam.CoolingAddr, 0, a.cooling)
	for addr, f := range a.facts {
		if !f.held && a.cools(now, f.at) {
			list = append(list, ipam.CoolingAddr{Addr: addr, Block: f.from.Prefix, At: time.Unix(0, f.at).UTC()})
		}
	}
	slices.SortFunc(list, func(x, y ipam.CoolingAddr) int { return cmp.Or(x.At.Compare(y.At), x.Addr.Compare(y.Addr)) })
	return list
}

// FreeAt implements ipam.Cooler. The time is a nanosecond behind the cooling period, whose end still cools.
func (a *addresses) FreeAt(time.Time) time.Time {
	a.expire(a.ledger.Clock())
	frees := func(addr netip.Addr, at int64) bool {
		f, ok := a.facts[addr]
		return ok && f.at == at && a.stateOf(addr, f, ok) == cooling && a.ledger.ActiveAt(addr) != nil
	}
	var first int64
	if len(a.queue) > 0 && frees(a.queue[0].addr, a.queue[0].at) {
		first = a.queue[0].at
	} else if a.cooling > 0 {
		// in any order: it is a minimum
		for addr, f := range a.facts {
			if !f.held && (first == 0 || f.at < first) && frees(addr, f.at) {
				first = f.at
			}
		}
	}
	if first == 0 {
		return time.Time{}
	}
	return time.Unix(0, first+int64(a.period)+1).UTC()
}

// Size implements ipam.Policy.
func (a *addresses) Size(_ time.Time, b *block) (total, free uint64) {
	a.expire(a.ledger.Clock())
	size := b.Own.taken.Size()
	return size - uint64(b.Own.spare), size - b.Own.taken.Count()
}
