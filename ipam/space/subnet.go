package space

import (
	"fmt"
	"net/netip"
)

// SubnetCount is how many prefixes of length bits fit into p, at most 2^64-1; 0 when bits is shorter than p or too
// long.
func SubnetCount(p netip.Prefix, bits int) uint64 {
	p = Normal(p)
	if !p.IsValid() || bits < p.Bits() || bits > p.Addr().BitLen() {
		return 0
	}
	return pow2(bits - p.Bits())
}

// Subnet is the n-th prefix of length bits in p, counted from 0.
func Subnet(p netip.Prefix, bits int, n uint64) (netip.Prefix, error) {
	p = Normal(p)
	if err := splittable(p, bits); err != nil {
		return netip.Prefix{}, err
	}
	if split := bits - p.Bits(); split < 64 && n>>split != 0 {
		return netip.Prefix{}, fmt.Errorf("subnet %d of length %d in %s: %w", n, bits, p, ErrOutside)
	}
	width := p.Addr().BitLen()
	base := number(p.Addr()).or(u128{0, n}.shl(width - bits))
	return netip.PrefixFrom(address(base, width), bits), nil
}

// SubnetIndex is the number of the length-bits subnet of p that a lies in.
func SubnetIndex(p netip.Prefix, bits int, a netip.Addr) (uint64, error) {
	p, a = Normal(p), NormalAddr(a)
	if err := splittable(p, bits); err != nil {
		return 0, err
	}
	if !p.Contains(a) {
		return 0, fmt.Errorf("address %s in %s: %w", a, p, ErrOutside)
	}
	d := number(a).sub(number(p.Addr())).shr(p.Addr().BitLen() - bits)
	if d.hi != 0 {
		return 0, fmt.Errorf("address %s in %s: subnet number needs more than 64 bits", a, p)
	}
	return d.lo, nil
}

func splittable(p netip.Prefix, bits int) error {
	switch {
	case !p.IsValid():
		return errInvalid
	case bits < p.Bits() || bits > p.Addr().BitLen():
		return fmt.Errorf("prefix length %d does not split %s", bits, p)
	}
	return nil
}
