package cilium

import "testing"

// Goal: the watermarks ask for what is missing, never ask and give back at once, and never flap: after a release
// nothing is needed and nothing is excess, after an allocation nothing is excess. Method: all counts and watermarks up
// to a bound that is larger than every sum at which a formula changes, against definitions that count addresses one by
// one.
func TestWatermarksNeverFlap(t *testing.T) {
	const availableMax, preMax, minMax, aboveMax = 24, 9, 9, 4
	flaps, excesses := 0, 0
	for available := range availableMax + 1 {
		for used := range available + 1 {
			for pre := range preMax + 1 {
				for low := range minMax + 1 {
					for above := range aboveMax + 1 {
						for _, top := range [...]int{0, low, low + 3, low + 12} {
							c := NodeCount{Available: available, Used: used}
							w := Watermarks{PreAllocate: pre, MinAllocate: low, MaxAllocate: top, MaxAboveWatermark: above}
							excesses += checkWatermarks(t, c, w, &flaps)
						}
					}
				}
			}
		}
	}
	if flaps == 0 || excesses == 0 {
		t.Errorf("%d flaps of the floorless formula and %d excesses were met: the space is too small", flaps, excesses)
	}
}

func checkWatermarks(t *testing.T, c NodeCount, w Watermarks, flaps *int) int {
	t.Helper()
	needed, excess := CalculateNeededIPs(c, w), CalculateExcessIPs(c, w)
	if want := slowNeeded(c, w); needed != want {
		t.Fatalf("%+v %+v: needed %d, want %d", c, w, needed, want)
	}
	if needed > 0 && excess > 0 {
		t.Fatalf("%+v %+v: needed %d and excess %d", c, w, needed, excess)
	}
	after := NodeCount{Available: c.Available - excess, Used: c.Used}
	if n, e := CalculateNeededIPs(after, w), CalculateExcessIPs(after, w); excess > 0 && (n > 0 || e > 0) {
		t.Fatalf("%+v %+v: after releasing %d, needed %d and excess %d", c, w, excess, n, e)
	}
	request := CalculateRequest(c, w)
	grown := NodeCount{Available: c.Available + request, Used: c.Used}
	if (request > 0) != (needed > 0) || CalculateNeededIPs(grown, w) > 0 || request > 0 && CalculateExcessIPs(grown, w) > 0 {
		t.Fatalf("%+v %+v: after asking for %d, needed %d and excess %d", c, w, request, CalculateNeededIPs(grown, w), CalculateExcessIPs(grown, w))
	}
	if w.MaxAllocate > 0 && request > 0 && grown.Available > w.MaxAllocate {
		t.Fatalf("%+v %+v: asks for %d", c, w, request)
	}
	// The formula without the floor is what this one replaces: it must flap somewhere here.
	if keep := w.MinAllocate + w.MaxAboveWatermark; c.Used > keep || c.Available > keep {
		floorless := max(c.Available-c.Used-w.Unused()-w.MaxAboveWatermark, 0)
		if CalculateNeededIPs(NodeCount{Available: c.Available - floorless, Used: c.Used}, w) > 0 && floorless > 0 {
			*flaps++
		}
	}
	return excess
}

// slowNeeded adds one address at a time until nothing is missing or nothing may be added.
func slowNeeded(c NodeCount, w Watermarks) (n int) {
	pre := w.PreAllocate
	if pre == 0 {
		pre = 8
	}
	for ; ; n++ {
		have := c.Available + n
		full := w.MaxAllocate > 0 && have >= w.MaxAllocate
		if full || have-c.Used >= pre && have >= w.MinAllocate {
			return n
		}
	}
}
