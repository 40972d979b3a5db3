package engine

import (
	"strconv"
	"time"
)

// tailLines is how many events Tail remembers by default (see KeepTail): enough to show a pod's whole set-up.
const tailLines = 64

// wall keeps the last lines of a trail in a ring whose buffers are reused.
type wall struct {
	ring []brick
	next int
	full bool
}

type brick struct {
	seq  int64
	at   time.Duration
	line []byte
}

func (w *wall) resize(n int) { *w = wall{ring: make([]brick, n)} }

func (w *wall) add(seq int64, at time.Duration, line []byte) {
	if len(w.ring) == 0 {
		return
	}
	b := &w.ring[w.next]
	b.seq, b.at = seq, at
	b.line = append(b.line[:0], line...)
	if w.next++; w.next == len(w.ring) {
		w.next, w.full = 0, true
	}
}

func (w *wall) lines() []string {
	parts := [2][]brick{w.ring[:w.next]}
	if w.full {
		parts = [2][]brick{w.ring[w.next:], w.ring[:w.next]}
	}
	var out []string
	for _, part := range parts {
		for _, b := range part {
			s := strconv.AppendInt(nil, b.seq, 10)
			s = append(s, ' ')
			s = append(s, b.at.String()...)
			s = append(s, ' ')
			out = append(out, string(append(s, b.line...)))
		}
	}
	return out
}
