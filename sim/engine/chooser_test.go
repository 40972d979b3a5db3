package engine_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/vppdrill/vppdrill/scenarios/yardstick"
	"github.com/vppdrill/vppdrill/sim/engine"
)

// draw picks n times with each label in turn.
func draw(c engine.Chooser, times, n int, labels ...string) map[string][]int {
	out := make(map[string][]int)
	for range times {
		for _, l := range labels {
			out[l] = append(out[l], c.Pick(l, n))
		}
	}
	return out
}

// Goal: a label's draws do not depend on other labels; they depend on seed and label. Method: the same label drawn
// alone and among others.
func TestSeededLabelsAreIndependent(t *testing.T) {
	alone := draw(engine.Seeded(7), 50, 1000, "a")["a"]
	among := draw(engine.Seeded(7), 50, 1000, "b", "a", "c")
	if !slices.Equal(alone, among["a"]) {
		t.Errorf("alone %v\namong others %v", alone, among["a"])
	}
	if slices.Equal(alone, among["b"]) || slices.Equal(alone, draw(engine.Seeded(8), 50, 1000, "a")["a"]) {
		t.Error("another label or another seed draws the same")
	}
}

// Goal: draws are in range, spread, and the same on every machine. Method: counts of many draws, and pinned values.
func TestSeededSpread(t *testing.T) {
	c := engine.Seeded(1)
	const draws, n = 100_000, 10
	var counts [n]int
	for range draws {
		counts[c.Pick("x", n)]++
	}
	for v, got := range counts {
		// Ten thousand expected, standard deviation 95; the draws are fixed, so this holds or does not.
		if got < 9_600 || got > 10_400 {
			t.Errorf("%d drawn %d times of %d", v, got, draws)
		}
	}
	if c.Pick("x", 1) != 0 {
		t.Error("one alternative, and not 0")
	}
	pinned := []int{28366, 675064, 809186, 595241, 664322, 875362}
	if got := draw(engine.Seeded(42), 6, 1_000_000, "pinned")["pinned"]; !slices.Equal(got, pinned) {
		t.Errorf("drew %v, pinned %v", got, pinned)
	}
}

// Goal: a draw with a known label does not allocate. Method: count.
func TestSeededDoesNotAllocate(t *testing.T) {
	c := engine.Seeded(1)
	if n := testing.AllocsPerRun(1000, func() { c.Pick("label", 1_000_000) }); n != 0 {
		t.Errorf("%v allocations per draw", n)
	}
}

// Goal: a recording holds every decision in its order and no question with one answer. Method: rapid draws of labels
// and widths; then the same questions answered from the recording.
func TestRecording(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type question struct {
			Label string
			N     int
		}
		questions := rapid.SliceOf(rapid.Custom(func(t *rapid.T) question {
			return question{rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "label"), rapid.IntRange(1, 20).Draw(t, "n")}
		})).Draw(t, "questions")
		ask := func(c engine.Chooser) (answers []int) {
			for _, q := range questions {
				answers = append(answers, c.Pick(q.Label, q.N))
			}
			return answers
		}
		recorder := engine.Recording(engine.Seeded(rapid.Uint64().Draw(t, "seed")))
		want := ask(recorder)

		var decided []int
		for i, q := range questions {
			if q.N > 1 {
				decided = append(decided, want[i])
			}
		}
		var kept []int
		for _, p := range recorder.Picks() {
			kept = append(kept, p.Value)
		}
		if !slices.Equal(kept, decided) {
			t.Fatalf("kept %v of %v", kept, decided)
		}
		repeat := listed(kept)
		for i, q := range questions {
			if q.N > 1 && repeat.Pick(q.Label, q.N) != want[i] {
				t.Fatalf("decision %d is not the recording's", i)
			}
		}
	})
}

// listed is a Chooser that makes the listed decisions in their order, and 0 afterwards.
type listed []int

func (l *listed) Pick(string, int) int {
	if len(*l) == 0 {
		return 0
	}
	v := (*l)[0]
	*l = (*l)[1:]
	return v
}

