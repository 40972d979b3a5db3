package space

import "math/bits"

// flat is a Bitmap's memory up to 2^16 indices: three levels in one piece, so that an operation is a few loads at addresses
// that need no pointer to be followed. Above, nodes take over.
type flat struct {
	words []uint64 // bits of the last one that are no indices are set
	pad   uint64   // those bits
	// sums has two words for each 64 words: which are full, which have an index set.
	full, some       [eagerSize >> 12]uint64
	topFull, topSome uint64
}

func newFlat(size uint64) *flat {
	f := &flat{words: make([]uint64, (size+63)>>6), topFull: ^uint64(0)}
	for w := range f.words {
		f.full[w>>6] |= 1 << (w & 63)
	}
	for s := range f.full {
		f.full[s] = ^f.full[s] // what is beyond the size is full and holds nothing
		if f.full[s] != ^uint64(0) {
			f.topFull &^= 1 << s
		}
	}
	if used := size & 63; used != 0 {
		f.pad = ^uint64(0) << used
		f.words[len(f.words)-1] = f.pad
	}
	return f
}

func (f *flat) test(i uint64) bool { return f.words[i>>6]>>(i&63)&1 != 0 }

func (f *flat) set(i uint64) bool {
	w := i >> 6
	old := f.words[w]
	word := old | 1<<(i&63)
	if word == old {
		return false
	}
	f.words[w] = word
	if old == 0 || word == ^uint64(0) || w == uint64(len(f.words)-1) {
		f.sum(w, word)
	}
	return true
}

// take sets the lowest clear index >= from, or else the lowest of all.
func (f *flat) take(from uint64) (uint64, bool) {
	w := from >> 6
	var old, m uint64
	if w < uint64(len(f.words)) {
		old = f.words[w]
		m = ^old & (^uint64(0) << (from & 63))
	}
	if m == 0 {
		if w = f.openWord(w); w >= uint64(len(f.words)) {
			return 0, false
		}
		old = f.words[w]
		m = ^old
	}
	word := old | m&-m
	f.words[w] = word
	if old == 0 || word == ^uint64(0) || w == uint64(len(f.words)-1) {
		f.sum(w, word)
	}
	return w<<6 + uint64(bits.TrailingZeros64(m)), true
}

// openWord is the first word behind w that is not full, else the first of all, else one beyond the end.
func (f *flat) openWord(w uint64) uint64 {
	if s := w >> 6; s < uint64(len(f.full)) {
		if m := ^f.full[s] & (^uint64(0) << (w&63 + 1)); m != 0 {
			return s<<6 + uint64(bits.TrailingZeros64(m))
		}
		if t := ^f.topFull & (^uint64(0) << (s + 1)); t != 0 {
			return f.openIn(t)
		}
	}
	if t := ^f.topFull; t != 0 {
		return f.openIn(t)
	}
	return eagerSize
}

func (f *flat) openIn(t uint64) uint64 {
	s := uint64(bits.TrailingZeros64(t)) & 15
	return s<<6 + uint64(bits.TrailingZeros64(^f.full[s]))
}

func (f *flat) clear(i uint64) bool {
	w := i >> 6
	old := f.words[w]
	word := old &^ (1 << (i & 63))
	if word == old {
		return false
	}
	f.words[w] = word
	if word == 0 || old == ^uint64(0) || w == uint64(len(f.words)-1) {
		f.sum(w, word)
	}
	return true
}

// sum works the summaries of a word out anew.
func (f *flat) sum(w, word uint64) {
	if w == uint64(len(f.words)-1) {
		f.mark(w, word == ^uint64(0), word&^f.pad != 0)
		return
	}
	f.mark(w, word == ^uint64(0), word != 0)
}

func (f *flat) mark(w uint64, full, some bool) {
	s, bit := w>>6&15, uint64(1)<<(w&63)
	top := uint64(1) << s
	if full {
		f.full[s] |= bit
		if f.full[s] == ^uint64(0) {
			f.topFull |= top
		}
	} else {
		f.full[s] &^= bit
		f.topFull &^= top
	}
	if some {
		f.some[s] |= bit
		f.topSome |= top
	} else if f.some[s] &^= bit; f.some[s] == 0 {
		f.topSome &^= top
	}
}

// nextClear is the lowest index >= from, which is below the size, that is not set.
func (f *flat) nextClear(from uint64) (uint64, bool) {
	w := from >> 6
	if m := ^f.words[w] & (^uint64(0) << (from & 63)); m != 0 {
		return from&^63 + uint64(bits.TrailingZeros64(m)), true
	}
	return f.clearBehind(w)
}

func (f *flat) clearBehind(w uint64) (uint64, bool) {
	s := w >> 6 & 15
	m := ^f.full[s] & (^uint64(0) << (w&63 + 1))
	if m == 0 {
		t := ^f.topFull & (^uint64(0) << (s + 1))
		if t == 0 {
			return 0, false
		}
		s = uint64(bits.TrailingZeros64(t)) & 15
		m = ^f.full[s]
	}
	w = s<<6 + uint64(bits.TrailingZeros64(m))
	return w<<6 + uint64(bits.TrailingZeros64(^f.words[w])), true
}

func (f *flat) nextSet(from uint64) (uint64, bool) {
	last := uint64(len(f.words) - 1)
	w := from >> 6
	word := f.words[w]
	if w == last {
		word &^= f.pad
	}
	if m := word & (^uint64(0) << (from & 63)); m != 0 {
		return from&^63 + uint64(bits.TrailingZeros64(m)), true
	}
	s := w >> 6 & 15
	m := f.some[s] & (^uint64(0) << (w&63 + 1))
	if m == 0 {
		t := f.topSome & (^uint64(0) << (s + 1))
		if t == 0 {
			return 0, false
		}
		s = uint64(bits.TrailingZeros64(t)) & 15
		m = f.some[s]
	}
	w = s<<6 + uint64(bits.TrailingZeros64(m))
	return w<<6 + uint64(bits.TrailingZeros64(f.words[w])), true
}

// fill sets or clears first..last and returns how many indices that changed.
func (f *flat) fill(first, last uint64, ones bool) (changed uint64) {
	for w := first >> 6; w <= last>>6; w++ {
		mask := ^uint64(0)
		if w == first>>6 {
			mask <<= first & 63
		}
		if w == last>>6 {
			mask &= ^uint64(0) >> (63 - last&63)
		}
		old := f.words[w]
		word := old &^ mask
		if ones {
			word = old | mask
		}
		f.words[w] = word
		changed += uint64(bits.OnesCount64(old ^ word))
		f.sum(w, word)
	}
	return changed
}
