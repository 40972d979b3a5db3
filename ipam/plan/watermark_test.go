package plan

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/vppdrill/vppdrill/ipam/cilium"
)

// Goal: a followed node is always at rest: nothing is needed that it could have, nothing is excess, and no pod waits
// while the limits allow more. Method: random watermarks, limits and pods against the definitions.
func TestWatermarkWalks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := Watermark{ReleaseExcess: rapid.Bool().Draw(t, "release"), Prefixes: rapid.Bool().Draw(t, "prefixes")}
		limits := []int{0, 5, 20}
		if w.Prefixes {
			limits = []int{0, 16, 48}
		}
		w.Limit = rapid.SampledFrom(limits).Draw(t, "limit")
		w.Marks = cilium.Watermarks{PreAllocate: rapid.IntRange(0, 12).Draw(t, "pre"), MinAllocate: rapid.IntRange(0, 20).Draw(t, "min"),
			MaxAboveWatermark: rapid.IntRange(0, 6).Draw(t, "above")}
		if rapid.Bool().Draw(t, "max") {
			w.Marks.MaxAllocate = w.Marks.MinAllocate + rapid.IntRange(0, 10).Draw(t, "max above min")
		}
		for _, row := range w.Follow(rapid.SliceOfN(rapid.IntRange(0, 40), 1, 6).Draw(t, "pods")...) {
			c := cilium.NodeCount{Available: row.Held, Used: row.Assigned}
			full := w.Limit > 0 && row.Held >= w.Limit
			switch {
			case cilium.CalculateNeededIPs(c, w.Marks) > 0 && !full:
				t.Fatalf("%+v needs more", row)
			case w.Prefixes && row.Held%16 != 0:
				t.Fatalf("%+v has a part of a prefix", row)
			case w.ReleaseExcess && !w.Prefixes && cilium.CalculateExcessIPs(c, w.Marks) > 0:
				t.Fatalf("%+v has too many", row)
			case row.Waiting > 0 && !full && (w.Marks.MaxAllocate == 0 || row.Held < w.Marks.MaxAllocate):
				t.Fatalf("%+v lets pods wait", row)
			case row.Assigned+row.Waiting != row.Pods || row.Assigned+row.Available != row.Held:
				t.Fatalf("%+v does not add up", row)
			}
		}
	})
}
