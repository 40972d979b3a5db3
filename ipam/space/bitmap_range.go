package space

import "math/bits"

// SetRange adds first..last and returns how many of them were not in the set before. Indices beyond the size do not
// count. It costs the nodes at both ends, so a range of 2^60 indices is as cheap as one of 100; memory of parts that
// become uniform is given back.
func (b *Bitmap) SetRange(first, last uint64) uint64 { return b.fill(first, last, true) }

// ClearRange removes first..last and returns how many of them were in the set before.
func (b *Bitmap) ClearRange(first, last uint64) uint64 { return b.fill(first, last, false) }

func (b *Bitmap) fill(first, last uint64, ones bool) uint64 {
	if b.size == 0 || first >= b.size || first > last {
		return 0
	}
	last = min(last, b.size-1)
	var changed uint64
	if b.root == nil {
		changed = b.flat.fill(first, last, ones)
	} else {
		changed = b.fillNode(b.root, b.top, first, last, ones)
	}
	if ones {
		b.count += changed
	} else {
		b.count -= changed
	}
	return changed
}

// fillNode fills first..last, which lie in nd.
func (b *Bitmap) fillNode(nd *node, level int, first, last uint64, ones bool) (changed uint64) {
	shift := slotShift(level)
	for i := first; ; {
		slot := slotOf(level, i)
		base := i >> shift << shift
		end := base | (1<<shift - 1)
		if level == 0 {
			changed += b.fillWord(nd, slot, i, min(end, last), ones)
		} else {
			changed += b.fillKid(nd, level, slot, i, min(end, last), ones)
		}
		if end >= last {
			return changed
		}
		i = end + 1
	}
}

func (b *Bitmap) fillWord(nd *node, slot, first, last uint64, ones bool) uint64 {
	mask := ^uint64(0) << (first & 63) & (^uint64(0) >> (63 - last&63))
	old := nd.words[slot]
	word := old &^ mask
	if ones {
		word = old | mask
	}
	nd.words[slot] = word
	nd.mark(slot, word|b.pad(first) == ^uint64(0), word != 0)
	return uint64(bits.OnesCount64(old ^ word))
}

func (b *Bitmap) fillKid(nd *node, level int, slot, first, last uint64, ones bool) uint64 {
	kid := nd.kids[slot]
	uniform, allSet := kid == nil, nd.full>>slot&1 != 0
	if uniform && allSet == ones {
		return 0
	}
	shift := slotShift(level)
	base := first >> shift << shift
	top := min(base|(1<<shift-1), b.size-1)
	if first == base && last == top {
		changed := top - base + 1
		switch {
		case uniform:
		case ones:
			changed -= population(kid, level-1, base, b)
		default:
			changed = population(kid, level-1, base, b)
		}
		nd.kids[slot] = nil
		nd.mark(slot, ones, ones)
		return changed
	}
	if uniform {
		kid = b.newNode(level-1, first, allSet)
		nd.kids[slot] = kid
	}
	changed := b.fillNode(kid, level-1, first, last, ones)
	nd.mark(slot, kid.full == ^uint64(0), kid.some != 0)
	return changed
}

func (nd *node) mark(slot uint64, full, some bool) {
	nd.full &^= 1 << slot
	nd.some &^= 1 << slot
	if full {
		nd.full |= 1 << slot
	}
	if some {
		nd.some |= 1 << slot
	}
}

// population counts the set indices of a node that starts at base.
func population(nd *node, level int, base uint64, b *Bitmap) (n uint64) {
	if level == 0 {
		for _, w := range nd.words {
			n += uint64(bits.OnesCount64(w))
		}
		return n
	}
	shift := slotShift(level)
	for slot, kid := range nd.kids {
		start := base | uint64(slot)<<shift
		switch {
		case kid != nil:
			n += population(kid, level-1, start, b)
		case nd.full>>slot&1 != 0:
			n += min(start|(1<<shift-1), b.size-1) - start + 1
		}
	}
	return n
}
