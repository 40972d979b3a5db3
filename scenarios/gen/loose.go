package gen

import (
	"cmp"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

// drawn is the label of random scenarios.
const drawn = "random"

// Like bounds what variations of a scenario add to it: a node more or less, some pods, things to happen within the time that it takes.
func Like(s *scenarios.Scenario) Profile {
	const nodesMost, podsMost = 7, 12 // as many as profiles have; moves name any node, whatever their number
	length := max(loosened(s), time.Minute)
	p := Tiny()
	p.Name, p.Duration = "like-"+s.Name, length
	if !s.Config.IPAM.Traits().ByID {
		p.Systems = Systems().Systems
	}
	p.Nodes = min(s.Topology.Nodes, nodesMost)
	p.NodesMin, p.NodesMax = max(1, p.Nodes-1), p.Nodes+1
	p.PodsPerNodeMax = min(max(s.Topology.PodsPerNode, p.PodsPerNodeMax), podsMost)
	p.GapMin, p.GapMax = length/12, length/3
	p.ChurnMin, p.ChurnMax = p.GapMin, p.GapMax
	return p
}

// waits are for how long a variation waits where the scenario that it varies waits for quiet. With what is added there may be none.
var waits = [...]time.Duration{time.Second, 10 * time.Second, 30 * time.Second, 3 * time.Minute}

// loose is a scenario that can be varied: what it must amount to is not asked of variations, what makes no sense any more is left out, and
// nothing waits for quiet before all is healed. A random scenario is one already.
func (d drawer) loose(s *scenarios.Scenario) scenarios.Scenario {
	v := *s
	v.File, v.Faults.Inject = "", slices.Clone(s.Faults.Inject)
	if slices.Contains(s.Labels, drawn) {
		v.Timeline = slices.Clone(beforeEpilogue(s.Timeline))
		return v
	}
	v.Expect, v.Seeds, v.Limits.Violations = scenarios.Expect{}, 1, 1
	v.Limits.Settle = max(v.Limits.Settle, settleMost)
	v.Timeline = nil
	for _, step := range s.Timeline {
		switch step.Action.(type) {
		case scenarios.Settle:
			continue
		case scenarios.SetPodCIDR:
			continue // two nodes would have one range where the first does not give it back in time
		}
		if step.Optional = true; step.Trigger == scenarios.WhenSettled {
			step.Trigger, step.Time = scenarios.AfterPrevious, one(d, "instead of quiet", waits[:]...)
		}
		v.Timeline = append(v.Timeline, step)
	}
	v.Duration = loosened(s)
	return v
}

// decided reports whether an item follows from another cluster's address plan.
func decided(s scenarios.Step) bool {
	_, renumbers := s.Action.(scenarios.ChangeNodeAddress)
	return renumbers
}

// loosened is how long a loose scenario goes on: its own time or the sum of its waits.
func loosened(s *scenarios.Scenario) time.Duration {
	length := time.Duration(0)
	for _, step := range s.Timeline {
		switch step.Trigger {
		case scenarios.AfterPrevious:
			length += step.Time
		case scenarios.WhenSettled:
			length += waits[len(waits)/2]
		case scenarios.AtTime:
			length = max(length, step.Time)
		}
	}
	return max(s.BreakEnd(), length+10*time.Second)
}

// inOrder sorts items by their times. Those that wait for the ones before them stay behind those.
func inOrder(steps []scenarios.Step) []scenarios.Step {
	var groups [][]scenarios.Step
	for i, step := range steps {
		if i == 0 || step.Trigger == scenarios.AtTime {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], step)
	}
	slices.SortStableFunc(groups, func(a, b []scenarios.Step) int { return cmp.Compare(absolute(a[0]), absolute(b[0])) })
	return slices.Concat(groups...)
}

// absolute is the time of an item that has one of its own, and nought for others.
func absolute(s scenarios.Step) time.Duration {
	if s.Trigger != scenarios.AtTime {
		return 0
	}
	return s.Time
}
