package cidrset

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// occupyPart occupies a piece of block i.
func (s *CIDRSet) occupyPart(i uint64, piece netip.Prefix) {
	if !s.taken.Set(i) && s.parts[i] == nil {
		return // as a whole already
	}
	if s.parts[i] == nil {
		s.tally.occupied++
	}
	list := append(cut(s.parts[i], piece), piece)
	slices.SortFunc(list, netip.Prefix.Compare)
	s.keepParts(i, join(list))
}

// releasePart frees a piece of block i.
func (s *CIDRSet) releasePart(i uint64, piece netip.Prefix) {
	if !s.taken.Test(i) {
		return
	}
	list := s.parts[i]
	if list == nil {
		list = []netip.Prefix{s.block(i)}
	}
	if list = cut(list, piece); len(list) > 0 {
		s.keepParts(i, list)
		return
	}
	delete(s.parts, i)
	s.clearRange(i, i)
}

// keepParts notes what is occupied of block i; the whole block needs no note.
func (s *CIDRSet) keepParts(i uint64, list []netip.Prefix) {
	if len(list) == 1 && list[0].Bits() == s.mask {
		delete(s.parts, i)
		return
	}
	if s.parts == nil {
		s.parts = make(map[uint64][]netip.Prefix)
	}
	s.parts[i] = list
}

// forgetParts drops the notes about blocks first..last: they become uniform.
func (s *CIDRSet) forgetParts(first, last uint64) {
	if len(s.parts) == 0 {
		return
	}
	if first == last {
		delete(s.parts, first)
		return
	}
	for i := range s.parts { // in any order: each is judged alone
		if first <= i && i <= last {
			delete(s.parts, i)
		}
	}
}

// cut is a new list of what is left of list without piece.
func cut(list []netip.Prefix, piece netip.Prefix) []netip.Prefix {
	left := make([]netip.Prefix, 0, len(list)+1)
	for _, p := range list {
		left = appendCut(left, p, piece)
	}
	return left
}

func appendCut(left []netip.Prefix, p, piece netip.Prefix) []netip.Prefix {
	switch {
	case !p.Overlaps(piece):
		return append(left, p)
	case piece.Bits() <= p.Bits():
		return left
	}
	for n := range uint64(2) {
		half, err := space.Subnet(p, p.Bits()+1, n)
		if err != nil {
			panic("cidrset: " + p.String() + " has no halves: " + err.Error()) // piece is longer, so it has
		}
		left = appendCut(left, half, piece)
	}
	return left
}

// join replaces neighbouring halves of a sorted, disjoint list by what they are halves of.
func join(list []netip.Prefix) []netip.Prefix {
	for i := 1; i < len(list); {
		a, b := list[i-1], list[i]
		if whole := netip.PrefixFrom(a.Addr(), a.Bits()-1).Masked(); a.Bits() == b.Bits() && whole.Contains(b.Addr()) {
			list[i-1] = whole
			list = slices.Delete(list, i, i+1)
			i = max(i-1, 1) // the whole may be half of something with its neighbour before
			continue
		}
		i++
	}
	return list
}
