package nodeipam

import (
	"container/heap"
	"time"
)

// alarms wakes its sleepers by time, those of one time in the order in which they lay down. A sleeper is in it once per
// set; who takes it out again compares its own due time, because cancelling is only forgetting.
type alarms[T any] struct {
	heap alarmHeap[T]
	seq  uint64
	told time.Time // last WakeAt
}

type alarm[T any] struct {
	at  time.Time
	seq uint64
	who T
}

func (a *alarms[T]) set(at time.Time, who T) {
	a.seq++
	heap.Push(&a.heap, alarm[T]{at, a.seq, who})
}

// pop takes the first sleeper whose time has come.
func (a *alarms[T]) pop(now time.Time) (who T, at time.Time, ok bool) {
	if len(a.heap) == 0 || a.heap[0].at.After(now) {
		return who, at, false
	}
	first := heap.Pop(&a.heap).(alarm[T])
	return first.who, first.at, true
}

// wake appends a WakeAt when the next time is another one than was told last.
func (a *alarms[T]) wake(out []Effect) []Effect {
	var next time.Time
	if len(a.heap) > 0 {
		next = a.heap[0].at
	}
	if next.Equal(a.told) {
		return out
	}
	a.told = next
	return append(out, WakeAt{next})
}

// alarmHeap is ordered by time, then by order of setting.
type alarmHeap[T any] []alarm[T]

func (h alarmHeap[T]) Len() int      { return len(h) }
func (h alarmHeap[T]) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h alarmHeap[T]) Less(i, j int) bool {
	return h[i].at.Before(h[j].at) || h[i].at.Equal(h[j].at) && h[i].seq < h[j].seq
}

// Push and Pop are heap.Interface's.
func (h *alarmHeap[T]) Push(x any) { *h = append(*h, x.(alarm[T])) }

// Pop removes the last element.
func (h *alarmHeap[T]) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}
