package engine

import (
	"fmt"
	"math"
	"time"
)

// Engine is one run: a clock, a queue of events, the digest of those that have fired. Times are durations since the
// run's start, at nanosecond resolution. An Engine belongs to one goroutine.
type Engine struct {
	now     time.Duration
	fired   int64
	queued  int64
	queue   queue
	chooser Chooser
	trail   func(seq int64, at time.Duration, line []byte)
	err     error
	parent  int64
	firing  bool
	stopped bool
	// interrupted, where set, is asked every few events whether to go on.
	interrupted func() error
	chain       chain
	wall        wall
	// late is the number of the event that lets others of its instant pass, 0 for none; passed, what it let pass.
	late, passed int64
}

// New returns an Engine at time 0 with nothing to do. A nil Chooser always picks 0.
func New(c Chooser) *Engine {
	if c == nil {
		c = first{}
	}
	e := &Engine{chooser: c}
	e.wall.resize(tailLines)
	return e
}

// Now is the virtual time: that of the event being fired, else of the last one or of the last RunUntil.
func (e *Engine) Now() time.Duration { return e.now }

// Seq counts the events fired so far; during Fire it is the present event's number, the first being 1.
func (e *Engine) Seq() int64 { return e.fired }

// Parent is the number of the event during which the present one was scheduled or counted; 0 outside of any event.
func (e *Engine) Parent() int64 { return e.parent }

// Len counts the events that wait.
func (e *Engine) Len() int { return len(e.queue) }

// NextAt is the time of the earliest event that waits; false when none does.
func (e *Engine) NextAt() (time.Duration, bool) {
	if len(e.queue) == 0 {
		return 0, false
	}
	return e.queue[0].at, true
}

// At schedules ev. Of two events at one time, the one that was scheduled first fires first. A time in the past is a
// broken caller and panics; the present is allowed and comes after everything already waiting for it.
func (e *Engine) At(t time.Duration, ev Event) {
	if t < e.now {
		panic(fmt.Sprintf("engine: at %s event %q is scheduled for %s, which has passed", e.now, ev.AppendText(nil), t))
	}
	e.queued++
	by := int64(0)
	if e.firing {
		by = e.fired
	}
	e.queue.push(entry{at: t, seq: e.queued, by: by, ev: ev})
}

// After schedules ev at d from now; d must not be negative. A sum beyond the end of time (292 years) is the end of
// time.
func (e *Engine) After(d time.Duration, ev Event) {
	t := e.now + d
	if d > 0 && t < e.now {
		t = math.MaxInt64
	}
	e.At(t, ev)
}

// Step moves the clock to the earliest event and fires it; false when there was none or the run has failed.
func (e *Engine) Step() bool {
	if len(e.queue) == 0 || e.err != nil {
		return false
	}
	if e.firing {
		panic(fmt.Sprintf("engine: at %s an event steps the engine that fires it", e.now))
	}
	next := e.queue.pop()
	if e.late == e.fired+1 {
		next = e.letPass(next)
	}
	e.now, e.parent = next.at, next.by
	e.tell(next.ev)
	e.firing = true
	next.ev.Fire()
	e.firing = false
	return true
}

// Postpone moves the event numbered seq behind all others that wait for its instant by then. Callers use it to see what
// another order would have done.
func (e *Engine) Postpone(seq int64) { e.late = seq }

// Passed counts the events that the postponed one let pass; 0 where it was the only one of its instant, a step of
// another or never came.
func (e *Engine) Passed() int64 { return e.passed }

// letPass puts an event behind the others of its instant and returns the one that happens instead.
func (e *Engine) letPass(late entry) entry {
	for i := range e.queue {
		if e.queue[i].at == late.at {
			e.passed++
		}
	}
	if e.passed == 0 {
		return late
	}
	e.queued++
	late.seq = e.queued
	e.queue.push(late)
	return e.queue.pop()
}

// Tell counts ev as an event of the present instant, right behind the one that fires, and puts its line into the trail.
// The caller does what ev stands for. It is for chains of small steps that nothing else can come between: a step costs
// no place in the queue. Only an event that fires may call Tell.
func (e *Engine) Tell(ev Event) {
	if !e.firing {
		panic(fmt.Sprintf("engine: at %s an event is told while none fires", e.now))
	}
	e.parent = e.fired
	e.tell(ev)
}

func (e *Engine) tell(ev Event) {
	e.fired++
	line := e.chain.link(e.now, ev)
	e.wall.add(e.fired, e.now, line)
	if e.trail != nil {
		e.trail(e.fired, e.now, line)
	}
}

// RunUntil fires everything up to and including time t, then sets the clock to t. It returns early with the clock at
// the last event fired: nil after Stop, the error after Fail.
func (e *Engine) RunUntil(t time.Duration) error {
	e.stopped = false
	for n := 0; len(e.queue) > 0 && e.queue[0].at <= t; n++ {
		if e.interrupted != nil && n%interruptEvery == 0 {
			if err := e.interrupted(); err != nil {
				return err
			}
		}
		if !e.Step() || e.stopped {
			return e.err
		}
	}
	if e.err == nil && t > e.now {
		e.now = t
	}
	return e.err
}

// interruptEvery is how many events fire between two looks: some 100 us, far less than a person notices.
const interruptEvery = 32

// Interrupt makes RunUntil ask fn now and then whether to go on. Its error ends that RunUntil early and changes nothing
// else. It stops an engine from outside of virtual time.
func (e *Engine) Interrupt(fn func() error) { e.interrupted = fn }

// Stop makes the RunUntil in progress return after the present event. What waits keeps waiting.
func (e *Engine) Stop() { e.stopped = true }

// Fail ends the run: nothing fires after the present event. The first error is kept; nil does nothing.
func (e *Engine) Fail(err error) {
	if err != nil && e.err == nil {
		e.err = err
		e.stopped = true
	}
}

// Err is what Fail was given first, nil while the run goes on.
func (e *Engine) Err() error { return e.err }

// Choose asks the run's Chooser for a number in [0, n).
func (e *Engine) Choose(label string, n int) int { return e.chooser.Pick(label, n) }

// Chooser is what Choose asks, for callers that draw by Chance or Duration.
func (e *Engine) Chooser() Chooser { return e.chooser }

// Digest identifies everything that has fired so far: equal digests, equal trails.
func (e *Engine) Digest() Digest { return e.chain.digest() }

// Trail makes fn see each event's number, time and canonical line right before it fires; nil ends that. The line is
// only valid during the call.
func (e *Engine) Trail(fn func(seq int64, at time.Duration, line []byte)) { e.trail = fn }

// Tail returns the last events fired, oldest first, as "number time line".
func (e *Engine) Tail() []string { return e.wall.lines() }

// KeepTail sets how many events Tail remembers, at least 0 (the default is 64), and forgets those of before.
func (e *Engine) KeepTail(n int) { e.wall.resize(n) }

// first is the default Chooser.
type first struct{}

func (first) Pick(string, int) int { return 0 }
