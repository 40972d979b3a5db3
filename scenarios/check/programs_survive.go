package check

import (
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const programsSurviveName = "programs-survive"

// programsSurvive: no agent, controller or operator crashes on its input. Programs that a scenario or a fault kills are
// not judged.
func programsSurvive() fact.Law {
	return fact.Law{
		Name: programsSurviveName,
		Rule: "No agent, controller or operator crashes on its input.",
		Why: "A program that crashes on its input gets the same input after each restart: it crash-loops, and its node " +
			"gets no more pods.",
		When:    fact.Always,
		Foreign: true,
		Needs:   []fact.Evidence{fact.ProgramLives},
		Watch:   func() fact.Watcher { return &programWatcher{} },
	}
}

// programWatcher counts agent starts.
type programWatcher struct{ lives int64 }

func (w *programWatcher) Checks() int64 { return w.lives }

func (w *programWatcher) Observe(f *fact.Fact) error {
	switch x := f.What.(type) {
	case fact.ProgramCrash:
		return broken(programsSurviveName, f.At, f.Node, "%s", x.Why)
	case fact.AgentUp:
		w.lives++
	}
	return nil
}
