package sim

import (
	"context"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

// Goal: what is due is told for as long as nothing disturbs the cluster, and not at all behind a disturbance. Method: an agent at rest of which the
// world is made to believe that it has something to do.
func TestDueIsToldInCalm(t *testing.T) {
	for _, disturbed := range []bool{false, true} {
		s, err := scenarios.Parse("due.yaml", []byte("name: due\ntopology: {nodes: 1}\n"))
		if err != nil {
			t.Fatal(err)
		}
		w, err := New(s, Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		var longest time.Duration
		w.Watch(func(f scenarios.Fact) error {
			if f.Kind == scenarios.FactDue {
				longest = max(longest, f.Rest)
			}
			return nil
		})
		if err := w.Settle(context.Background(), time.Minute); err != nil {
			t.Fatal(err)
		}
		if disturbed {
			w.disturb()
		}
		p := w.order[0].proc
		p.stepped, p.lastDue = false, "no node ID yet"
		if err := w.Advance(context.Background(), w.Now()+10*time.Second); err != nil {
			t.Fatal(err)
		}
		if err := w.Heal(context.Background()); err != nil {
			t.Fatal(err)
		}
		if told := longest > 5*time.Second; told == disturbed {
			t.Errorf("disturbed: %t: due for %s", disturbed, longest)
		}
	}
}
