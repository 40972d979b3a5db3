package space

import "math/bits"

// flat is a Bitmap's memory up to 2^16 indices: three levels in one piece, so that an operation is a few loads at
// addresses that need no pointer to be followed. Above, nodes take over, and flat has no words.
type flat struct {
	words []uint64 // bits of the last one that are no indices are set
	pad   uint64   // those bits
	// full has a bit for each word that is full, topFull one for each 64 words that are. There is no like of them for
	// words that are not zero: keeping it costs each operation more than a search over 1,024 words once in a while.
	full    [eagerSize >> 12]uint64
	topFull uint64
}

func makeFlat(size uint64) flat {
	f := flat{words: make([]uint64, (size+63)>>6), topFull: ^uint64(0)}
	for s := range f.full {
		f.full[s] = ^uint64(0) // what is beyond the size is full and holds nothing
	}
	if used := size & 63; used != 0 {
		f.pad = ^uint64(0) << used
		f.words[len(f.words)-1] = f.pad
	}
	for w := range f.words {
		f.sum(uint64(w))
	}
	return f
}

func (f *flat) set(i uint64) bool {
	w := i >> 6
	old := f.words[w]
	f.words[w] = old | 1<<(i&63)
	if f.words[w] == ^uint64(0) {
		f.close(w)
	}
	return f.words[w] != old
}

func (f *flat) clear(i uint64) bool {
	w := i >> 6
	old := f.words[w]
	f.words[w] = old &^ (1 << (i & 63))
	if old == ^uint64(0) {
		f.open(w)
	}
	return f.words[w] != old
}

// take sets the lowest clear index >= from, or else the lowest of all; there is one.
func (f *flat) take(from uint64) uint64 {
	w := from >> 6
	var m uint64
	if w < uint64(len(f.words)) {
		m = ^f.words[w] & (^uint64(0) << (from & 63))
	}
	if m == 0 {
		w, _ = f.openWord(w)
		m = ^f.words[w]
	}
	word := f.words[w] | m&-m
	f.words[w] = word
	if word == ^uint64(0) {
		f.close(w)
	}
	return w<<6 + uint64(bits.TrailingZeros64(m))
}

// openWord is the first word behind w that is not full; false when there is none, and then it is the first of all, if
// any.
func (f *flat) openWord(w uint64) (uint64, bool) {
	s := w >> 6
	if s < uint64(len(f.full)) {
		if m := ^f.full[s] & (^uint64(0) << (w&63 + 1)); m != 0 {
			return s<<6 + uint64(bits.TrailingZeros64(m)), true
		}
	}
	t := ^f.topFull & (^uint64(0) << (s + 1))
	ok := t != 0
	if !ok {
		t = ^f.topFull
	}
	s = uint64(bits.TrailingZeros64(t)) & 15
	return s<<6 + uint64(bits.TrailingZeros64(^f.full[s])), ok
}

// sum works the summary of a word out anew.
func (f *flat) sum(w uint64) {
	if f.words[w] == ^uint64(0) {
		f.close(w)
	} else {
		f.open(w)
	}
}

// close notes that a word has become full, open that it no longer is.
func (f *flat) close(w uint64) {
	s := w >> 6 & 15
	f.full[s] |= 1 << (w & 63)
	if f.full[s] == ^uint64(0) {
		f.topFull |= 1 << s
	}
}

func (f *flat) open(w uint64) {
	s := w >> 6 & 15
	f.full[s] &^= 1 << (w & 63)
	f.topFull &^= 1 << s
}

// nextClear is the lowest index >= from, which is below the size, that is not set.
func (f *flat) nextClear(from uint64) (uint64, bool) {
	w := from >> 6
	if m := ^f.words[w] & (^uint64(0) << (from & 63)); m != 0 {
		return from&^63 + uint64(bits.TrailingZeros64(m)), true
	}
	w, ok := f.openWord(w)
	if !ok {
		return 0, false
	}
	return w<<6 + uint64(bits.TrailingZeros64(^f.words[w])), true
}

// nextSet is the lowest index >= from, which is below the size, that is set.
func (f *flat) nextSet(from uint64) (uint64, bool) {
	if m := f.words[from>>6] & (^uint64(0) << (from & 63)); m != 0 {
		return f.indexIn(from>>6, m)
	}
	rest := f.words[from>>6+1:]
	for len(rest) >= 8 && rest[0]|rest[1]|rest[2]|rest[3]|rest[4]|rest[5]|rest[6]|rest[7] == 0 {
		rest = rest[8:]
	}
	for ; len(rest) > 0; rest = rest[1:] {
		if rest[0] != 0 {
			return f.indexIn(uint64(len(f.words)-len(rest)), rest[0])
		}
	}
	return 0, false
}

// indexIn is the lowest index of word w that is in m, which is not 0; false when only padding is.
func (f *flat) indexIn(w, m uint64) (uint64, bool) {
	return w<<6 + uint64(bits.TrailingZeros64(m)), w != uint64(len(f.words)-1) || m&^f.pad != 0
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
		f.sum(w)
	}
	return changed
}
