package gen

import (
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

// apart keeps a living machine's Node object from being deleted where its ID would be given to another node meanwhile, by every agent's
// right: in a store that has lost the records as well, or behind a quarantine that is shorter than the object's absence.
func apart(s *scenarios.Scenario) {
	does := func(verb string) bool {
		return slices.ContainsFunc(s.Timeline, func(step scenarios.Step) bool { return step.Action.Verb() == verb })
	}
	unregister := scenarios.UnregisterNode{}.Verb()
	switch {
	case !does(unregister):
	case does(scenarios.WipeStore{}.Verb()):
		s.Timeline = slices.DeleteFunc(s.Timeline, func(step scenarios.Step) bool { return step.Action.Verb() == unregister })
	default:
		s.Config.Agent.NodeIDQuarantine = max(s.Config.Agent.NodeIDQuarantine, 10*time.Minute)
	}
}
