package controllers

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/vppdrill/vppdrill/ipam/cilium"
)

// Goal: the product's sums about watermarks are those that are counted one by one. Method: counts and watermarks at random.
func TestMarks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		some := func(label string, most int) int { return rapid.IntRange(0, most).Draw(t, label) }
		c := cilium.NodeCount{Available: some("available", 40)}
		c.Used = rapid.IntRange(0, c.Available).Draw(t, "used")
		w := cilium.Watermarks{PreAllocate: rapid.IntRange(-1, 16).Draw(t, "pre"), MinAllocate: some("min", 20), MaxAboveWatermark: some("above", 10)}
		if rapid.Bool().Draw(t, "limited") {
			w.MaxAllocate = w.MinAllocate + rapid.IntRange(1, 20).Draw(t, "max")
		}
		lacks, over := marksOf(c, w)
		if n := cilium.CalculateNeededIPs(c, w); n != lacks {
			t.Fatalf("%+v with %+v lacks %d: %d", c, w, n, lacks)
		}
		if n := cilium.CalculateExcessIPs(c, w); n != over {
			t.Fatalf("%+v with %+v has %d too many: %d", c, w, n, over)
		}
	})
}
