package vppmodel

// indexPool hands out indices as VPP's pools do (src/vppinfra/pool.h): the one freed last comes first, else a new one.
type indexPool struct {
	next uint32
	free []uint32
}

func (p *indexPool) get() uint32 {
	if n := len(p.free); n > 0 {
		i := p.free[n-1]
		p.free = p.free[:n-1]
		return i
	}
	p.next++
	return p.next - 1
}

func (p *indexPool) put(i uint32) { p.free = append(p.free, i) }

// instances is a set of instance numbers that hands out the smallest free one, as VPP's bitmaps do.
type instances struct{ words []uint64 }

func (s *instances) has(n uint32) bool {
	w := n / 64
	return w < uint32(len(s.words)) && s.words[w]>>(n%64)&1 != 0
}

func (s *instances) add(n uint32) {
	for n/64 >= uint32(len(s.words)) {
		s.words = append(s.words, 0)
	}
	s.words[n/64] |= 1 << (n % 64)
}

func (s *instances) remove(n uint32) { s.words[n/64] &^= 1 << (n % 64) }

func (s *instances) smallestFree() uint32 {
	var n uint32
	for s.has(n) {
		n++
	}
	return n
}
