package cilium

import (
	"net/netip"
	"testing"

	"pgregory.net/rapid"
)

// Goal: Spread stays in its range, and picks in a row keep the distance that its description promises.
// Method: every pair of a stretch of picks is compared, around the end of the range.
func TestSpreadKeepsItsDistance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &Spread{at: rapid.Uint64().Draw(t, "start")}
		n := rapid.OneOf(rapid.IntRange(1, 100), rapid.Just(65534), rapid.IntRange(1, 1<<48)).Draw(t, "n")
		picks := make([]int, rapid.IntRange(1, 40).Draw(t, "picks"))
		for i := range picks {
			picks[i] = s.Pick("", n)
			if picks[i] < 0 || picks[i] >= n {
				t.Fatalf("picked %d of %d", picks[i], n)
			}
		}
		least := int(0.44*float64(n)/float64(len(picks))) - 1 // 1 for both ends' rounding
		for i, a := range picks {
			for _, b := range picks[:i] {
				if d := max(a, b) - min(a, b); min(d, n-d) < least {
					t.Fatalf("%d and %d of %d are less than %d apart", a, b, n, least)
				}
			}
		}
	})
}

// An address that a node gave back is not picked again before many others were.
func TestSpreadReusesLate(t *testing.T) {
	r, err := NewCIDRRange(netip.MustParsePrefix("10.1.0.0/16"), RangeOptions{}, new(Spread))
	if err != nil {
		t.Fatal(err)
	}
	last := make(map[netip.Addr]int)
	for turn := range 20_000 {
		a, err := r.AllocateNext()
		if err != nil {
			t.Fatal(err)
		}
		if before, again := last[a]; again {
			t.Fatalf("%s was picked in turns %d and %d", a, before, turn)
		}
		last[a] = turn
		r.Release(a)
	}
}
