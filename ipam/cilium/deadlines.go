package cilium

import (
	"container/heap"
	"time"
)

// deadlines is a heap of times with one time per key. The zero deadlines is empty.
type deadlines[K comparable] struct {
	heap deadlineHeap[K]
	by   map[K]*deadline[K]
	seq  uint64
}

// deadline is one key's time.
type deadline[K comparable] struct {
	key   K
	at    time.Time
	seq   uint64 // equal times come in the order of their start
	place int    // in the heap
}

// start sets the time of a key that has none.
func (d *deadlines[K]) start(key K, at time.Time) {
	if d.by == nil {
		d.by = make(map[K]*deadline[K])
	}
	d.seq++
	x := &deadline[K]{key: key, at: at, seq: d.seq}
	d.by[key] = x
	heap.Push(&d.heap, x)
}

func (d *deadlines[K]) has(key K) bool { return d.by[key] != nil }

// stop forgets a key's time, if it has one.
func (d *deadlines[K]) stop(key K) {
	if x := d.by[key]; x != nil {
		delete(d.by, key)
		heap.Remove(&d.heap, x.place)
	}
}

// due takes out the key with the earliest time at or before now; false when there is none.
func (d *deadlines[K]) due(now time.Time) (key K, ok bool) {
	if len(d.heap) == 0 || d.heap[0].at.After(now) {
		return key, false
	}
	key = d.heap[0].key
	d.stop(key)
	return key, true
}

// next is the earliest time; false when there is none.
func (d *deadlines[K]) next() (time.Time, bool) {
	if len(d.heap) == 0 {
		return time.Time{}, false
	}
	return d.heap[0].at, true
}

// deadlineHeap implements heap.Interface.
type deadlineHeap[K comparable] []*deadline[K]

func (h deadlineHeap[K]) Len() int { return len(h) }

func (h deadlineHeap[K]) Less(i, j int) bool {
	if !h[i].at.Equal(h[j].at) {
		return h[i].at.Before(h[j].at)
	}
	return h[i].seq < h[j].seq
}

func (h deadlineHeap[K]) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

// Push implements heap.Interface.
func (h *deadlineHeap[K]) Push(x any) {
	d := x.(*deadline[K])
	d.place = len(*h)
	*h = append(*h, d)
}

// Pop implements heap.Interface.
func (h *deadlineHeap[K]) Pop() any {
	old := *h
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return last
}
