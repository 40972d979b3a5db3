package engine

import (
	"fmt"
	"math"
	"time"
)

// chanceSteps is the resolution of Chance: one in a million, finer than any probability that a scenario can observe.
const chanceSteps = 1_000_000

// Chance decides yes with probability p, in steps of 1e-6. At or below 0 it is no and at or above 1 yes, without a
// decision. Picking 0 means no, so a replay that has lost its recording injects nothing.
func Chance(c Chooser, label string, p float64) bool {
	switch {
	case p >= 1:
		return true
	case p <= 0:
		return false
	case p != p:
		panic(fmt.Sprintf("engine: decision %q has no probability", label))
	}
	yes := int(math.Round(p * chanceSteps))
	if yes == 0 || yes == chanceSteps {
		return yes > 0
	}
	return c.Pick(label, chanceSteps) >= chanceSteps-yes
}

// Duration picks a time in [min, max], both included. A max below min is a broken caller and panics.
func Duration(c Chooser, label string, min, max time.Duration) time.Duration {
	if max < min {
		panic(fmt.Sprintf("engine: decision %q is between %s and %s", label, min, max))
	}
	return min + time.Duration(c.Pick(label, int(max-min)+1))
}
