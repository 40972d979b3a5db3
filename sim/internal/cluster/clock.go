package cluster

import (
	"time"

	"github.com/vppdrill/vppdrill/sim/engine"
)

// Clock is what this package needs from a run; *engine.Engine is one.
type Clock interface {
	// Now is the virtual time since the run's start.
	Now() time.Duration
	// After schedules ev at d >= 0 from now.
	After(d time.Duration, ev engine.Event)
	// Choose makes a free decision in [0, n).
	Choose(label string, n int) int
}

// MachineClocks are what a kubelet waits by, which is the machine's own count, and what container runtimes stamp
// sandboxes with.
type MachineClocks interface {
	Clock
	// Wall is what the machine's wall clock says.
	Wall() time.Duration
}

// picker lets engine.Chance and engine.Duration draw from a Clock.
type picker struct{ Clock }

func (p picker) Pick(label string, n int) int { return p.Choose(label, n) }

// backOff is the next wait after one of d: first, then doubling up to limit.
func backOff(d, first, limit time.Duration) time.Duration {
	if d <= 0 {
		return first
	}
	return min(2*d, limit)
}

// orDefault is d, or def where a configuration left d zero.
func orDefault[T int | time.Duration](d, def T) T {
	if d == 0 {
		return def
	}
	return d
}
