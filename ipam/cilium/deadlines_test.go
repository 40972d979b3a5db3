package cilium

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// Time heaps are checked against a sorted list, with equal times and stops in the middle.
func TestDeadlinesComeInOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var d deadlines[int]
	type entry struct{ key, at int }
	var list []entry
	for key := range 500 {
		at := rng.IntN(40)
		d.start(key, epoch.Add(time.Duration(at)))
		list = append(list, entry{key, at})
		if key%3 == 0 {
			gone := rng.IntN(key + 1)
			d.stop(gone)
			list = slices.DeleteFunc(list, func(e entry) bool { return e.key == gone })
		}
	}
	slices.SortStableFunc(list, func(a, b entry) int { return a.at - b.at })
	for _, e := range list {
		if _, early := d.due(epoch.Add(time.Duration(e.at - 1))); early {
			t.Fatalf("something is due before %d", e.at)
		}
		if key, ok := d.due(epoch.Add(time.Duration(e.at))); !ok || key != e.key {
			t.Fatalf("%d %v is due, want %d", key, ok, e.key)
		}
	}
	if _, ok := d.next(); ok {
		t.Error("something is left")
	}
}
