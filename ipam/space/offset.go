package space

import (
	"fmt"
	"net/netip"
)

// Add is the address n above a. The error wraps ErrOutside past the last address of the family; a 4-in-6 form is IPv4.
func Add(a netip.Addr, n uint64) (netip.Addr, error) {
	a = NormalAddr(a)
	if !a.IsValid() {
		return netip.Addr{}, fmt.Errorf("address %s: %w", a, errInvalid)
	}
	base := number(a)
	sum := base.sub(u128{0, 0}.sub(u128{0, n}))
	if sum.less(base) || a.Is4() && (sum.hi != 0 || sum.lo>>32 != 0) {
		return netip.Addr{}, fmt.Errorf("%s and %d: %w", a, n, ErrOutside)
	}
	return address(sum, a.BitLen()), nil
}

// Distance is how far to is above from; false when it is below, of another family, or further than 64 bits tell.
func Distance(from, to netip.Addr) (uint64, bool) {
	from, to = NormalAddr(from), NormalAddr(to)
	if !from.IsValid() || from.BitLen() != to.BitLen() || to.Less(from) {
		return 0, false
	}
	d := number(to).sub(number(from))
	return d.lo, d.hi == 0
}
