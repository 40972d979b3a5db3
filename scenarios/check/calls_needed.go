package check

import "github.com/vppdrill/vppdrill/scenarios"

const callsNeededName = "calls-needed"

// callsNeeded: the agent asks VPP and Linux for nothing that is so already, and looks only where it does not know: when VPP has come, at what
// a call without an answer or a refused one leaves in doubt, at a CHECK; at nothing twice in one look, and at no interface that it sets nothing on. Whoever repeats it has forgotten, or not understood, what a call brings about. What is broken by hand is looked at in parts, for the
// rest of the run. So it is with the store: what its watch tells is not listed again, and what stands there not written again; and with
// the agent's journal, which is told nothing that it says already.
// And so with controllers and nodes' ipamds: each request to the API server or the cloud is called for by what they were told, and what calls for one, or
// for an event, is followed by it.
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
		if f.Broken != "" {
			return broken(callsNeededName, f.At, f.Node, "%s %s: look at what decides on that", f.Text, f.Broken)
		}
		return broken(callsNeededName, f.At, f.Node, "%s says what is so already: look at what the agent has forgotten of the calls before it", f.Text)
	}
	return nil
}
