package vppmodel

import (
	"cmp"
	"encoding/binary"
	"net/netip"

	"go.fd.io/govpp/binapi/ip_types"
)

// family is 0 for IPv4, 1 for IPv6; it indexes the pairs of things that VPP has one of per family.
type family uint8

const (
	v4 family = iota
	v6
)

var families = [2]family{v4, v6}

// bits is the length of the family's addresses.
func (f family) bits() uint8 {
	if f == v6 {
		return 128
	}
	return 32
}

func (f family) String() string {
	if f == v6 {
		return "ipv6"
	}
	return "ipv4"
}

func (f family) api() ip_types.AddressFamily { return ip_types.AddressFamily(f) }

func familyOf(isIPv6 bool) family {
	if isIPv6 {
		return v6
	}
	return v4
}

// addr is an address of either family without a pointer, so that tables of millions need no scanning. IPv4 addresses
// occupy the upper half of hi: prefix lengths count from the same end in both families.
type addr struct{ hi, lo uint64 }

func addrOf(f family, b [16]byte) addr {
	if f == v4 {
		return addr{hi: uint64(binary.BigEndian.Uint32(b[:4])) << 32}
	}
	return addr{hi: binary.BigEndian.Uint64(b[:8]), lo: binary.BigEndian.Uint64(b[8:])}
}

func addrOfIP4(b ip_types.IP4Address) addr {
	return addr{hi: uint64(binary.BigEndian.Uint32(b[:])) << 32}
}

// decode takes an address from a message. An unknown family is IPv4, as VPP's decoder has it.
func decode(a ip_types.Address) (family, addr) {
	f := familyOf(a.Af == ip_types.ADDRESS_IP6)
	return f, addrOf(f, a.Un.XXX_UnionData)
}

func addrOfNetip(a netip.Addr) (family, addr) {
	if a.Is4() {
		return v4, addr{hi: uint64(binary.BigEndian.Uint32(a.AsSlice())) << 32}
	}
	return v6, addrOf(v6, a.As16())
}

func (a addr) bytes(f family) (b [16]byte) {
	if f == v4 {
		binary.BigEndian.PutUint32(b[:4], uint32(a.hi>>32))
		return b
	}
	binary.BigEndian.PutUint64(b[:8], a.hi)
	binary.BigEndian.PutUint64(b[8:], a.lo)
	return b
}

func (a addr) union(f family) ip_types.AddressUnion {
	return ip_types.AddressUnion{XXX_UnionData: a.bytes(f)}
}

func (a addr) api(f family) ip_types.Address { return ip_types.Address{Af: f.api(), Un: a.union(f)} }

func (a addr) netip(f family) netip.Addr {
	if f == v4 {
		h := uint32(a.hi >> 32)
		return netip.AddrFrom4([4]byte{byte(h >> 24), byte(h >> 16), byte(h >> 8), byte(h)})
	}
	return netip.AddrFrom16(a.bytes(v6))
}

func (a addr) isZero() bool { return a == addr{} }

func (a addr) compare(b addr) int {
	if c := cmp.Compare(a.hi, b.hi); c != 0 {
		return c
	}
	return cmp.Compare(a.lo, b.lo)
}

// mask clears everything after the first n bits.
func (a addr) mask(n uint8) addr {
	if n <= 64 {
		return addr{hi: a.hi & (^uint64(0) << (64 - n))}
	}
	return addr{hi: a.hi, lo: a.lo & (^uint64(0) << (128 - n))}
}

// last sets everything after the first n bits of an address of the family.
func (a addr) last(f family, n uint8) addr {
	if f == v4 {
		return addr{hi: a.hi | 0xffffffff<<32&^(^uint64(0)<<(64-n))}
	}
	if n <= 64 {
		return addr{hi: a.hi | ^(^uint64(0) << (64 - n)), lo: ^uint64(0)}
	}
	return addr{hi: a.hi, lo: a.lo | ^(^uint64(0) << (128 - n))}
}

// isMulticast is about the family's multicast range.
func (a addr) isMulticast(f family) bool {
	if f == v4 {
		return a.hi>>60 == 0xe
	}
	return a.hi>>56 == 0xff
}

func (a addr) isLinkLocal(f family) bool { return f == v6 && a.hi>>54 == 0xfe80>>6 }

// prefix is a masked address with its length.
type prefix struct {
	addr
	bits uint8
}

func (p prefix) compare(q prefix) int {
	if c := p.addr.compare(q.addr); c != 0 {
		return c
	}
	return cmp.Compare(p.bits, q.bits)
}

func (p prefix) netip(f family) netip.Prefix { return netip.PrefixFrom(p.addr.netip(f), int(p.bits)) }

func (p prefix) api(f family) ip_types.Prefix {
	return ip_types.Prefix{Address: p.addr.api(f), Len: p.bits}
}

// mac is an Ethernet address.
type mac [6]byte

const hexDigits = "0123456789abcdef"

func (m mac) appendText(b []byte) []byte {
	for i, x := range m {
		if i > 0 {
			b = append(b, ':')
		}
		b = append(b, hexDigits[x>>4], hexDigits[x&15])
	}
	return b
}
