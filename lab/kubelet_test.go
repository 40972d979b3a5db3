package lab

import (
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/lab/internal/podloop"
	"github.com/vppdrill/vppdrill/scenarios/podworker"
)

// Goal: a pod that has gone is taken away once, and its worker has nothing to do any more, whatever the kubelet still
// hears of it. Method: one worker without a sandbox, before and after its object was removed.
func TestGoneOnce(t *testing.T) {
	k := &kubelet{Loop: podloop.New[*worker](func() time.Duration { return 0 })}
	p := &pod{uid: "u"}
	p.deleting.Store(true)
	k.see(p)
	w := k.Workers["u"]
	step, _ := w.Plan()
	if step.Do != podworker.Remove || !w.Begin(step.Op) {
		t.Fatalf("a deleted pod is left where it is: %s", step.Do)
	}
	w.Removed(0, true)
	k.Wake(w)
	k.Group.Wait() // forever, if it had a goroutine
	if step, _ := w.Plan(); step.Do != podworker.Nothing {
		t.Errorf("a pod that has gone is taken away again: %s", step.Do)
	}
}

// Goal: plans are carried out in the order of their times, what follows from one counts from its time and not from when
// it was carried out, and nothing of later happens. Method: plans of plans.
func TestAgenda(t *testing.T) {
	var a Agenda
	var have []time.Duration
	add := func(at, next time.Duration) {
		a.Add(at, func() {
			have = append(have, a.Now(99*time.Second))
			if next > 0 {
				a.Add(a.Now(99*time.Second)+next, func() { have = append(have, a.Now(99*time.Second)) })
			}
		})
	}
	add(3*time.Second, 0)
	add(1*time.Second, time.Second)
	add(1*time.Second, 0)
	add(7*time.Second, 0)
	a.CarryOut(5 * time.Second)
	want := []time.Duration{time.Second, time.Second, 2 * time.Second, 3 * time.Second}
	if len(have) != len(want) {
		t.Fatalf("carried out at %v, want %v", have, want)
	}
	for i := range want {
		if have[i] != want[i] {
			t.Errorf("carried out at %v, want %v", have, want)
		}
	}
	if a.Now(99*time.Second) != 99*time.Second {
		t.Error("time stands still between plans")
	}
}
