package gen

import (
	"slices"

	"github.com/vppdrill/vppdrill/scenarios"
)

// drawEpilogue has half of all runs go on when everything is healed: agents start anew from what they have written, and pods come and go. What a run
// has spoiled without anybody noticing shows then.
func (d drawer) drawEpilogue(s *scenarios.Scenario, p Profile) {
	if !d.coin("epilogue", 2) {
		return
	}
	then := func(a scenarios.Action) {
		s.Timeline = append(s.Timeline, scenarios.Step{Trigger: scenarios.WhenSettled, Optional: true, Action: a})
	}
	s.Timeline = append(s.Timeline, scenarios.Step{Trigger: scenarios.AtTime, Time: s.Duration, Optional: true, Action: scenarios.Heal{}})
	then(one[scenarios.Action](d, "starts anew", scenarios.RestartAgent{Node: scenarios.AllNodes}, scenarios.RestartAgent{Node: scenarios.AllNodes},
		scenarios.RestartBoth{Node: scenarios.AllNodes}, scenarios.RebootNode{Node: scenarios.AnyNode}))
	then(scenarios.CreatePods{Node: scenarios.AllNodes, Count: 1 + d.c.Pick("pods in the end", p.PodsPerNodeMax)})
	then(scenarios.DeletePods{Node: scenarios.AllNodes, Count: 1 + d.c.Pick("gone in the end", p.PodsPerNodeMax)})
}

// beforeEpilogue is a random scenario's timeline up to where all is healed.
func beforeEpilogue(steps []scenarios.Step) []scenarios.Step {
	i := slices.IndexFunc(steps, func(s scenarios.Step) bool { _, heals := s.Action.(scenarios.Heal); return heals })
	if i < 0 {
		return steps
	}
	return steps[:i:i]
}
