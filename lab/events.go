package lab

import (
	"strconv"
	"sync"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// Record is what happens in a world of real machines: numbered lines for people, and facts for laws. Lines come from
// any goroutine, facts are delivered on the one that drives the world, in the order in which they happened.
type Record struct {
	mu    sync.Mutex
	now   func() time.Duration
	seq   int64
	tail  []string
	lines func(seq int64, at time.Duration, line []byte)
	facts []fact.Fact
}

// NewRecord returns one whose times are now's. lines, where set, sees each line.
func NewRecord(now func() time.Duration, lines func(seq int64, at time.Duration, line []byte)) *Record {
	return &Record{now: now, lines: lines}
}

const tailMax = 400

// Note adds a line.
func (r *Record) Note(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.noteLocked(text)
}

func (r *Record) noteLocked(text string) {
	r.seq++
	at := r.now()
	line := scenarios.FormatDuration(at.Truncate(time.Millisecond)) + " " + text
	if len(r.tail) == tailMax {
		r.tail = append(r.tail[:0], r.tail[tailMax/2:]...)
	}
	r.tail = append(r.tail, strconv.FormatInt(r.seq, 10)+" "+line)
	if r.lines != nil {
		r.lines(r.seq, at, []byte(line))
	}
}

// Tell adds a fact, and its line where it has one.
func (r *Record) Tell(f fact.Fact, line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f.At == 0 { // else it happened before it was heard of
		f.At = r.now()
	}
	r.facts = append(r.facts, f)
	if line != "" {
		r.noteLocked(line)
	}
}

// Take returns the facts since the last time.
func (r *Record) Take() []fact.Fact {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.facts
	r.facts = nil
	return out
}

// Last returns the last n lines, and how many there were.
func (r *Record) Last(n int) ([]string, int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.tail[max(0, len(r.tail)-n):]...), r.seq
}
