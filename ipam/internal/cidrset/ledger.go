package cidrset

import (
	"fmt"
	"net/netip"
	"slices"
)

// Ledger is a CIDRSet for CIDRs that have holders: the same CIDR, or overlapping ones, may be claimed several times,
// and a block is free again when the last claim that shares an address with it is returned. It is not safe for
// concurrent use.
type Ledger struct {
	set *CIDRSet
	// exact counts the claims of a whole block, by block. It is apart from small because nearly every claim is one.
	exact map[uint64]uint32
	// small are the claims inside one block, wide those of several, in no order: service ranges, and nodes from before a
	// change of the node mask.
	small map[uint64][]netip.Prefix
	wide  []netip.Prefix
}

// NewLedger is NewCIDRSet for claims.
func NewLedger(cluster netip.Prefix, nodeMaskSize int, opts ...Option) (*Ledger, error) {
	set, err := NewCIDRSet(cluster, nodeMaskSize, opts...)
	if err != nil {
		return nil, err
	}
	return &Ledger{set: set, exact: make(map[uint64]uint32), small: make(map[uint64][]netip.Prefix)}, nil
}

// ClusterCIDR is the range that blocks are cut from, masked.
func (l *Ledger) ClusterCIDR() netip.Prefix { return l.set.cluster }

// NodeMaskSize is the length of each block.
func (l *Ledger) NodeMaskSize() int { return l.set.mask }

// MaxCIDRs is how many blocks there are, Free how many of them nobody claims.
func (l *Ledger) MaxCIDRs() uint64 { return l.set.MaxCIDRs() }

// Free is how many blocks AllocateNext could give.
func (l *Ledger) Free() uint64 { return l.set.Free() }

// Metrics are the figures of the set below.
func (l *Ledger) Metrics() Metrics { return l.set.Metrics() }

// Full is the error of AllocateNext when no block is free.
func (l *Ledger) Full() error { return l.set.full }

// AllocateNext claims the next block that nobody claims, or fails with ErrCIDRRangeNoCIDRsRemaining.
func (l *Ledger) AllocateNext() (netip.Prefix, error) {
	i, ok := l.set.allocate()
	if !ok {
		return netip.Prefix{}, l.set.full
	}
	l.exact[i] = 1
	return l.set.block(i), nil
}

// Claim adds a claim. The error wraps ErrOutOfRange.
func (l *Ledger) Claim(cidr netip.Prefix) error {
	cidr, first, last, err := l.set.span(cidr)
	if err != nil {
		return err
	}
	switch {
	case first != last:
		l.wide = append(l.wide, cidr)
	case cidr.Bits() > l.set.mask:
		l.small[first] = append(l.small[first], cidr)
	default:
		l.exact[first]++
	}
	l.set.setRange(first, last)
	return nil
}

// Claims is how many claims share an address with cidr. It costs the number of all claims when cidr spans several
// blocks.
func (l *Ledger) Claims(cidr netip.Prefix) (n int) {
	cidr, first, last, err := l.set.span(cidr)
	if err != nil {
		return 0
	}
	for _, w := range l.wide {
		if w.Overlaps(cidr) {
			n++
		}
	}
	if first == last {
		return n + int(l.exact[first]) + overlaps(l.small[first], cidr)
	}
	for i, count := range l.exact { // in any order: a sum
		if first <= i && i <= last {
			n += int(count)
		}
	}
	for i, list := range l.small { // in any order: a sum
		if first <= i && i <= last {
			n += len(list)
		}
	}
	return n
}

func overlaps(list []netip.Prefix, cidr netip.Prefix) (n int) {
	for _, p := range list {
		if p.Overlaps(cidr) {
			n++
		}
	}
	return n
}

// Return ends one claim of exactly cidr and reports how many blocks became free; an error says that there is no such
// claim.
func (l *Ledger) Return(cidr netip.Prefix) (freed uint64, err error) {
	cidr, first, last, err := l.set.span(cidr)
	if err != nil {
		return 0, err
	}
	switch {
	case first != last:
		var ok bool
		if l.wide, ok = without(l.wide, cidr); !ok {
			return 0, l.unclaimed(cidr)
		}
		return l.recount(first, last), nil
	case cidr.Bits() > l.set.mask:
		rest, ok := without(l.small[first], cidr)
		if !ok {
			return 0, l.unclaimed(cidr)
		}
		if l.small[first] = rest; len(rest) == 0 {
			delete(l.small, first)
		}
	case l.exact[first] > 1:
		l.exact[first]--
	case l.exact[first] == 1:
		delete(l.exact, first)
	default:
		return 0, l.unclaimed(cidr)
	}
	if l.needed(first) {
		return 0, nil
	}
	// a block that is claimed and not taken was anybody's, one that stays taken is lost
	if l.set.clearRange(first, first) != 1 {
		panic(fmt.Sprintf("cidrset: %s was claimed, and its block of %s is not taken", cidr, l.set.cluster))
	}
	return 1, nil
}

func (l *Ledger) unclaimed(cidr netip.Prefix) error {
	return fmt.Errorf("cidr %s is not claimed in %s", cidr, l.set.cluster)
}

// needed reports whether some claim shares an address with block i.
func (l *Ledger) needed(i uint64) bool {
	return l.exact[i] > 0 || len(l.small) > 0 && len(l.small[i]) > 0 ||
		len(l.wide) > 0 && slices.ContainsFunc(l.wide, l.set.block(i).Overlaps)
}

// recount works blocks first..last out anew and returns how many became free.
func (l *Ledger) recount(first, last uint64) uint64 {
	before := l.set.taken.Count()
	if n := l.set.taken.ClearRange(first, last); n != last-first+1 {
		panic(fmt.Sprintf("cidrset: of blocks %d to %d of %s, which were claimed, %d are taken", first, last, l.set.cluster, n))
	}
	for _, w := range l.wide {
		if from, to, err := l.set.Indices(w); err == nil && from <= last && first <= to {
			l.set.taken.SetRange(max(from, first), min(to, last))
		}
	}
	for i := range l.exact { // in any order: each sets its own bit
		if first <= i && i <= last {
			l.set.taken.Set(i)
		}
	}
	for i := range l.small { // in any order: each sets its own bit
		if first <= i && i <= last {
			l.set.taken.Set(i)
		}
	}
	return before - l.set.taken.Count()
}

// without takes one p out of a list whose order does not matter.
func without(list []netip.Prefix, p netip.Prefix) ([]netip.Prefix, bool) {
	i := slices.Index(list, p)
	if i < 0 {
		return list, false
	}
	list[i] = list[len(list)-1]
	return list[:len(list)-1], true
}
