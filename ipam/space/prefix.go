package space

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net/netip"
)

// ErrOutside says that an index, address or subnet does not lie in the prefix it was asked of. It comes wrapped.
var ErrOutside = errors.New("outside the prefix")

// errInvalid says that a prefix is the zero Prefix.
var errInvalid = errors.New("prefix is not valid")

// Normal is the form in which prefixes compare by value: masked, 4-in-6 as IPv4. The zero Prefix stays itself.
func Normal(p netip.Prefix) netip.Prefix {
	p = p.Masked()
	if p.Addr().Is4In6() {
		// Masking has kept the 96 bits that make the form, so Bits is at least 96.
		return netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	return p
}

// NormalAddr is the form in which addresses compare by value: 4-in-6 as IPv4, without a zone.
func NormalAddr(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

// ParsePrefix reads "10.1.2.3/16" into its normal form 10.1.0.0/16: host bits in the text are dropped.
func ParsePrefix(text string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return netip.Prefix{}, err
	}
	return Normal(p), nil
}

// HostBits is how many bits p leaves to hosts, 0 for the zero Prefix.
func HostBits(p netip.Prefix) int {
	p = Normal(p)
	if !p.IsValid() {
		return 0
	}
	return p.Addr().BitLen() - p.Bits()
}

// Count is how many addresses p has, at most 2^64-1, 0 for the zero Prefix.
func Count(p netip.Prefix) uint64 {
	if !p.IsValid() {
		return 0
	}
	return pow2(HostBits(p))
}

// pow2 is 2^n, saturating.
func pow2(n int) uint64 {
	if n > 63 {
		return math.MaxUint64
	}
	return 1 << n
}

// Nth is the address of index n in p, counted from the network address 0.
func Nth(p netip.Prefix, n uint64) (netip.Addr, error) {
	p = Normal(p)
	host, err := hostBits(p)
	if err != nil {
		return netip.Addr{}, err
	}
	if host < 64 && n>>host != 0 {
		return netip.Addr{}, fmt.Errorf("index %d of %s: %w", n, p, ErrOutside)
	}
	return address(number(p.Addr()).or(u128{0, n}), p.Addr().BitLen()), nil
}

// NthLast is the address n below the last one of p: 0 is the last, which IPv4 calls broadcast.
func NthLast(p netip.Prefix, n uint64) (netip.Addr, error) {
	p = Normal(p)
	host, err := hostBits(p)
	if err != nil {
		return netip.Addr{}, err
	}
	if host < 64 && n>>host != 0 {
		return netip.Addr{}, fmt.Errorf("index %d from the end of %s: %w", n, p, ErrOutside)
	}
	last := number(p.Addr()).or(lowBits(host))
	return address(last.sub(u128{0, n}), p.Addr().BitLen()), nil
}

// Index is the inverse of Nth. It is false when a is not in p or its index needs more than 64 bits. A 4-in-6 form is
// IPv4 and so in no IPv6 prefix, not even in ::/0.
func Index(p netip.Prefix, a netip.Addr) (uint64, bool) {
	if base := p.Addr(); base.Is4() && a.Is4() {
		x, y := base.As4(), a.As4()
		host := uint32(1)<<(32-p.Bits()) - 1 // a shift by 32 gives 0, and so all ones
		n := binary.BigEndian.Uint32(y[:])
		return uint64(n & host), (binary.BigEndian.Uint32(x[:])^n)&^host == 0 && p.IsValid()
	}
	p, a = Normal(p), NormalAddr(a)
	if !p.Contains(a) {
		return 0, false
	}
	d := number(a).sub(number(p.Addr()))
	return d.lo, d.hi == 0
}

// First is the network address of p, Last the highest one; both are the zero Addr for the zero Prefix.
func First(p netip.Prefix) netip.Addr { return Normal(p).Addr() }

// Last is the highest address of p.
func Last(p netip.Prefix) netip.Addr {
	a, err := NthLast(p, 0)
	if err != nil {
		return netip.Addr{}
	}
	return a
}

// Contains reports whether every address of inner is in outer. Families never contain each other.
func Contains(outer, inner netip.Prefix) bool {
	outer, inner = Normal(outer), Normal(inner)
	return outer.IsValid() && inner.IsValid() && outer.Bits() <= inner.Bits() && outer.Contains(inner.Addr())
}

// Overlap reports whether a and b share an address; 4-in-6 forms are compared as IPv4.
func Overlap(a, b netip.Prefix) bool { return Normal(a).Overlaps(Normal(b)) }

func hostBits(p netip.Prefix) (int, error) {
	if !p.IsValid() {
		return 0, errInvalid
	}
	return p.Addr().BitLen() - p.Bits(), nil
}
