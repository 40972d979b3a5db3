package cidrset

import (
	"encoding/binary"
	"math/bits"
	"net/netip"
)

// quick turns whole blocks into indices and back where one 64-bit word is enough: IPv4, and IPv6 blocks of /64 and shorter.
// It halves the time of a pick and a release; everything else takes the general way through ipam/space.
type quick struct {
	works bool
	v6    bool
	mask  int
	base  uint64 // the cluster's first address, or its upper half
	shift int
}

func newQuick(cluster netip.Prefix, mask int) quick {
	q := quick{mask: mask, v6: cluster.Addr().Is6()}
	q.works = !q.v6 || mask <= 64
	if q.works {
		q.base, q.shift = q.word(cluster.Addr()), 32-mask
		if q.v6 {
			q.shift = 64 - mask
		}
	}
	return q
}

// word is an IPv4 address, or the upper half of an IPv6 one.
func (q *quick) word(a netip.Addr) uint64 {
	if q.v6 {
		b := a.As16()
		return binary.BigEndian.Uint64(b[:8])
	}
	b := a.As4()
	return uint64(binary.BigEndian.Uint32(b[:]))
}

// index is the number of a whole block counted from the base; false where the general way has to answer.
func (q *quick) index(p netip.Prefix) (uint64, bool) {
	a := p.Addr()
	if q.works && !q.v6 && a.Is4() && p.Bits() == q.mask {
		b := a.As4()
		d, below := bits.Sub64(uint64(binary.BigEndian.Uint32(b[:])), q.base, 0)
		return d >> q.shift, below == 0
	}
	if !q.works || p.Bits() != q.mask || a.Is4In6() || q.v6 != a.Is6() {
		return 0, false
	}
	d, below := bits.Sub64(q.word(a), q.base, 0)
	return d >> q.shift, below == 0
}

func (q *quick) block(i uint64) netip.Prefix {
	word := q.base + i<<q.shift
	if q.v6 {
		var b [16]byte
		binary.BigEndian.PutUint64(b[:8], word)
		return netip.PrefixFrom(netip.AddrFrom16(b), q.mask)
	}
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], uint32(word))
	return netip.PrefixFrom(netip.AddrFrom4(b), q.mask)
}
