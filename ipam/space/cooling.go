package space

import (
	"cmp"
	"slices"
)

// cooled is an index released at a time in Unix nanoseconds.
type cooled struct {
	at    int64
	index uint64
}

// coolingHeap is a binary heap with the earliest release first. A heap and not a queue, because callers' clocks may
// step back and replayed histories may interleave.
type coolingHeap []cooled

func (h *coolingHeap) push(c cooled) {
	*h = append(*h, c)
	h.up(len(*h) - 1)
}

func (h *coolingHeap) pop() cooled {
	first := (*h)[0]
	h.removeAt(0)
	return first
}

func (h *coolingHeap) removeAt(i int) {
	old := *h
	last := len(old) - 1
	old[i] = old[last]
	*h = old[:last]
	if i < last {
		h.down(i)
		h.up(i)
	}
}

// remove takes an index out wherever it is and reports whether it was there. Linear: only replay and Reserve need it.
func (h *coolingHeap) remove(index uint64) bool {
	i := slices.IndexFunc(*h, func(c cooled) bool { return c.index == index })
	if i >= 0 {
		h.removeAt(i)
	}
	return i >= 0
}

func (h coolingHeap) has(index uint64) bool {
	return slices.ContainsFunc(h, func(c cooled) bool { return c.index == index })
}

func (h coolingHeap) sorted() []cooled {
	return slices.SortedFunc(slices.Values(h), func(a, b cooled) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.index, b.index))
	})
}

func (h coolingHeap) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if h[parent].at <= h[i].at {
			return
		}
		h[parent], h[i] = h[i], h[parent]
		i = parent
	}
}

func (h coolingHeap) down(i int) {
	for {
		kid := 2*i + 1
		if kid >= len(h) {
			return
		}
		if right := kid + 1; right < len(h) && h[right].at < h[kid].at {
			kid = right
		}
		if h[i].at <= h[kid].at {
			return
		}
		h[i], h[kid] = h[kid], h[i]
		i = kid
	}
}
