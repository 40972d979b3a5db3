package space

import (
	"fmt"
	"math/bits"
)

// Bitmap is a set of indices 0..Size-1. Every operation on one index costs one step per level: a level is a word of 64
// summaries, so a /24 or a /20 has one level above its words, a /16 two, an IPv6 /64 ten.
//
// Up to 2^16 indices all memory is there from the start, in one piece, and nothing allocates later; above, a part's
// memory (4096 indices in 560 bytes) appears with the first index set in it, and the size may be anything up to 2^64-1.
//
// The zero Bitmap is an empty set of size 0. A Bitmap may lie in another struct by value, as `*NewBitmap(n)`, which
// saves its owner a step at each operation; once in use it must not be copied.
type Bitmap struct {
	flat  flat // the whole set up to 2^16 indices, without words above
	size  uint64
	count uint64
	top   int    // level of root
	tail  uint64 // bits of the last word that are no indices
	root  *node  // nil up to 2^16 indices
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
	if size <= eagerSize {
		b.flat = makeFlat(size)
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

// Test reports whether i is in the set; false for i beyond the size.
func (b *Bitmap) Test(i uint64) bool {
	if i >= b.size {
		return false
	}
	if b.root != nil {
		return b.testNode(i)
	}
	return b.flat.words[i>>6]>>(i&63)&1 != 0
}

// Set adds i and reports whether that changed the set. i beyond the size changes nothing.
func (b *Bitmap) Set(i uint64) bool { return b.setNear(i) || b.setFar(i) }

// Clear removes i and reports whether that changed the set.
func (b *Bitmap) Clear(i uint64) bool { return b.ClearNear(i) || b.clearFar(i) }

// TakeNext sets the lowest clear index >= from, or else the lowest of all, and returns it; false when every index is
// set.
func (b *Bitmap) TakeNext(from uint64) (uint64, bool) {
	if i, ok := b.TakeNear(from); ok {
		return i, true
	}
	return b.takeFar(from)
}

// NextClear is the lowest index >= from that is not in the set; false when there is none.
func (b *Bitmap) NextClear(from uint64) (uint64, bool) {
	if b.root == nil && from < b.size {
		return b.flat.nextClear(from)
	}
	return b.next(from, false)
}

// NextSet is the lowest index >= from that is in the set; false when there is none.
func (b *Bitmap) NextSet(from uint64) (uint64, bool) {
	if b.root == nil && from < b.size {
		return b.flat.nextSet(from)
	}
	return b.next(from, true)
}

// setNear is Set where no summary changes: in a flat set's word that does not become full. False has changed nothing
// and says nothing. This and its kin have no loop and no call, so that the compiler puts them into their callers.
func (b *Bitmap) setNear(i uint64) bool {
	w := i >> 6
	if w >= uint64(len(b.flat.words)) {
		return false
	}
	old := b.flat.words[w]
	word := old | 1<<(i&63) // a bit beyond the size is set, and so nothing changes
	if word == old || word == ^uint64(0) {
		return false
	}
	b.flat.words[w] = word
	b.count++
	return true
}

// testNear is false only where i is in a flat set's words and clear: a bit beyond the size counts as set.
func (b *Bitmap) testNear(i uint64) bool {
	w := i >> 6
	return w >= uint64(len(b.flat.words)) || b.flat.words[w]>>(i&63)&1 != 0
}

// ClearNear is Clear in the common case: up to 2^16 indices, and i's word was not full. False has changed nothing and
// says nothing: ask Clear. It is for callers that are themselves called often, as the compiler puts it into them.
func (b *Bitmap) ClearNear(i uint64) bool {
	w := i >> 6
	if w >= uint64(len(b.flat.words)) || i >= b.size {
		return false
	}
	old := b.flat.words[w]
	word := old &^ (1 << (i & 63))
	if word == old || old == ^uint64(0) {
		return false
	}
	b.flat.words[w] = word
	b.count--
	return true
}

// TakeNear is TakeNext in the common case: up to 2^16 indices, and from's word has the answer and does not become full.
// False has changed nothing and says nothing: ask TakeNext. It is for callers that are themselves called often, as
// ClearNear is.
func (b *Bitmap) TakeNear(from uint64) (i uint64, ok bool) {
	words := b.flat.words
	w := from >> 6
	if w >= uint64(len(words)) {
		return
	}
	m := ^words[w] >> (from & 63)
	i = from + uint64(bits.TrailingZeros64(m))
	word := words[w] | 1<<(i&63)
	if m == 0 || word == ^uint64(0) {
		return
	}
	words[w] = word
	b.count++
	return i, true
}

// setFar is Set in all cases.
func (b *Bitmap) setFar(i uint64) bool {
	switch {
	case i >= b.size:
		return false
	case b.root != nil:
		return b.setNode(i)
	case !b.flat.set(i):
		return false
	}
	b.count++
	return true
}

// clearFar is Clear in all cases.
func (b *Bitmap) clearFar(i uint64) bool {
	switch {
	case i >= b.size:
		return false
	case b.root != nil:
		return b.clearNode(i)
	case !b.flat.clear(i):
		return false
	}
	b.count--
	return true
}

// takeFar is TakeNext in all cases.
func (b *Bitmap) takeFar(from uint64) (uint64, bool) {
	if b.count == b.size {
		return 0, false
	}
	if b.root == nil {
		b.count++
		return b.flat.take(from), true
	}
	i, ok := b.NextClear(from)
	if !ok {
		i, _ = b.NextClear(0)
	}
	return i, b.setNode(i)
}

// String is for test failures: size and count.
func (b *Bitmap) String() string { return fmt.Sprintf("bitmap of %d, %d set", b.size, b.count) }
