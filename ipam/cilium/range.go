package cilium

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// RangeOptions sets a CIDRRange up.
type RangeOptions struct {
	// AllowFirst and AllowLast give out the first and the last address. Without them both are left out of a range with at
	// least 2 host bits; a shorter range has no address to spare and gives out all.
	AllowFirst, AllowLast bool
}

// CIDRRange gives out the addresses of one CIDR: each search starts where Pick says and goes up, with a wrap at the
// end. A released address may be given out again at once.
type CIDRRange struct {
	cidr  netip.Prefix
	skip  uint64 // addresses of cidr below the first that is given out
	size  uint64
	width int // size as Pick takes it
	v4    bool
	first uint32 // the first address that is given out, IPv4
	pick  Picker
	taken space.Bitmap // offsets from the first address
	// shut is what a search passes over, taken or excluded. Both are nil while nothing is excluded: taken says it all
	// then.
	shut, excluded *space.Bitmap
}

// NewCIDRRange returns a range in which every address is free.
func NewCIDRRange(cidr netip.Prefix, o RangeOptions, pick Picker) (*CIDRRange, error) {
	cidr = space.Normal(cidr)
	if !cidr.IsValid() {
		return nil, errors.New("range: CIDR is not valid")
	}
	if pick == nil {
		return nil, fmt.Errorf("range %s: a Picker is needed", cidr)
	}
	skip, size := usable(cidr, o)
	r := &CIDRRange{cidr: cidr, skip: skip, size: size, width: pickWidth(size), pick: pick, taken: *space.NewBitmap(size)}
	if r.v4 = cidr.Addr().Is4(); r.v4 {
		b := cidr.Addr().As4()
		r.first = binary.BigEndian.Uint32(b[:]) + uint32(skip)
	}
	return r, nil
}

// usable is how many addresses of cidr are given out, and how many below them are not.
func usable(cidr netip.Prefix, o RangeOptions) (skip, size uint64) {
	size = RangeSize(cidr)
	if space.HostBits(cidr) < 2 {
		return 0, size
	}
	if !o.AllowFirst {
		skip, size = 1, size-1
	}
	if !o.AllowLast {
		size--
	}
	return skip, size
}

// CIDR is the range's prefix in normal form.
func (r *CIDRRange) CIDR() netip.Prefix { return r.cidr }

// Base is the lowest address that is given out; Max is how many there are.
func (r *CIDRRange) Base() netip.Addr { return r.addr(0) }

// Max is how many addresses the range may give out in all, >= 1.
func (r *CIDRRange) Max() uint64 { return r.size }

// Used is how many addresses are allocated.
func (r *CIDRRange) Used() uint64 { return r.taken.Count() }

// Free is how many addresses AllocateNext could give out one after the other.
func (r *CIDRRange) Free() uint64 {
	if r.excluded != nil {
		return r.size - r.shut.Count()
	}
	return r.size - r.taken.Count()
}

// Has reports whether ip is allocated.
func (r *CIDRRange) Has(ip netip.Addr) bool {
	i, ok := r.offset(ip)
	return ok && r.taken.Test(i)
}

// Allocate takes exactly ip, even when it is excluded. The error is a NotInRangeError or ErrAllocated.
func (r *CIDRRange) Allocate(ip netip.Addr) error {
	i, ok := r.offset(ip)
	if !ok {
		return NotInRangeError{ValidRange: r.cidr}
	}
	if !r.taken.Set(i) {
		return ErrAllocated
	}
	if r.excluded != nil {
		r.shut.Set(i)
	}
	return nil
}

// AllocateNext takes a free address that is not excluded, or returns ErrFull.
func (r *CIDRRange) AllocateNext() (netip.Addr, error) {
	if r.Free() == 0 {
		return netip.Addr{}, ErrFull
	}
	from := uint64(r.pick.Pick(pickNext, r.width))
	i, ok := from, false
	if r.excluded == nil {
		i, ok = r.taken.TakeNear(from)
	}
	if !ok {
		i = r.takeFrom(from)
	}
	if r.v4 {
		return r.addr4(i), nil
	}
	return r.addr(i), nil
}

// peek finds what AllocateNext would take, with a decision of its own label; false when nothing is free.
func (r *CIDRRange) peek(label string) (netip.Addr, bool) {
	if r.Free() == 0 {
		return netip.Addr{}, false
	}
	return r.open(uint64(r.pick.Pick(label, r.width)))
}

