package collide

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

func options() Options {
	return Options{N: 500, P: 0.001, Trials: 1500, Seed: 1, Window: time.Minute, Latency: time.Millisecond, Held: 100, Churn: 0.5}
}

// Goal: the formulas are those of the literature. Method: the birthday problem of 23 people and of 70, a race by counting, and the
// definition of what is safe.
func TestFormulas(t *testing.T) {
	if p := birthday(23, 365); math.Abs(p-0.507297) > 1e-6 {
		t.Error(p)
	}
	if p := birthday(70, 365); math.Abs(p-0.99916) > 1e-5 {
		t.Error(p)
	}
	if p := birthday(366, 365); p != 1 {
		t.Error(p)
	}
	if p := race(2, 1, 10); math.Abs(p-0.19) > 1e-12 { // two of [0,10] within 1: 1-0.9^2
		t.Error(p)
	}
	for _, c := range []float64{1 << 24, 1 << 32} {
		n := safe(0.001, 1<<30, func(n int) float64 { return approximate(n, c) })
		if birthday(n, c) > 0.001 || birthday(n+1, c) <= 0.001 {
			t.Errorf("%d of %g", n, c)
		}
	}
}

// Goal: formula and simulation say the same where the formula is exact. Method: every row but Cilium's, of which the formula is another
// pick's, at three standard errors; reuse by a cursor within a fifth more, as the number of pods swings in the simulation.
func TestDesk(t *testing.T) {
	o := options()
	rows, err := Desk(o, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != len(choices)+1+len(pickers)*len(memories) {
		t.Errorf("%d rows", len(rows))
	}
	for _, r := range rows {
		if r.Formula == nil || r.Trials == 0 {
			continue
		}
		share := float64(r.Hits) / float64(r.Trials)
		slack := 3 * math.Sqrt(*r.Formula*(1-*r.Formula)/float64(r.Trials))
		if strings.HasPrefix(r.Name, "reuse") {
			slack += 0.2 * *r.Formula
		}
		if math.Abs(share-*r.Formula) > slack+1e-9 {
			t.Errorf("%s, %s: %g simulated, %g by formula", r.Name, r.What, share, *r.Formula)
		}
	}
	again, err := Desk(o, nil)
	if err != nil || !reflect.DeepEqual(rows, again) {
		t.Errorf("the same seed gives other figures, %v", err)
	}
	o.Held = 300
	if _, err := Desk(o, []string{"reuse-dns"}); err == nil {
		t.Error("300 pods fit on a /24")
	}
}
