package space

import (
	"fmt"
	"iter"
	"net/netip"
)

// subnetBitsMax bounds how often Subnets splits a prefix, so that a subnet's number fits 64 bits with room to count.
const subnetBitsMax = 63

// Subnets is a set of equally long subnets of one prefix, as a cluster hands them to nodes. Allocate goes on behind the
// subnet given last and wraps.
type Subnets struct {
	prefix netip.Prefix
	base   u128
	width  int
	bits   int
	taken  Bitmap
	cursor uint64
}

// NewSubnets returns the set of length-bits subnets of prefix, none taken.
func NewSubnets(prefix netip.Prefix, bits int) (*Subnets, error) {
	p := Normal(prefix)
	if err := splittable(p, bits); err != nil {
		return nil, err
	}
	if bits-p.Bits() > subnetBitsMax {
		return nil, fmt.Errorf("subnets of length %d in %s: more than 2^%d", bits, p, subnetBitsMax)
	}
	return &Subnets{
		prefix: p,
		base:   number(p.Addr()),
		width:  p.Addr().BitLen(),
		bits:   bits,
		taken:  *NewBitmap(SubnetCount(p, bits)),
	}, nil
}

// Prefix is the prefix that the subnets are cut from; Bits is their length.
func (s *Subnets) Prefix() netip.Prefix { return s.prefix }

// Bits is the length of each subnet.
func (s *Subnets) Bits() int { return s.bits }

// Capacity is how many subnets there are, Taken how many of them are taken.
func (s *Subnets) Capacity() uint64 { return s.taken.Size() }

// Taken is how many subnets are taken.
func (s *Subnets) Taken() uint64 { return s.taken.Count() }

// Allocate takes the next free subnet; false when all are taken.
func (s *Subnets) Allocate() (netip.Prefix, bool) {
	i, ok := s.taken.TakeNext(s.cursor)
	if !ok {
		return netip.Prefix{}, false
	}
	s.cursor = i + 1
	return s.subnet(i), true
}

// Occupy takes every subnet that shares an address with p and returns how many were free. The cursor stays.
// The error wraps ErrOutside when p and the set's prefix share nothing.
func (s *Subnets) Occupy(p netip.Prefix) (uint64, error) {
	first, last, err := s.span(p)
	if err != nil {
		return 0, err
	}
	if first == last {
		return one(s.taken.Set(first)), nil
	}
	return s.taken.SetRange(first, last), nil
}

// Release frees every subnet that shares an address with p and returns how many were taken. The cursor stays.
func (s *Subnets) Release(p netip.Prefix) (uint64, error) {
	first, last, err := s.span(p)
	if err != nil {
		return 0, err
	}
	if first == last {
		return one(s.taken.Clear(first)), nil
	}
	return s.taken.ClearRange(first, last), nil
}

// Has reports whether every subnet that shares an address with p is taken; false outside.
func (s *Subnets) Has(p netip.Prefix) bool {
	first, last, err := s.span(p)
	if err != nil {
		return false
	}
	free, ok := s.taken.NextClear(first)
	return !ok || free > last
}

// All yields the taken subnets in ascending order.
func (s *Subnets) All() iter.Seq[netip.Prefix] {
	return func(yield func(netip.Prefix) bool) {
		for i, ok := s.taken.NextSet(0); ok && yield(s.subnet(i)); {
			i, ok = s.taken.NextSet(i + 1)
		}
	}
}

// span is the numbers of the first and the last subnet that share an address with p.
func (s *Subnets) span(p netip.Prefix) (first, last uint64, err error) {
	p = Normal(p)
	if !p.IsValid() || !p.Overlaps(s.prefix) {
		return 0, 0, fmt.Errorf("subnet %s of %s: %w", p, s.prefix, ErrOutside)
	}
	if p.Bits() <= s.prefix.Bits() {
		return 0, s.taken.Size() - 1, nil
	}
	start := number(p.Addr()).sub(s.base)
	host := s.width - s.bits
	end := start.or(lowBits(s.width - p.Bits()))
	return start.shr(host).lo, end.shr(host).lo, nil
}

func (s *Subnets) subnet(i uint64) netip.Prefix {
	return netip.PrefixFrom(address(s.base.or(u128{0, i}.shl(s.width-s.bits)), s.width), s.bits)
}

func one(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
