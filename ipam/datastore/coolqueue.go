package datastore

import "net/netip"

// cooled is when an address was released, in Unix nanoseconds.
type cooled struct {
	addr netip.Addr
	at   int64
}

// coolQueue is a binary heap with the oldest release first.
type coolQueue []cooled

func (q *coolQueue) push(e cooled) {
	*q = append(*q, e)
	h := *q
	i := len(h) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if e.at >= h[parent].at {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = e
}

func (q *coolQueue) pop() cooled {
	h := *q
	first, last := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	*q = h
	i := 0
	for kid := 1; kid < len(h); kid = 2*i + 1 {
		if right := kid + 1; right < len(h) && h[right].at < h[kid].at {
			kid = right
		}
		if h[kid].at >= last.at {
			break
		}
		h[i] = h[kid]
		i = kid
	}
	if len(h) > 0 {
		h[i] = last
	}
	return first
}
