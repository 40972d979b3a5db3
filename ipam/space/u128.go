package space

import (
	"encoding/binary"
	"math/bits"
	"net/netip"
)

// u128 is an unsigned 128-bit number: an address, or a distance between two.
type u128 struct{ hi, lo uint64 }

func (a u128) sub(b u128) u128 {
	lo, c := bits.Sub64(a.lo, b.lo, 0)
	hi, _ := bits.Sub64(a.hi, b.hi, c)
	return u128{hi, lo}
}

func (a u128) less(b u128) bool { return a.hi < b.hi || a.hi == b.hi && a.lo < b.lo }

func (a u128) or(b u128) u128 { return u128{a.hi | b.hi, a.lo | b.lo} }

// shl shifts left; n of 128 and more gives 0.
func (a u128) shl(n int) u128 {
	if n >= 64 {
		return u128{a.lo << (n - 64), 0}
	}
	return u128{a.hi<<n | a.lo>>(64-n), a.lo << n}
}

// shr shifts right; n of 128 and more gives 0.
func (a u128) shr(n int) u128 {
	if n >= 64 {
		return u128{0, a.hi >> (n - 64)}
	}
	return u128{a.hi >> n, a.lo>>n | a.hi<<(64-n)}
}

// lowBits is 2^n - 1 for n in 0..128.
func lowBits(n int) u128 {
	if n >= 64 {
		return u128{1<<(n-64) - 1, ^uint64(0)}
	}
	return u128{0, 1<<n - 1}
}

// number reads an unmapped address; IPv4 uses the low 32 bits.
func number(a netip.Addr) u128 {
	if a.Is4() {
		b := a.As4()
		return u128{0, uint64(binary.BigEndian.Uint32(b[:]))}
	}
	b := a.As16()
	return u128{binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])}
}

// address writes a number back as an address of width 32 or 128 bits. The number must fit.
func address(n u128, width int) netip.Addr {
	if width == 32 {
		var b [4]byte
		binary.BigEndian.PutUint32(b[:], uint32(n.lo))
		return netip.AddrFrom4(b)
	}
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], n.hi)
	binary.BigEndian.PutUint64(b[8:], n.lo)
	return netip.AddrFrom16(b)
}
