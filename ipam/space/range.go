package space

import (
	"fmt"
	"math"
	"math/bits"
	"net/netip"
)

// Range is the addresses First..Last of one family, both included. The zero Range is empty.
type Range struct{ First, Last netip.Addr }

// NewRange checks that both ends are of one family and in order; 4-in-6 forms become IPv4.
func NewRange(first, last netip.Addr) (Range, error) {
	r := Range{NormalAddr(first), NormalAddr(last)}
	if !r.First.IsValid() || r.First.BitLen() != r.Last.BitLen() || r.Last.Less(r.First) {
		return Range{}, fmt.Errorf("range %s-%s: want two addresses of one family in order", first, last)
	}
	return r, nil
}

// RangeOf is every address of p, the empty Range for the zero Prefix.
func RangeOf(p netip.Prefix) Range { return Range{First(p), Last(p)} }

// String is "10.0.0.1-10.0.0.9", or "-" for the empty Range.
func (r Range) String() string {
	if r == (Range{}) {
		return "-"
	}
	return r.First.String() + "-" + r.Last.String()
}

// Count is how many addresses r has, at most 2^64-1.
func (r Range) Count() uint64 {
	if r == (Range{}) {
		return 0
	}
	n, over := number(r.Last).sub(number(r.First)).add(u128{0, 1})
	if over || n.hi != 0 {
		return math.MaxUint64
	}
	return n.lo
}

// Contains reports whether a is in r.
func (r Range) Contains(a netip.Addr) bool {
	a = NormalAddr(a)
	return r != (Range{}) && a.BitLen() == r.First.BitLen() && !a.Less(r.First) && !r.Last.Less(a)
}

// Overlaps reports whether r and s share an address.
func (r Range) Overlaps(s Range) bool {
	return r.Contains(s.First) || s.Contains(r.First)
}

// Nth is the address of index n in r.
func (r Range) Nth(n uint64) (netip.Addr, error) {
	if n >= r.Count() {
		return netip.Addr{}, fmt.Errorf("index %d of range %s: %w", n, r, ErrOutside)
	}
	sum, _ := number(r.First).add(u128{0, n})
	return address(sum, r.First.BitLen()), nil
}

// Prefixes is the shortest list of prefixes that make up r, in ascending order.
func (r Range) Prefixes() []netip.Prefix {
	if r == (Range{}) {
		return nil
	}
	var list []netip.Prefix
	width := r.First.BitLen()
	first, last := number(r.First), number(r.Last)
	for {
		// The next prefix is limited by the alignment of its first address and by what is left.
		host := min(trailingZeros(first), width)
		for host > 0 && first.or(lowBits(host)).cmp(last) > 0 {
			host--
		}
		list = append(list, netip.PrefixFrom(address(first, width), width-host))
		end := first.or(lowBits(host))
		if end.cmp(last) >= 0 {
			return list
		}
		first, _ = end.add(u128{0, 1})
	}
}

func trailingZeros(n u128) int {
	if n.lo != 0 {
		return bits.TrailingZeros64(n.lo)
	}
	return 64 + bits.TrailingZeros64(n.hi)
}
