package check

import "github.com/vppdrill/vppdrill/scenarios"

const programsSurviveName = "programs-survive"

// programsSurvive: no agent, controller or operator dies of what it was told. Those that a scenario or a fault kills are not meant.
func programsSurvive() scenarios.Law {
	return scenarios.Law{
		Name:    programsSurviveName,
		Why:     "A program that dies of what it was told is told the same again after each restart, and its node gets no more pods.",
		When:    scenarios.Always,
		Foreign: true,
		Needs:   []scenarios.Evidence{scenarios.ProgramLives},
		Watch:   func() scenarios.Watcher { return &programWatcher{} },
	}
}

// programWatcher counts lives of agents.
type programWatcher struct{ lives int64 }

func (w *programWatcher) Checks() int64 { return w.lives }

func (w *programWatcher) Observe(f *scenarios.Fact) error {
	switch f.Kind {
	case scenarios.FactProgramCrash:
		return broken(programsSurviveName, f.At, f.Node, "%s", f.Text)
	case scenarios.FactAgentUp:
		w.lives++
	}
	return nil
}
