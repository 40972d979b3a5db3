package yardstick

import "testing"

// TestRounds goal: the reference work is the same on every machine and for ever. Method: its checksums.
func TestRounds(t *testing.T) {
	for n, want := range map[int]uint64{0: 0, 1: 1, 1000: 6451792194516209770, 100_000: 14283581823755066975} {
		if got := Rounds(n); got != want {
			t.Errorf("%d rounds come to %d, want %d", n, got, want)
		}
	}
}

// TestBeside goal: a benchmark gets the rate among its figures, above 0 and outside of its time. Method: one that does nothing.
func TestBeside(t *testing.T) {
	r := testing.Benchmark(func(b *testing.B) {
		Beside(b)
		for b.Loop() {
		}
	})
	if r.Extra["ref/s"] <= 0 {
		t.Errorf("figures %v", r.Extra)
	}
}
