package podloop

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/podworker"
)

// pod is a worker whose steps take no time and are counted.
type pod struct {
	podworker.Worker[int]
	l      *Loop[*pod]
	number int
	done   []podworker.Do
	// hold, where set, is waited for in front of each step, and entered told of it; failing ADDs fail.
	hold, entered chan struct{}
	failing       bool
}

func (p *pod) Number() int { return p.number }

func (p *pod) Do(_ context.Context, step podworker.Step) {
	if p.hold != nil {
		p.entered <- struct{}{}
		<-p.hold
	}
	p.l.Lock()
	defer p.l.Unlock()
	p.l.Stands()
	p.done = append(p.done, step.Do)
	if !p.Live(step.Op) {
		return
	}
	switch step.Do {
	case podworker.Add:
		p.Adding(p.number)
		p.Added(p.l.now(), !p.failing, false)
	case podworker.Again:
		p.Added(p.l.now(), !p.failing, false)
	case podworker.Del:
		p.Deleted(p.l.now(), true)
	case podworker.Remove:
		p.Removed(p.l.now(), true)
	}
}

func loop() (*Loop[*pod], func(number int) func() *pod) {
	begun := time.Now()
	l := New[*pod](func() time.Duration { return time.Since(begun) })
	config := Config(scenarios.Runtime{})
	return l, func(number int) func() *pod {
		return func() *pod { return &pod{Worker: podworker.New[int](&config), l: l, number: number} }
	}
}

func (l *Loop[W]) start() {
	l.Lock()
	defer l.Unlock()
	l.Start()
}

// settled waits until no worker's goroutine runs.
func (l *Loop[W]) settled(t *testing.T) {
	t.Helper()
	l.Group.Wait()
	l.Lock()
	defer l.Unlock()
	if len(l.busy) > 0 {
		t.Error("a worker without a goroutine counts as busy")
	}
}

// Goal: pods of before the start wait for it, live their lives once, and workers with nothing to do have no goroutine.
// Method: two pods that come, are replaced and go.
func TestLives(t *testing.T) {
	l, make := loop()
	l.See("b", false, make(2))
	l.See("a", false, make(1))
	l.settled(t)
	l.start()
	l.settled(t)
	l.See("a", false, nil) // it is known
	if !l.Replace("a") || l.Replace("nobody") {
		t.Error("replaced what is not there, or not what is")
	}
	l.settled(t)
	l.See("a", true, nil)
	l.Vanished("b")
	l.settled(t)
	l.Lock()
	order := l.InOrder()
	l.Unlock()
	for i, want := range [][]podworker.Do{
		{podworker.Add, podworker.Del, podworker.Add, podworker.Del, podworker.Remove}, {podworker.Add, podworker.Del}} {
		have := order[i].done
		if len(have) < len(want) {
			t.Fatalf("pod %d: %v, want %v", i+1, have, want)
		}
		for k := range want {
			if have[k] != want[k] {
				t.Errorf("pod %d: %v, want %v", i+1, have, want)
			}
		}
	}
	l.Stop()
	l.See("c", false, make(3))
	if len(l.Workers) != 2 {
		t.Error("a kubelet that is gone takes pods")
	}
}

// Goal: a kubelet that stands still takes no answer until it goes on, and Stop ends one that stands still. Method: a
// pause in the middle of an ADD, twice.
func TestPause(t *testing.T) {
	for _, end := range []func(*Loop[*pod]){func(l *Loop[*pod]) { l.Pause(false) }, (*Loop[*pod]).Stop} {
		l, make := loop()
		held := make(1)()
		held.hold, held.entered = newHold(), newHold()
		l.start()
		l.See("a", false, func() *pod { return held })
		<-held.entered
		l.Pause(true)
		close(held.hold)
		time.Sleep(10 * time.Millisecond)
		l.Lock()
		if len(held.done) > 0 {
			t.Error("a kubelet that stands still took an answer")
		}
		l.Unlock()
		end(l)
		l.Group.Wait()
		if len(held.done) != 1 {
			t.Errorf("after the pause: %v", held.done)
		}
	}
}

func newHold() chan struct{} { return make(chan struct{}) }

// Goal: a nudge ends a wait that would last long, and so does Stop. Method: a pod whose ADDs fail.
func TestNudge(t *testing.T) {
	var mu sync.Mutex
	now := time.Duration(0)
	l := New[*pod](func() time.Duration { mu.Lock(); defer mu.Unlock(); return now })
	config := podworker.Config{Retry: time.Hour, RetryMax: time.Hour}
	p := &pod{Worker: podworker.New[int](&config), l: l, number: 1, failing: true}
	l.start()
	l.See("a", false, func() *pod { return p })
	count := func() int { l.Lock(); defer l.Unlock(); return len(p.done) }
	wait := func(n int) {
		for range 500 {
			if count() >= n {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Fatalf("%d steps, want %d", count(), n)
	}
	wait(2) // ADD, and DEL of what it left
	mu.Lock()
	now += 2 * time.Hour
	mu.Unlock()
	l.Lock()
	l.Nudge()
	l.Unlock()
	wait(3)
	l.Stop()
}
