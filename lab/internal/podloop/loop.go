// Package podloop is the loop of a lab's kubelet: a goroutine for each pod that has something to do, which does one
// thing after the other as podworker decides. What a thing is, worlds say in their Worker.
//
// Start at New. A Loop is embedded in a world's kubelet, whose lock it is.
package podloop

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/podworker"
)

// Worker brings one pod up and down: a podworker.Worker, and what its steps are. All methods but Do are called with the
// Loop locked.
type Worker interface {
	comparable
	Plan() (step podworker.Step, fresh bool)
	Begin(op int) bool
	See(deleting bool)
	Vanish()
	Replace() bool
	// Do does what has begun, and says how it ended.
	Do(ctx context.Context, step podworker.Step)
	// Number is the pod's: workers are in its order.
	Number() int
}

// Loop runs the workers of one node. Its lock guards it, its workers, and whatever its kubelet has.
type Loop[W Worker] struct {
	sync.Mutex
	// On: the kubelet runs. Gone: it never will again.
	On, Gone bool
	// Workers are by their pods' UIDs.
	Workers map[string]W
	// Group has the goroutines of workers, and whatever else Stop is to wait for.
	Group sync.WaitGroup

	now  func() time.Duration
	busy map[W]bool // those whose goroutine runs
	quit chan struct{}
	// nudge is closed and replaced when trying again is worth it at once.
	nudge chan struct{}
	// still is closed when a kubelet that stands still goes on; nil while it runs.
	still chan struct{}
}

// New is a kubelet's loop that is off. now is the time by which workers wait.
func New[W Worker](now func() time.Duration) *Loop[W] {
	return &Loop[W]{Workers: map[string]W{}, now: now, busy: map[W]bool{}, quit: make(chan struct{}), nudge: make(chan struct{})}
}

// Config is how the kubelets of labs behave. Kubernetes waits longer at first.
func Config(r scenarios.Runtime) podworker.Config {
	return podworker.Config{Retry: 250 * time.Millisecond, RetryMax: 8 * time.Second, RepeatAdd: r.RepeatAdd, RepeatDel: r.RepeatDel, AddBeforeDel: r.AddBeforeDel}
}

// ContainerID is 64 hexadecimal digits, as runtimes make them.
func ContainerID() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// Wake starts a worker's goroutine where there is something to do. The Loop is locked.
func (l *Loop[W]) Wake(w W) {
	if l.busy[w] || !l.On {
		return
	}
	if step, _ := w.Plan(); step.Do != podworker.Nothing {
		l.busy[w] = true
		l.Group.Go(func() { l.run(w) })
	}
}

// run does one thing after the other, each when its time has come.
func (l *Loop[W]) run(w W) {
	ctx, cancel := l.within()
	defer cancel()
	for {
		l.Lock()
		l.Stands()
		step, _ := w.Plan()
		if step.Do == podworker.Nothing || !l.On {
			delete(l.busy, w)
			l.Unlock()
			return
		}
		wait, nudge := step.After-l.now(), l.nudge
		begun := wait <= 0 && w.Begin(step.Op)
		l.Unlock()
		if begun {
			w.Do(ctx, step)
			continue
		}
		select {
		case <-ctx.Done():
		case <-nudge:
		case <-time.After(wait):
		}
	}
}

// within is a context that ends with the kubelet.
func (l *Loop[W]) within() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		select {
		case <-l.quit:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// Start starts the kubelet: sandboxes of before get their DEL, pods new ones. The Loop is locked.
func (l *Loop[W]) Start() {
	if l.Gone {
		return
	}
	l.On = true
	for _, w := range l.InOrder() {
		l.Wake(w)
	}
}

// Pause stops the kubelet where it is, or lets it go on: it begins nothing and takes no answer. Plugins that it has
// started go on.
func (l *Loop[W]) Pause(pause bool) {
	l.Lock()
	defer l.Unlock()
	if !pause {
		l.GoOn()
	} else if l.still == nil && l.On {
		l.still = make(chan struct{})
	}
}

// GoOn ends a pause. The Loop is locked.
func (l *Loop[W]) GoOn() {
	if l.still != nil {
		close(l.still)
		l.still = nil
	}
}

// Stands waits while the kubelet stands still. The Loop is locked, except while it waits.
func (l *Loop[W]) Stands() {
	for still := l.still; still != nil && !l.Gone; still = l.still {
		l.Unlock()
		select {
		case <-l.quit:
		case <-still:
		}
		l.Lock()
	}
}

// Nudge lets workers that wait look again at once. The Loop is locked.
func (l *Loop[W]) Nudge() {
	close(l.nudge)
	l.nudge = make(chan struct{})
}

// Stop ends the kubelet for good and returns when nothing of it runs any more.
func (l *Loop[W]) Stop() {
	l.Lock()
	if !l.Gone {
		l.Gone, l.On = true, false
		close(l.quit)
	}
	l.Unlock()
	l.Group.Wait()
}

// See tells the kubelet of a pod that is bound to its node, or that such a pod is to go. make makes the worker of a new
// one.
func (l *Loop[W]) See(uid string, deleting bool, make func() W) {
	l.Lock()
	defer l.Unlock()
	if l.Gone {
		return
	}
	w, known := l.Workers[uid]
	if !known {
		w = make()
		l.Workers[uid] = w
	}
	w.See(deleting)
	l.Wake(w)
}

// Vanished tells the kubelet that a pod's object is not there any more.
func (l *Loop[W]) Vanished(uid string) {
	l.Lock()
	defer l.Unlock()
	if w, known := l.Workers[uid]; known {
		w.Vanish()
		l.Wake(w)
	}
}

// Replace retires a pod's sandbox; false when it has none with an address.
func (l *Loop[W]) Replace(uid string) bool {
	l.Lock()
	defer l.Unlock()
	w, known := l.Workers[uid]
	if !known || !w.Replace() {
		return false
	}
	l.Wake(w)
	return true
}

// InOrder are the workers in the order of their pods. The Loop is locked.
func (l *Loop[W]) InOrder() []W {
	return slices.SortedFunc(maps.Values(l.Workers), func(a, b W) int { return cmp.Compare(a.Number(), b.Number()) })
}
