package ipam

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// Replayer is a NodeAllocator that takes many Records faster at once than one by one.
type Replayer interface {
	// Replay is Apply of each record in order, up to the first that is refused: applied is how many came before it. The
	// slice stays the caller's.
	Replay(records []Record) (applied int, err error)
}

var _ Replayer = (*Ledger[struct{}])(nil)

// Replay is Apply of each record in order, up to the first that is refused: applied is how many came before it. Whoever
// wants to go on without it goes on behind it.
func Replay(a NodeAllocator, records []Record) (applied int, err error) {
	if r, ok := a.(Replayer); ok {
		return r.Replay(records)
	}
	for i := range records {
		if err := a.Apply(records[i]); err != nil {
			return i, err
		}
	}
	return len(records), nil
}

// prefetchMost is how many records Replay looks ahead: more than a processor has loads under way.
const prefetchMost = 32

// Replay implements Replayer.
func (l *Ledger[T]) Replay(records []Record) (applied int, err error) {
	var sums [prefetchMost]uint32
	for rest := records; len(rest) > 0; {
		next := rest[:min(len(rest), prefetchMost)]
		for i := range next {
			sums[i] = l.table.sum(next[i].Owner.ContainerID)
		}
		l.table.prefetch(sums[:len(next)])
		for i := range next {
			if err := l.replay(&next[i], sums[i]); err != nil {
				return applied, err
			}
			applied++
		}
		rest = rest[len(next):]
	}
	return applied, nil
}

// Apply implements NodeAllocator. A lease moves its block's cursor as the original did. A release without owner says
// that the address cools since then, in whatever block it is.
func (l *Ledger[T]) Apply(r Record) error { return l.replay(&r, l.table.sum(r.Owner.ContainerID)) }

// replay is Apply of a record whose container has that sum.
func (l *Ledger[T]) replay(record *Record, sum uint32) error {
	r := *record
	r.At = exact(r.At)
	if err := l.apply(&r, sum); err != nil {
		return fmt.Errorf("apply %q: %w", r, err)
	}
	l.saw(r.At)
	return nil
}

func (l *Ledger[T]) apply(r *Record, sum uint32) error {
	if r.Op == OpBlock {
		return l.applyBlock(r)
	}
	if r.Op == OpRelease && r.Owner == (Owner{}) {
		return l.applyCooling(r)
	}
	b := l.block(r.Prefix)
	if b == nil {
		b = l.block(space.Normal(r.Prefix))
	}
	if b == nil {
		return fmt.Errorf("block %s is not held", r.Prefix)
	}
	switch r.Op {
	case OpLease:
		return l.applyLease(b, r, sum)
	case OpRelease:
		return l.applyRelease(b, r, sum)
	case OpDrain:
		if b.draining {
			return errors.New("block drains already")
		}
		at := l.deactivate(b)
		b.draining, b.drained = true, r.At
		l.policy.Arranged(at)
	case OpDrop:
		if b.leases > 0 {
			return fmt.Errorf("block has %d leases", b.leases)
		}
		l.saw(r.At)
		at := l.deactivate(b)
		l.drop(b)
		l.policy.Arranged(at)
	case OpCursor:
		addr := space.NormalAddr(r.Addr)
		if !b.Prefix.Contains(addr) {
			return errors.New("cursor is outside the block")
		}
		l.setCursor(b, addr)
	default:
		return errors.New("unknown operation")
	}
	return nil
}

func (l *Ledger[T]) setCursor(b *HeldBlock[T], addr netip.Addr) {
	if l.cursor != nil {
		l.cursor.SetCursor(b, addr)
	}
}

func (l *Ledger[T]) applyBlock(r *Record) error {
	b, err := l.known(r.At, r.Prefix)
	if err != nil {
		return err
	}
	if other := l.overlapped(b.Prefix); other != nil {
		return fmt.Errorf("overlaps block %s", other.Prefix)
	}
	gateway := space.NormalAddr(r.Addr)
	if b.id == noEntry {
		if err := l.policy.Admit(b, slices.Values(l.held), gateway); err != nil {
			return err
		}
	}
	if gateway.IsValid() && gateway != b.Gateway {
		return fmt.Errorf("gateway of %s is %s", b.Prefix, b.Gateway)
	}
	l.saw(r.At)
	from := l.deactivate(b)
	l.activate(r.At, b)
	l.active = append(l.active, b)
	i, _ := slices.BinarySearchFunc(l.sorted, b, comparePrefix)
	l.sorted = slices.Insert(l.sorted, i, b)
	l.policy.Arranged(from)
	return nil
}

