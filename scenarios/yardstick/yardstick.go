// Package yardstick says how fast a machine is at this moment, so that figures of different machines and days can be compared.
//
// It decides what one round of reference work is: a hash, a step of a map, a step of a heap. It never measures the project's own
// code. Start at Beside, which every benchmark calls; a figure divided by its ref/s is what two commits are compared by, because
// one commit gave 627,000 events/s on one machine and 210,000 on another. The work is fixed for ever: a change of it makes all
// earlier figures worthless. It reads the wall clock, so no deterministic package may import it.
package yardstick

import (
	"container/heap"
	"hash/fnv"
	"time"
)

// Benchmark is what Beside needs of a *testing.B.
type Benchmark interface {
	Cleanup(func())
	ReportMetric(n float64, unit string)
}

// Beside reports the machine's rate as ref/s beside what the benchmark measures, right after it and outside of its time.
func Beside(b Benchmark) {
	b.Cleanup(func() { b.ReportMetric(Rate(), "ref/s") })
}

const (
	attempts = 5
	each     = 10 * time.Millisecond
	rounds   = 2000
)

// Rate is how many rounds a second the calling goroutine gets through: the best of some short attempts, as whatever else the machine
// does only takes away.
func Rate() float64 {
	best := 0.0
	for range attempts {
		done, start := 0, time.Now()
		for time.Since(start) < each {
			Rounds(rounds)
			done += rounds
		}
		best = max(best, float64(done)/time.Since(start).Seconds())
	}
	return best
}

// Sizes of what a round works on: more than a first-level cache holds, less than a last-level one.
const (
	keys   = 1 << 14
	queued = 1 << 10
)

// Rounds does n rounds of reference work on fresh memory and returns a checksum, which is the same on every machine.
func Rounds(n int) uint64 {
	held, q := make(map[uint64]uint64, 1<<8), make(times, 0, queued)
	sum, x, text := uint64(0), uint64(88172645463325252), [16]byte{}
	for i := range n {
		x ^= x << 13 // Marsaglia's xorshift64
		x ^= x >> 7
		x ^= x << 17
		for k := range text {
			text[k] = byte(x >> (k % 8 * 8))
		}
		h := fnv.New64a()
		_, _ = h.Write(text[:]) // a hash takes everything
		key := h.Sum64() % keys
		if _, ok := held[key]; ok {
			delete(held, key)
		} else {
			held[key] = x
		}
		heap.Push(&q, x)
		if len(q) == queued || i%2 == 1 {
			sum ^= heap.Pop(&q).(uint64)
		}
	}
	return sum ^ uint64(len(held))
}

// times is a heap of numbers.
type times []uint64

func (t times) Len() int           { return len(t) }
func (t times) Less(i, j int) bool { return t[i] < t[j] }
func (t times) Swap(i, j int)      { t[i], t[j] = t[j], t[i] }

// Push implements heap.Interface.
func (t *times) Push(x any) { *t = append(*t, x.(uint64)) }

// Pop implements heap.Interface.
func (t *times) Pop() any {
	old := *t
	x := old[len(old)-1]
	*t = old[:len(old)-1]
	return x
}
