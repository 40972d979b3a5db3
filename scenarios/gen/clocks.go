package gen

import (
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

// drawClocks draws how wrong machines' clocks are: right in two of three runs.
func (d drawer) drawClocks(t *scenarios.Topology) {
	if !d.coin("wrong clocks", 3) {
		return
	}
	t.ClockSpread = one(d, "clock spread", 0, time.Second, time.Minute, time.Hour)
	t.ClockDrift = one(d, "clock drift", 0, 0.0001, scenarios.ClockDriftMost)
}

// drawNewest has some runs' kubelets take the sandbox with the latest stamp for a pod's present one.
func (d drawer) drawNewest(r *scenarios.Runtime) { r.NewestByClock = d.coin("newest by clock", 3) }

// drawClock sets a node's clock ahead or back.
func drawClock(d drawer, _ *state) scenarios.Action {
	a, by := scenarios.SetClock{Node: d.someNodes()}, one(d, "clock jump", 10*time.Second, 10*time.Minute, time.Hour)
	if d.coin("clock back", 2) {
		a.Back = by
	} else {
		a.Ahead = by
	}
	return a
}
