package cidrset

import (
	"encoding/binary"
	"math/bits"
	"net/netip"
)

// quick turns whole blocks into indices and back where one 64-bit word is enough: IPv4, and IPv6 blocks of /64 and
// shorter. Everything else takes the general way through ipam/space.
type quick struct {
	works, v4 bool
	mask      int
	base      uint64 // the cluster's first address, or its upper half
	shift     int
}

func newQuick(cluster netip.Prefix, mask int) quick {
	q := quick{mask: mask, v4: cluster.Addr().Is4()}
	q.works = q.v4 || mask <= 64
	switch {
	case q.v4:
		b := cluster.Addr().As4()
		q.base, q.shift = uint64(binary.BigEndian.Uint32(b[:])), 32-mask
	case q.works:
		b := cluster.Addr().As16()
		q.base, q.shift = binary.BigEndian.Uint64(b[:8]), 64-mask
	}
	return q
}

// index is the number of a whole block counted from the base; false where the general way has to answer.
func (q *quick) index(p netip.Prefix) (uint64, bool) {
	a := p.Addr()
	if !q.works || p.Bits() != q.mask || q.v4 != a.Is4() {
		return 0, false
	}
	if q.v4 {
		return q.index4(a), true
	}
	b := a.As16()
	d, below := bits.Sub64(binary.BigEndian.Uint64(b[:8]), q.base, 0)
	return d >> q.shift, below == 0
}

// index4 is the index of the block of an IPv4 address, beyond the last block where it is outside the cluster.
func (q *quick) index4(a netip.Addr) uint64 {
	b := a.As4()
	return uint64(binary.BigEndian.Uint32(b[:])-uint32(q.base)) >> (q.shift & 63)
}

func (q *quick) block(i uint64) netip.Prefix {
	if q.v4 {
		return q.block4(i)
	}
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], q.base+i<<q.shift)
	return netip.PrefixFrom(netip.AddrFrom16(b), q.mask)
}

func (q *quick) block4(i uint64) netip.Prefix {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], uint32(q.base+i<<(q.shift&63)))
	return netip.PrefixFrom(netip.AddrFrom4(b), q.mask)
}
