package gen

import (
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

// timeline draws moves until the profile's duration is over. The first comes when the cluster has had time to start; the
// last leaves none of the break phase's time unused but never exceeds it.
func (d drawer) timeline(p Profile, k knobs) []scenarios.Step {
	total := 0
	for _, w := range k.weights {
		total += w
	}
	if total == 0 {
		return nil
	}
	st := &state{profile: p, nodes: p.Nodes}
	var steps []scenarios.Step
	for at := d.between("first gap", time.Second, 30*time.Second); at < p.Duration; at += d.between("gap", k.gap/4, k.gap*7/4) {
		for range 1 + d.c.Pick("burst", k.burst) {
			steps = append(steps, scenarios.Step{Trigger: scenarios.AtTime, Time: at, Optional: true, Action: d.move(k, total, st)})
		}
	}
	return steps
}

// move draws one move by its weight.
func (d drawer) move(k knobs, total int, st *state) scenarios.Action {
	n := d.c.Pick("move", total)
	for i, w := range k.weights {
		if n < w {
			return moves[i].draw(d, st)
		}
		n -= w
	}
	panic("gen: weights do not add up")
}
