package hostmodel

import (
	"encoding/binary"
	"net/netip"
)

// key is a destination in a form that is compared and masked in a few instructions. An IPv4 address stands in the upper
// half of hi.
type key struct {
	// rank orders lengths: IPv4 from 32 bits (0) to none (32), then IPv6 from 128 bits (33) to none (161).
	rank   uint8
	hi, lo uint64
}

const (
	rankIPv4Last  = 32
	rankIPv6First = rankIPv4Last + 1
	rankIPv6Last  = rankIPv6First + 128
)

// keyOf is the key of an address' first bits; those behind must be zero unless they are all kept.
func keyOf(a netip.Addr, bits int) key {
	if a.Is4() {
		b := a.As4()
		return key{rank: uint8(rankIPv4Last - bits), hi: uint64(binary.BigEndian.Uint32(b[:])) << 32}
	}
	b := a.As16()
	return key{rank: uint8(rankIPv6Last - bits), hi: binary.BigEndian.Uint64(b[:]), lo: binary.BigEndian.Uint64(b[8:])}
}

func (k key) before(x key) bool {
	if k.rank != x.rank {
		return k.rank < x.rank
	}
	return k.hi < x.hi || k.hi == x.hi && k.lo < x.lo
}

// shortened keeps as many bits of k as that rank of the same family has.
func (k key) shortened(rank uint8) key {
	hi, lo := masks(rank)
	return key{rank: rank, hi: k.hi & hi, lo: k.lo & lo}
}

// contains reports whether the address with key x, all bits kept, lies in the destination k.
func (k *key) contains(x key) bool {
	if (k.rank > rankIPv4Last) != (x.rank > rankIPv4Last) {
		return false
	}
	hi, lo := masks(k.rank)
	return (k.hi^x.hi)&hi == 0 && (k.lo^x.lo)&lo == 0
}

// masks are the bits that a rank keeps. Go defines a shift by 64 or more as 0.
func masks(rank uint8) (hi, lo uint64) {
	if rank <= rankIPv4Last {
		return ^uint64(0) << (64 - uint(rankIPv4Last-rank)), 0
	}
	bits := uint(rankIPv6Last - rank)
	if bits <= 64 {
		return ^uint64(0) << (64 - bits), 0
	}
	return ^uint64(0), ^uint64(0) << (128 - bits)
}
