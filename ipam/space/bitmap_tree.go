package space

import "math/bits"

// node summarises 64 slots. At level 0 a slot is a word, above a child. A missing child is uniform: all set when its
// full bit is, else all clear. Slots beyond the size are full and hold nothing, so no search ends there.
type node struct {
	full, some uint64
	words      []uint64
	kids       []*node
}

// slotShift is log2 of the indices that one slot of a level stands for.
func slotShift(level int) int { return wordBits * (level + 1) }

func slotOf(level int, i uint64) uint64 { return i >> slotShift(level) & 63 }

// slots is how many slots of i's node at a level stand for indices.
func (b *Bitmap) slots(level int, i uint64) uint64 {
	last := b.size - 1
	if span := slotShift(level) + wordBits; i>>span == last>>span {
		return slotOf(level, last) + 1
	}
	return 64
}

// pad is the bits of i's word that are no indices.
func (b *Bitmap) pad(i uint64) uint64 {
	if i>>wordBits == (b.size-1)>>wordBits {
		return b.tail
	}
	return 0
}

// newNode makes the node of a level that i lies in, uniformly set or clear.
func (b *Bitmap) newNode(level int, i uint64, ones bool) *node {
	slots := b.slots(level, i)
	beyond := ^uint64(0) << slots
	nd := &node{full: beyond}
	if ones {
		nd.full, nd.some = ^uint64(0), ^beyond
	}
	if level > 0 {
		nd.kids = make([]*node, slots)
		return nd
	}
	nd.words = make([]uint64, slots)
	if ones {
		base := i &^ (leafIndices - 1)
		for w := range nd.words {
			nd.words[w] = ^b.pad(base + uint64(w)<<wordBits)
		}
	}
	return nd
}

func (b *Bitmap) testNode(i uint64) bool {
	nd := b.root
	for level := b.top; level > 0; level-- {
		slot := slotOf(level, i)
		kid := nd.kids[slot]
		if kid == nil {
			return nd.full>>slot&1 != 0
		}
		nd = kid
	}
	return nd.words[slotOf(0, i)]>>(i&63)&1 != 0
}

func (b *Bitmap) setNode(i uint64) bool {
	var path [levelsMax]*node
	nd := b.root
	for level := b.top; level > 0; level-- {
		path[level] = nd
		slot := slotOf(level, i)
		kid := nd.kids[slot]
		if kid == nil {
			if nd.full>>slot&1 != 0 {
				return false
			}
			kid = b.newNode(level-1, i, false)
			nd.kids[slot] = kid
		}
		nd = kid
	}
	slot := slotOf(0, i)
	word := nd.words[slot]
	if word>>(i&63)&1 != 0 {
		return false
	}
	b.count++
	word |= 1 << (i & 63)
	nd.words[slot] = word
	nd.some |= 1 << slot
	if word|b.pad(i) == ^uint64(0) {
		nd.full |= 1 << slot
	}
	for level := 1; level <= b.top; level++ {
		up, bit := path[level], uint64(1)<<slotOf(level, i)
		if nd.full != ^uint64(0) && up.some&bit != 0 {
			return true
		}
		up.some |= bit
		if nd.full == ^uint64(0) {
			up.full |= bit
		}
		nd = up
	}
	return true
}

func (b *Bitmap) clearNode(i uint64) bool {
	var path [levelsMax]*node
	nd := b.root
	for level := b.top; level > 0; level-- {
		path[level] = nd
		slot := slotOf(level, i)
		kid := nd.kids[slot]
		if kid == nil {
			if nd.full>>slot&1 == 0 {
				return false
			}
			kid = b.newNode(level-1, i, true)
			nd.kids[slot] = kid
		}
		nd = kid
	}
	slot := slotOf(0, i)
	word := nd.words[slot]
	if word>>(i&63)&1 == 0 {
		return false
	}
	b.count--
	word &^= 1 << (i & 63)
	nd.words[slot] = word
	nd.full &^= 1 << slot
	if word == 0 {
		nd.some &^= 1 << slot
	}
	for level := 1; level <= b.top; level++ {
		up, bit := path[level], uint64(1)<<slotOf(level, i)
		if nd.some != 0 && up.full&bit == 0 {
			return true
		}
		up.full &^= bit
		if nd.some == 0 {
			up.some &^= bit
		}
		nd = up
	}
	return true
}

// next walks down to from, then up until a node has a candidate behind it, then down to the candidate.
func (b *Bitmap) next(from uint64, set bool) (uint64, bool) {
	if from >= b.size {
		return 0, false
	}
	if b.root == nil {
		if set {
			return b.flat.nextSet(from)
		}
		return b.flat.nextClear(from)
	}
	var path [levelsMax]*node
	nd, level := b.root, b.top
	for ; level > 0; level-- {
		path[level] = nd
		slot := slotOf(level, from)
		kid := nd.kids[slot]
		if kid == nil {
			if nd.candidates(set)>>slot&1 != 0 {
				return from, true
			}
			break
		}
		nd = kid
	}
	if level == 0 {
		path[0] = nd
		if m := b.word(nd, from, set) & (^uint64(0) << (from & 63)); m != 0 {
			return from&^63 + uint64(bits.TrailingZeros64(m)), true
		}
	}
	for ; level <= b.top; level++ {
		// Shifting by 64 gives 0: no slot is behind slot 63.
		if m := path[level].candidates(set) & (^uint64(0) << (slotOf(level, from) + 1)); m != 0 {
			slot := uint64(bits.TrailingZeros64(m))
			low := slotShift(level) + wordBits
			i := from>>low<<low | slot<<slotShift(level)
			return b.first(path[level], level, i, set), true
		}
	}
	return 0, false
}

// first is the lowest candidate in the slot of nd that i starts; there is one.
func (b *Bitmap) first(nd *node, level int, i uint64, set bool) uint64 {
	for ; level > 0; level-- {
		nd = nd.kids[slotOf(level, i)]
		if nd == nil {
			return i
		}
		i |= uint64(bits.TrailingZeros64(nd.candidates(set))) << slotShift(level-1)
	}
	return i | uint64(bits.TrailingZeros64(b.word(nd, i, set)))
}

// candidates has the bit of every slot that holds a set index, or a clear one.
func (nd *node) candidates(set bool) uint64 {
	if set {
		return nd.some
	}
	return ^nd.full
}

// word has the bit of every set index of i's word, or of every clear one.
func (b *Bitmap) word(nd *node, i uint64, set bool) uint64 {
	w := nd.words[slotOf(0, i)]
	if set {
		return w
	}
	return ^(w | b.pad(i))
}
