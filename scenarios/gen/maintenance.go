package gen

import (
	"cmp"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

// drawMaintenance takes nodes out of service and back in one of three runs. Who is not put back is so when everything is healed.
func (d drawer) drawMaintenance(s *scenarios.Scenario) {
	if !d.coin("maintenance", 3) {
		return
	}
	for range 1 + d.c.Pick("nodes in maintenance", 6) {
		at := d.between("maintenance at", time.Second, max(2*time.Second, s.Duration-time.Second))
		s.Timeline = append(s.Timeline, optional(at, one[scenarios.Action](d, "maintenance", scenarios.DrainNode{Node: d.someNodes()},
			scenarios.DrainNode{Node: scenarios.AnyNode}, scenarios.CordonNode{Node: d.someNodes()})))
		if after := d.between("maintenance for", time.Second, 2*time.Minute); at+after < s.Duration {
			s.Timeline = append(s.Timeline, optional(at+after, scenarios.UncordonNode{Node: d.someNodes()}))
		}
	}
	slices.SortStableFunc(s.Timeline, func(a, b scenarios.Step) int { return cmp.Compare(a.Time, b.Time) })
}

// optional is an item that is skipped where it makes no sense at its time.
func optional(at time.Duration, a scenarios.Action) scenarios.Step {
	return scenarios.Step{Trigger: scenarios.AtTime, Time: at, Optional: true, Action: a}
}
