package lab

import (
	"slices"
	"sync"
	"time"
)

// lifts are things that happen at a time of the scenario, most of them the ends of faults. Healing does all that are left.
type lifts struct {
	mu      sync.Mutex
	pending []*lift
}

// lift happens at a time; a negative time waits for healing. node is one that joins by it.
type lift struct {
	at   time.Duration
	node string
	do   func()
}

const atHeal = -1

func (l *lifts) add(at time.Duration, node string, do func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending = append(l.pending, &lift{at, node, do})
}

// due does what has come, in the order of times.
func (l *lifts) due(now time.Duration) {
	for {
		x := l.take(func(x *lift) bool { return x.at >= 0 && x.at <= now })
		if x == nil {
			return
		}
		x.do()
	}
}

// all does everything that is left, in the order in which it was added.
func (l *lifts) all() {
	for {
		x := l.take(func(*lift) bool { return true })
		if x == nil {
			return
		}
		x.do()
	}
}

// take removes the first lift that is wanted.
func (l *lifts) take(want func(*lift) bool) *lift {
	l.mu.Lock()
	defer l.mu.Unlock()
	best := -1
	for i, x := range l.pending {
		if want(x) && (best < 0 || x.at < l.pending[best].at) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	x := l.pending[best]
	l.pending = slices.Delete(l.pending, best, best+1)
	return x
}

// any reports whether anything is still to come.
func (l *lifts) any() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.pending) > 0
}

// timed reports whether anything is to come by itself.
func (l *lifts) timed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.pending, func(x *lift) bool { return x.at >= 0 })
}

// pendingNode reports whether a node of that name is about to join again.
func (l *lifts) pendingNode(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.pending, func(x *lift) bool { return x.node == name })
}

// until ends a fault after d, or when everything is healed when d is 0.
func (w *World) until(d time.Duration, end func()) {
	if d > 0 {
		w.lifts.add(w.Now()+d, "", end)
		return
	}
	w.lifts.add(atHeal, "", end)
}