// open is the first free address at an offset >= from, or else the first of all; false when nothing is free.
func (r *CIDRRange) open(from uint64) (netip.Addr, bool) {
	passed := &r.taken
	if r.excluded != nil {
		passed = r.shut
	}
	i, ok := passed.NextClear(from)
	if !ok {
		i, ok = passed.NextClear(0)
	}
	if !ok {
		return netip.Addr{}, false
	}
	return r.addr(i), true
}

// takeFrom takes the first offset >= from that is open, or else the first of all; there is one.
func (r *CIDRRange) takeFrom(from uint64) (i uint64) {
	if r.excluded == nil {
		i, _ = r.taken.TakeNext(from)
		return i
	}
	i, _ = r.shut.TakeNext(from)
	r.taken.Set(i)
	return i
}

// pickWidth is a size as Pick takes it; only IPv4 /0 on a 32-bit machine is cut.
func pickWidth(size uint64) int { return int(min(size, uint64(^uint(0)>>1))) }

// Release frees ip and reports whether it was allocated.
func (r *CIDRRange) Release(ip netip.Addr) bool {
	if r.v4 && r.excluded == nil && ip.Is4() {
		i := r.offset4(ip)
		return r.taken.ClearNear(i) || r.taken.Clear(i)
	}
	i, ok := r.offset(ip)
	if !ok || !r.taken.Clear(i) {
		return false
	}
	if r.excluded != nil && !r.excluded.Test(i) {
		r.shut.Clear(i)
	}
	return true
}

// Exclude keeps the addresses of p from being picked. What is allocated stays allocated, and is not picked again after
// its release.
func (r *CIDRRange) Exclude(p netip.Prefix) {
	first, last, ok := r.span(p)
	if !ok {
		return
	}
	if r.excluded == nil {
		r.excluded, r.shut = space.NewBitmap(r.size), space.NewBitmap(r.size)
		for i, ok := r.taken.NextSet(0); ok; i, ok = r.taken.NextSet(i + 1) {
			r.shut.Set(i)
		}
	}
	r.excluded.SetRange(first, last)
	r.shut.SetRange(first, last)
}

// span is the offsets that p and the range share.
func (r *CIDRRange) span(p netip.Prefix) (first, last uint64, ok bool) {
	p = space.Normal(p)
	switch {
	case !space.Overlap(p, r.cidr):
		return 0, 0, false
	case space.Contains(p, r.cidr):
		return 0, r.size - 1, true
	}
	low, ok := space.Index(r.cidr, p.Addr())
	if !ok || low >= r.skip+r.size {
		return 0, 0, false
	}
	high, ok := space.Index(r.cidr, space.Last(p))
	if !ok {
		high = ^uint64(0)
	}
	if high < r.skip {
		return 0, 0, false
	}
	return max(low, r.skip) - r.skip, min(high-r.skip, r.size-1), true
}

// All yields the allocated addresses in ascending order.
func (r *CIDRRange) All() iter.Seq[netip.Addr] {
	return func(yield func(netip.Addr) bool) {
		for i, ok := r.taken.NextSet(0); ok && yield(r.addr(i)); {
			i, ok = r.taken.NextSet(i + 1)
		}
	}
}

// ForEach calls f for every allocated address in ascending order.
func (r *CIDRRange) ForEach(f func(netip.Addr)) {
	for ip := range r.All() {
		f(ip)
	}
}

func (r *CIDRRange) offset(ip netip.Addr) (uint64, bool) {
	if r.v4 && ip.Is4() {
		i := r.offset4(ip)
		return i, i < r.size
	}
	i, ok := space.Index(r.cidr, ip)
	if !ok || i < r.skip || i-r.skip >= r.size {
		return 0, false
	}
	return i - r.skip, true
}

// offset4 is the offset of an IPv4 address, the size or more where it is not in the range.
func (r *CIDRRange) offset4(ip netip.Addr) uint64 {
	b := ip.As4()
	return uint64(binary.BigEndian.Uint32(b[:]) - r.first)
}

// addr4 is addr for IPv4.
func (r *CIDRRange) addr4(i uint64) netip.Addr {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], r.first+uint32(i))
	return netip.AddrFrom4(b)
}

func (r *CIDRRange) addr(i uint64) netip.Addr {
	if r.v4 {
		return r.addr4(i)
	}
	ip, err := space.Nth(r.cidr, r.skip+i)
	if err != nil {
		panic(fmt.Sprintf("cilium: offset %d of range %s: %v", i, r.cidr, err))
	}
	return ip
}
