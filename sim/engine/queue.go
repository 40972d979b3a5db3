package engine

import "time"

// queue is a four-ary heap of values ordered by (time, sequence). Four children to a node halve the depth of a binary
// heap, and two children share a cache line; no entry is allocated on its own.
type queue []entry

type entry struct {
	at  time.Duration
	seq int64
	// by is the event during which this one was scheduled, 0 for none.
	by int64
	ev Event
}

const arity = 4

func (a *entry) before(b *entry) bool {
	return a.at < b.at || a.at == b.at && a.seq < b.seq
}

func (q *queue) push(x entry) {
	h := append(*q, x)
	*q = h
	i := len(h) - 1
	for i > 0 {
		up := (i - 1) / arity
		if h[up].before(&x) {
			break
		}
		h[i] = h[up]
		i = up
	}
	h[i] = x
}

// pop takes the earliest entry; the queue must not be empty.
func (q *queue) pop() entry {
	h := *q
	top := h[0]
	last := len(h) - 1
	x := h[last]
	h[last] = entry{}
	h = h[:last]
	*q = h
	if last > 0 {
		h.sink(x)
	}
	return top
}

// sink puts x into the hole at the root.
func (h queue) sink(x entry) {
	i := 0
	for {
		child := i*arity + 1
		if child >= len(h) {
			break
		}
		least := child
		for c := child + 1; c < min(child+arity, len(h)); c++ {
			if h[c].before(&h[least]) {
				least = c
			}
		}
		if x.before(&h[least]) {
			break
		}
		h[i] = h[least]
		i = least
	}
	h[i] = x
}