// overlapped is an active block that shares addresses with p and is another, nil when there is none.
func (l *Ledger[T]) overlapped(p netip.Prefix) *HeldBlock[T] {
	if b := l.ActiveAt(p.Addr()); b != nil && b.Prefix != p {
		return b
	}
	// Any other starts behind p's first address; as active blocks are disjoint, the next one tells.
	i, _ := slices.BinarySearchFunc(l.sorted, p.Addr(), func(b *HeldBlock[T], a netip.Addr) int {
		if b.Prefix.Addr().Compare(a) <= 0 {
			return -1
		}
		return 1
	})
	if i < len(l.sorted) && l.sorted[i].Prefix.Overlaps(p) {
		return l.sorted[i]
	}
	return nil
}

func (l *Ledger[T]) applyLease(b *HeldBlock[T], r *Record, sum uint32) error {
	if !r.Owner.Valid() {
		return fmt.Errorf("owner %q is not valid", r.Owner)
	}
	k, e := l.table.findSummed(r.Owner, sum)
	if e != nil {
		return fmt.Errorf("owner holds %s: %w", l.byID[e.block].addr(e.index), ErrTaken)
	}
	addr := space.NormalAddr(r.Addr)
	if !b.Prefix.Contains(addr) {
		return fmt.Errorf("address is outside the block: %w", ErrNotInPool)
	}
	if err := l.policy.Restore(b, addr); err != nil {
		return err
	}
	l.setCursor(b, addr)
	l.give(k, b, addr, r.At.UnixNano())
	return nil
}

func (l *Ledger[T]) applyRelease(b *HeldBlock[T], r *Record, sum uint32) error {
	k, e := l.table.findSummed(r.Owner, sum)
	addr := space.NormalAddr(r.Addr)
	if e == nil || e.block != b.id || b.addr(e.index) != addr {
		return errors.New("owner does not hold that address")
	}
	l.takeBack(r.At, k, b, addr)
	return nil
}

func (l *Ledger[T]) applyCooling(r *Record) error {
	addr, prefix := space.NormalAddr(r.Addr), space.Normal(r.Prefix)
	switch {
	case !prefix.Contains(addr):
		return errors.New("address is outside the block")
	case l.cooler == nil:
		return nil // written by a system whose addresses cool
	}
	return l.cooler.Cool(r.At, addr, prefix)
}

// Records implements NodeAllocator. Draining blocks come first, so that no two active blocks ever overlap on the way,
// then the active ones. Addresses that still cool are releases without owner, at the end.
func (l *Ledger[T]) Records() []Record {
	leases := make(map[netip.Prefix][]Lease, len(l.held))
	for _, lease := range l.sortedLeases() {
		leases[lease.Block] = append(leases[lease.Block], lease)
	}
	var records []Record
	for _, b := range l.held {
		if b.draining {
			records = append(l.tell(records, b, leases[b.Prefix]), Record{Op: OpDrain, Prefix: b.Prefix, At: b.drained})
		}
	}
	for _, b := range l.active {
		records = l.tell(records, b, leases[b.Prefix])
	}
	if l.cooler != nil {
		for _, c := range l.cooler.Cooling(l.clock) {
			records = append(records, Record{Op: OpRelease, Addr: c.Addr, Prefix: c.Block, At: c.At})
		}
	}
	return records
}

// tell appends a block's records.
func (l *Ledger[T]) tell(records []Record, b *HeldBlock[T], leases []Lease) []Record {
	records = append(records, Record{Op: OpBlock, Addr: b.Gateway, Prefix: b.Prefix, At: b.since})
	behind := b.Gateway // where the cursor is after these records
	for _, lease := range leases {
		records = append(records, Record{Op: OpLease, Owner: lease.Owner, Addr: lease.Addr, Prefix: b.Prefix, At: lease.Since})
		behind = lease.Addr
	}
	if l.cursor != nil {
		if after := l.cursor.Cursor(b); after.IsValid() && after != behind {
			records = append(records, Record{Op: OpCursor, Addr: after, Prefix: b.Prefix, At: b.since})
		}
	}
	return records
}
