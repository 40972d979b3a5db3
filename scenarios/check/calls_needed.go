package check

import "github.com/vppdrill/vppdrill/scenarios"

const callsNeededName = "calls-needed"

// callsNeeded: the agent asks VPP and Linux for nothing that is so already. It knows what it has done and looks where it does not know, so
// that whoever repeats it has forgotten, or not understood, what a call brings about. What is broken by hand is looked at in parts, for the
// rest of the run.
//
// A snapshot has no history.
func callsNeeded() scenarios.Law {
	return scenarios.Law{
		Name:  callsNeededName,
		Why:   "An agent that does not know what it has done does it again with every pod and peer, and takes for undone what others rely on.",
		When:  scenarios.Always,
		Needs: []scenarios.Evidence{scenarios.NeedlessCalls, scenarios.Disturbances},
		Watch: func() scenarios.Watcher { return &needWatcher{} },
	}
}

type needWatcher struct {
	byHand bool
	checks int64
}

func (w *needWatcher) Checks() int64 { return w.checks }

func (w *needWatcher) Observe(f *scenarios.Fact) error {
	switch f.Kind {
	case scenarios.FactAgentUp:
		w.checks++
	case scenarios.FactDisturbed:
		w.byHand = w.byHand || f.Text == (scenarios.BreakWiring{}).Verb()
	case scenarios.FactNeedless:
		if w.byHand {
			return nil
		}
		w.checks++
		return broken(callsNeededName, f.At, f.Node, "%s says what is so already: look at what the agent has forgotten of the calls before it", f.Text)
	}
	return nil
}