// Goal: an odometer runs every combination once, in order. Method: a space whose size is a product, and one whose later
// decisions depend on earlier ones.
func TestOdometer(t *testing.T) {
	var got []string
	o := engine.NewOdometer()
	for o.Next() {
		got = append(got, fmt.Sprint(o.Pick("a", 2), o.Pick("one", 1), o.Pick("b", 3), o.Pick("c", 2)))
	}
	want := []string{
		"0 0 0 0", "0 0 0 1", "0 0 1 0", "0 0 1 1", "0 0 2 0", "0 0 2 1",
		"1 0 0 0", "1 0 0 1", "1 0 1 0", "1 0 1 1", "1 0 2 0", "1 0 2 1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("product (-want +got):\n%s", diff)
	}
	if o.Next() || o.Runs() != len(want) {
		t.Errorf("%d runs, and goes on: %v", o.Runs(), o.Next())
	}

	got = nil
	for o := engine.NewOdometer(); o.Next(); {
		run := ""
		for range o.Pick("how many", 3) {
			run += fmt.Sprint(o.Pick("value", 2))
		}
		got = append(got, run)
		if picks := o.Picks(); picks[0].Value != len(run) || len(picks) != 1+len(run) {
			t.Errorf("run %q has picks %v", run, picks)
		}
	}
	if diff := cmp.Diff([]string{"", "0", "1", "00", "01", "10", "11"}, got); diff != "" {
		t.Errorf("dependent (-want +got):\n%s", diff)
	}

	got = nil
	for o := engine.NewOdometer(); o.Next(); {
		yes := engine.Chance(o, "p", 0.01)
		got = append(got, fmt.Sprint(yes, engine.Duration(o, "d", time.Second, time.Minute)))
	}
	if diff := cmp.Diff([]string{"false 1s", "false 1m0s", "true 1s", "true 1m0s"}, got); diff != "" {
		t.Errorf("wide decisions (-want +got):\n%s", diff)
	}
}

// Goal: a run that depends on more than its decisions is found. Method: a second run with another first question.
func TestOdometerFindsAnUnrepeatableRun(t *testing.T) {
	o := engine.NewOdometer()
	o.Next()
	o.Pick("a", 2)
	o.Pick("b", 2)
	o.Next()
	defer func() {
		if got, want := fmt.Sprint(recover()), `engine: decision 0 is "c" of 2, in the run before it was "a" of 2`; got != want {
			t.Errorf("panic %q, want %q", got, want)
		}
	}()
	o.Pick("c", 2)
}

// Goal: Chance has its probability, asks nothing when there is nothing to decide, and means no by 0. Method: counts,
// and a recording of what it asks.
func TestChance(t *testing.T) {
	c := engine.Seeded(3)
	hits := 0
	for range 100_000 {
		if engine.Chance(c, "p", 0.25) {
			hits++
		}
	}
	if hits < 24_500 || hits > 25_500 {
		t.Errorf("%d of 100000 at 0.25", hits)
	}
	for _, tt := range []struct {
		p           float64
		want, asked bool
	}{{0, false, false}, {-1, false, false}, {1, true, false}, {2, true, false}, {4e-7, false, false}, {0.9999999, true, false}, {0.5, false, true}} {
		r := engine.Recording(new(listed))
		if got := engine.Chance(r, "p", tt.p); got != tt.want || (len(r.Picks()) > 0) != tt.asked {
			t.Errorf("chance of %v: %v after %d decisions", tt.p, got, len(r.Picks()))
		}
	}
	for _, tt := range []struct {
		value int
		want  bool
	}{{0, false}, {999_998, false}, {999_999, true}} {
		if got := engine.Chance(&listed{tt.value}, "p", 1e-6); got != tt.want {
			t.Errorf("one in a million, drawn %d: %v", tt.value, got)
		}
	}
}

// Goal: both ends are included, and no other time is drawn. Method: many draws from three nanoseconds.
func TestDuration(t *testing.T) {
	c := engine.Seeded(3)
	seen := map[time.Duration]int{}
	for range 1000 {
		seen[engine.Duration(c, "d", 10, 12)]++
	}
	if len(seen) != 3 || seen[10] == 0 || seen[12] == 0 {
		t.Errorf("drew %v of 10 to 12", seen)
	}
	if d := engine.Duration(c, "d", 5, 5); d != 5 {
		t.Errorf("drew %d of 5 to 5", d)
	}
}

func BenchmarkSeededPick(b *testing.B) {
	yardstick.Beside(b)
	c := engine.Seeded(1)
	b.ReportAllocs()
	for b.Loop() {
		c.Pick("store: reply lost", 1_000_000)
	}
}
