package peers

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// rounds is how often each contestant runs; medians of 7 stand three disturbed rounds.
	rounds = 7
	// batch is how long one run takes: long enough for the clock, short enough for a round to see one state of the
	// machine.
	batch = 20 * time.Millisecond
)

// cpuTime is the processor time of the calling thread. On a machine that others use too it is what an operation costs,
// where the wall clock says how long it waited. The collector's own threads are not in it, which favors whoever
// allocates.
func cpuTime() time.Duration {
	return clock(unix.CLOCK_THREAD_CPUTIME_ID)
}

// processTime is the processor time of all threads, the collector's included.
func processTime() time.Duration { return clock(unix.CLOCK_PROCESS_CPUTIME_ID) }

func clock(id int32) time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(id, &t); err != nil {
		panic(fmt.Sprintf("peers: clock %d: %v", id, err))
	}
	return time.Duration(t.Nano())
}

// lane is one contestant of a race and what was measured.
type lane struct {
	contestant
	run    func(n int) error
	n      int       // operations of one run
	ns     []float64 // per operation, sorted after the race
	allocs float64   // per operation
	err    error     // why it did not take part
}

// median is nanoseconds per operation.
func (l *lane) median() float64 { return l.ns[len(l.ns)/2] }

// spread is how far the middle half of the runs lay apart, as a part of the median.
func (l *lane) spread() float64 { return (l.ns[len(l.ns)*3/4] - l.ns[len(l.ns)/4]) / l.median() }

// race fills every contestant and runs them in turns. One that fails has its error and no figures.
func race(all []contestant, fill int) []*lane {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	lanes := make([]*lane, len(all))
	for i, c := range all {
		lanes[i] = &lane{contestant: c}
		if lanes[i].run, lanes[i].err = c.fill(fill); lanes[i].err == nil {
			lanes[i].err = lanes[i].calibrate()
		}
	}
	for round := range rounds {
		for i := range lanes {
			l := lanes[(i+round)%len(lanes)] // who is first pays for nobody's garbage more often than others
			if l.err == nil {
				l.err = l.measure()
			}
		}
	}
	for _, l := range lanes {
		slices.Sort(l.ns)
	}
	return lanes
}

// calibrate finds how many operations fill a batch.
func (l *lane) calibrate() error {
	for n := 1; ; n *= 4 {
		start := cpuTime()
		if err := l.run(n); err != nil {
			return err
		}
		if took := cpuTime() - start; took > batch/4 || n > 1<<26 {
			l.n = max(1, int(float64(n)*float64(batch)/float64(max(took, 1))))
			return nil
		}
	}
}

func (l *lane) measure() error {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := cpuTime()
	err := l.run(l.n)
	took := cpuTime() - start
	runtime.ReadMemStats(&after)
	if err != nil {
		return fmt.Errorf("%s: %w", l.name, err)
	}
	l.ns = append(l.ns, float64(took.Nanoseconds())/float64(l.n))
	l.allocs = float64(after.Mallocs-before.Mallocs) / float64(l.n)
	return nil
}

// fastest is the quickest lane that keep accepts, nil when there is none.
func fastest(lanes []*lane, keep func(*lane) bool) *lane {
	var best *lane
	for _, l := range lanes {
		if l.err == nil && keep(l) && (best == nil || l.median() < best.median()) {
			best = l
		}
	}
	return best
}
