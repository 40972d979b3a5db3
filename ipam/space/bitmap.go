package space

import (
	"fmt"
	"math/bits"
)

// Bitmap is a set of indices 0..Size-1. Every operation on one index costs one step per level: a level is a word of 64
// summaries, so a /24 or a /20 has one level above its words, a /16 two, an IPv6 /64 ten.
//
// Up to 2^16 indices all memory is there from the start, in one piece, and nothing allocates later; above, a part's memory (4096
// indices in 560 bytes) appears with the first index set in it, and the size may be anything up to 2^64-1.
// The zero Bitmap is an empty set of size 0.
type Bitmap struct {
	size  uint64
	count uint64
	top   int    // level of root
	tail  uint64 // bits of the last word that are no indices
	root  *node  // nil up to 2^16 indices
	flat  *flat  // nil above
}

// node summarises 64 slots. At level 0 a slot is a word, above a child. A missing child is uniform: all set when its full
// bit is, else all clear. Slots beyond the size are full and hold nothing, so no search ends there.
type node struct {
	full, some uint64
	words      []uint64
	kids       []*node
}

const (
	wordBits    = 6 // log2 of a word, and of the slots in a node
	levelsMax   = 10
	eagerSize   = 1 << 16
	leafIndices = 1 << (2 * wordBits)
)

// NewBitmap returns an empty set that may hold 0..size-1.
func NewBitmap(size uint64) *Bitmap {
	b := &Bitmap{size: size}
	if size == 0 {
		return b
	}
	if size <= eagerSize {
		b.flat = newFlat(size)
		return b
	}
	for (size-1)>>(slotShift(b.top)+wordBits) != 0 {
		b.top++
	}
	if used := size & 63; used != 0 {
		b.tail = ^uint64(0) << used
	}
	b.root = b.newNode(b.top, 0, false)
	return b
}

// Size is how many indices may be in the set, Count how many are.
func (b *Bitmap) Size() uint64 { return b.size }

// Count is how many indices are set.
func (b *Bitmap) Count() uint64 { return b.count }

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

// Test reports whether i is in the set; false for i beyond the size.
func (b *Bitmap) Test(i uint64) bool {
	if i >= b.size {
		return false
	}
	if b.flat != nil {
		return b.flat.test(i)
	}
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

// Set adds i and reports whether that changed the set. i beyond the size changes nothing.
func (b *Bitmap) Set(i uint64) bool {
	if i >= b.size {
		return false
	}
	if b.flat == nil {
		return b.setNode(i)
	}
	if !b.flat.set(i) {
		return false
	}
	b.count++
	return true
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

// Clear removes i and reports whether that changed the set.
func (b *Bitmap) Clear(i uint64) bool {
	if i >= b.size {
		return false
	}
	if b.flat == nil {
		return b.clearNode(i)
	}
	if !b.flat.clear(i) {
		return false
	}
	b.count--
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

// NextClear is the lowest index >= from that is not in the set; false when there is none.
func (b *Bitmap) NextClear(from uint64) (uint64, bool) {
	if b.flat != nil && from < b.size {
		return b.flat.nextClear(from)
	}
	return b.next(from, false)
}

// TakeNext sets the lowest clear index >= from, or else the lowest of all, and returns it; false when every index is set.
func (b *Bitmap) TakeNext(from uint64) (uint64, bool) {
	if b.flat != nil {
		i, ok := b.flat.take(from)
		if ok {
			b.count++
		}
		return i, ok
	}
	i, ok := b.NextClear(from)
	if !ok {
		if i, ok = b.NextClear(0); !ok {
			return 0, false
		}
	}
	b.Set(i)
	return i, true
}

// NextSet is the lowest index >= from that is in the set; false when there is none.
func (b *Bitmap) NextSet(from uint64) (uint64, bool) {
	if b.flat != nil && from < b.size {
		return b.flat.nextSet(from)
	}
	return b.next(from, true)
}

// next walks down to from, then up until a node has a candidate behind it, then down to the candidate.
func (b *Bitmap) next(from uint64, set bool) (uint64, bool) {
	if from >= b.size {
		return 0, false
	}
	if b.flat != nil {
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

// String is for test failures: size and count.
func (b *Bitmap) String() string { return fmt.Sprintf("bitmap of %d, %d set", b.size, b.count) }
