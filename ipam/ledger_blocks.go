package ipam

import (
	"fmt"
	"iter"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// SetBlocks implements NodeAllocator. It refuses, and changes nothing, when two prefixes overlap or the policy refuses
// one.
func (l *Ledger[T]) SetBlocks(now time.Time, prefixes []netip.Prefix) ([]Record, error) {
	l.saw(now)
	at := exact(now)
	wanted, named := make([]*HeldBlock[T], len(prefixes)), make(map[*HeldBlock[T]]bool, len(prefixes))
	for i, p := range prefixes {
		b, err := l.known(at, p)
		if err != nil {
			return nil, err
		}
		wanted[i], named[b] = b, true
	}
	sorted := slices.SortedFunc(slices.Values(wanted), comparePrefix)
	for i := 1; i < len(sorted); i++ {
		if sorted[i-1].Prefix.Overlaps(sorted[i].Prefix) {
			return nil, fmt.Errorf("block %s overlaps %s", sorted[i].Prefix, sorted[i-1].Prefix)
		}
	}
	// What has no leases and is not wanted is gone before the new blocks come.
	stay := func(yield func(*HeldBlock[T]) bool) {
		for _, b := range l.held {
			if (b.leases > 0 || named[b]) && !yield(b) {
				return
			}
		}
	}
	for _, b := range wanted {
		if b.id == noEntry {
			if err := l.policy.Admit(b, stay, netip.Addr{}); err != nil {
				return nil, err
			}
		}
	}
	// What is active already in the wanted order needs no word; from the first difference on, each is named again.
	same := 0
	for same < len(l.active) && same < len(wanted) && l.active[same] == wanted[same] {
		same++
	}
	records := l.retire(at, named)
	for _, b := range wanted[same:] {
		l.activate(at, b)
		records = append(records, Record{Op: OpBlock, Addr: b.Gateway, Prefix: b.Prefix, At: at})
	}
	l.active, l.sorted = wanted, sorted
	l.policy.Arranged(same)
	return records, nil
}

// known is the block of a prefix, a new one if none is held.
func (l *Ledger[T]) known(at time.Time, p netip.Prefix) (*HeldBlock[T], error) {
	normal := space.Normal(p)
	if !normal.IsValid() {
		return nil, fmt.Errorf("block %s is not valid", p)
	}
	if b := l.block(normal); b != nil {
		return b, nil
	}
	b := &HeldBlock[T]{Prefix: normal, id: noEntry, since: at}
	if err := l.policy.Shape(b); err != nil {
		return nil, fmt.Errorf("block %s: %w", p, err)
	}
	return b, nil
}

// retire drains held blocks that are not wanted, and drops those without leases.
func (l *Ledger[T]) retire(at time.Time, wanted map[*HeldBlock[T]]bool) (records []Record) {
	for _, b := range slices.Clone(l.held) {
		switch {
		case wanted[b]:
		case b.leases == 0:
			l.drop(b)
			records = append(records, Record{Op: OpDrop, Prefix: b.Prefix, At: at})
		case !b.draining:
			l.drain(at, b)
			records = append(records, Record{Op: OpDrain, Prefix: b.Prefix, At: at})
		}
	}
	return records
}

// activate makes b held and not draining. Callers put it among the active blocks.
func (l *Ledger[T]) activate(at time.Time, b *HeldBlock[T]) {
	if b.id == noEntry {
		for l.freeID < len(l.byID) && l.byID[l.freeID] != nil {
			l.freeID++
		}
		if l.freeID == len(l.byID) {
			l.byID = append(l.byID, nil)
		}
		b.id = uint32(l.freeID)
		l.byID[b.id] = b
		at, _ := slices.BinarySearchFunc(l.held, b, comparePrefix)
		l.held = slices.Insert(l.held, at, b)
		l.overlapping = l.overlapping || at > 0 && overlap(l.held[at-1:at+1]) || at+1 < len(l.held) && overlap(l.held[at:at+2])
		l.policy.Added(b)
	}
	if b.draining {
		b.draining, b.since = false, at
	}
}

func (l *Ledger[T]) drain(at time.Time, b *HeldBlock[T]) {
	l.deactivate(b)
	b.draining, b.drained = true, at
}

// deactivate takes b out of the active blocks, and returns where it was among them, or how many there are.
func (l *Ledger[T]) deactivate(b *HeldBlock[T]) int {
	at := slices.Index(l.active, b)
	if at < 0 {
		return len(l.active)
	}
	l.active = slices.Delete(l.active, at, at+1)
	i, _ := slices.BinarySearchFunc(l.sorted, b, comparePrefix)
	l.sorted = slices.Delete(l.sorted, i, i+1)
	return at
}

// drop forgets a block without leases.
func (l *Ledger[T]) drop(b *HeldBlock[T]) {
	l.deactivate(b)
	l.byID[b.id] = nil
	l.freeID = min(l.freeID, int(b.id))
	i, _ := slices.BinarySearchFunc(l.held, b, comparePrefix)
	l.held = slices.Delete(l.held, i, i+1)
	l.overlapping = l.overlapping && overlap(l.held)
	l.policy.Dropped(b)
}

func comparePrefix[T any](x, y *HeldBlock[T]) int { return x.Prefix.Compare(y.Prefix) }

// overlap reports whether any blocks of an ascending list share addresses: then two neighbours do.
func overlap[T any](sorted []*HeldBlock[T]) bool {
	for i := 1; i < len(sorted); i++ {
		if sorted[i-1].Prefix.Overlaps(sorted[i].Prefix) {
			return true
		}
	}
	return false
}

// block is the held block of exactly that prefix, nil when there is none.
func (l *Ledger[T]) block(p netip.Prefix) *HeldBlock[T] {
	if len(l.held) > 0 && l.held[0].Prefix == p {
		return l.held[0]
	}
	i, ok := slices.BinarySearchFunc(l.held, p, func(b *HeldBlock[T], p netip.Prefix) int { return b.Prefix.Compare(p) })
	if !ok {
		return nil
	}
	return l.held[i]
}

// Blocks implements NodeAllocator.
func (l *Ledger[T]) Blocks() []Block {
	var blocks []Block
	for _, b := range l.active {
		blocks = append(blocks, b.public())
	}
	for _, b := range l.held {
		if b.draining {
			blocks = append(blocks, b.public())
		}
	}
	return blocks
}

func (b *HeldBlock[T]) public() Block {
	return Block{Prefix: b.Prefix, Gateway: b.Gateway, Draining: b.draining}
}

// Active are the blocks that new picks come from, in SetBlocks order; the slice is the ledger's own.
func (l *Ledger[T]) Active() []*HeldBlock[T] { return l.active }

// Held are all blocks in ascending order; the slice is the ledger's own.
func (l *Ledger[T]) Held() []*HeldBlock[T] { return l.held }

// HeldAt yields the held blocks that contain addr.
func (l *Ledger[T]) HeldAt(addr netip.Addr) iter.Seq[*HeldBlock[T]] {
	return func(yield func(*HeldBlock[T]) bool) {
		for _, b := range l.held {
			if b.Prefix.Contains(addr) && !yield(b) {
				return
			}
		}
	}
}

// ActiveAt is the active block that contains addr, nil when there is none.
func (l *Ledger[T]) ActiveAt(addr netip.Addr) *HeldBlock[T] {
	if len(l.sorted) == 1 && l.sorted[0].Prefix.Contains(addr) {
		return l.sorted[0]
	}
	i, found := slices.BinarySearchFunc(l.sorted, addr, func(b *HeldBlock[T], a netip.Addr) int { return b.Prefix.Addr().Compare(a) })
	if !found {
		i--
	}
	if i < 0 || !l.sorted[i].Prefix.Contains(addr) {
		return nil
	}
	return l.sorted[i]
}

// Overlapping reports whether some held blocks share addresses.
func (l *Ledger[T]) Overlapping() bool { return l.overlapping }

// describe names the active blocks for errors.
func (l *Ledger[T]) describe() string {
	if len(l.active) == 1 {
		return l.active[0].Prefix.String()
	}
	return fmt.Sprintf("%d blocks from %s on", len(l.active), l.active[0].Prefix)
}
