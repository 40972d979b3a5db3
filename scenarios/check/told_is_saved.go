package check

import "github.com/vppdrill/vppdrill/scenarios"

const toldIsSavedName = "told-is-saved"

// toldIsSaved: what is told is on the disk before: the lease of an ADD that was answered, the release of what a DEL was answered for,
// the node ID that is acted on, and which blocks a node gives addresses from and which drain. It needs no crash to be seen: a crash at that moment would undo what somebody counts on.
//
// Memory and disk at one instant are evidence of facts; a snapshot shows neither.
func toldIsSaved() scenarios.Law {
	return scenarios.Law{
		Name:  toldIsSavedName,
		Why:   "A crash at the wrong moment gives a pod's address, or a node's ID, to another one.",
		When:  scenarios.Always,
		Needs: []scenarios.Evidence{scenarios.Disks, scenarios.Sandboxes, scenarios.NodeIDs},
		Watch: func() scenarios.Watcher { return &savedWatcher{} },
	}
}

type savedWatcher struct{ checks int64 }

func (w *savedWatcher) Checks() int64 { return w.checks }

func (w *savedWatcher) Observe(f *scenarios.Fact) error {
	what := ""
	switch f.Kind {
	case scenarios.FactAnswered:
		what = "the ADD of " + f.Owner.String() + " is answered with " + f.Addr.String()
	case scenarios.FactAgentUp:
		what = "the agent of " + f.Node + " starts"
	case scenarios.FactDeleted:
		what = "the DEL of " + f.Owner.String() + " is answered"
	case scenarios.FactNodeID:
		if f.Number == 0 {
			return nil
		}
		what = f.Node + " acts on a node ID"
	default:
		return nil
	}
	w.checks++
	if f.Unsaved == "" {
		return nil
	}
	return broken(toldIsSavedName, f.At, f.Node, "%s, and %s: look at what waits for the journal", what, f.Unsaved)
}
