package audit

import (
	"net/netip"
	"slices"
)

// index finds the ranges that contain an address in as many steps as there are lengths of prefixes.
type index struct {
	// bits are the lengths that occur, IPv4's and IPv6's.
	four, six []int
	at        map[netip.Prefix][]int32
}

// add takes the range of a number.
func (x *index) add(p netip.Prefix, number int) {
	if x.at == nil {
		x.at = map[netip.Prefix][]int32{}
	}
	bits := &x.six
	if p.Addr().Is4() {
		bits = &x.four
	}
	if i, known := slices.BinarySearch(*bits, p.Bits()); !known {
		*bits = slices.Insert(*bits, i, p.Bits())
	}
	x.at[p] = append(x.at[p], int32(number))
}

// containing gives the numbers of the ranges that have an address, shortest prefix first, until yield says enough.
func (x *index) containing(a netip.Addr, yield func(number int) bool) {
	bits := x.six
	if a.Is4() {
		bits = x.four
	}
	for _, b := range bits {
		p, err := a.Prefix(b)
		if err != nil {
			continue // of an address with a zone
		}
		for _, n := range x.at[p] {
			if !yield(int(n)) {
				return
			}
		}
	}
}
