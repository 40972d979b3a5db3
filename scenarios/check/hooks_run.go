package check

import (
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const hooksRunName = "hooks-run"

// hooksRun: where hooks are configured, the hook after a pod's addition runs before its ADD is answered, and the one before
// its removal before its DEL is, even if the agent restarted in between. A machine that loses power loses its pods and owes
// no hook.
//
// A snapshot has no history.
func hooksRun() fact.Law {
	return fact.Law{
		Name:  hooksRunName,
		Rule:  "The hook after a pod's addition runs before its ADD is answered, the one before its removal before its DEL is.",
		Why:   "A user of hooks keeps state for each pod: it lacks what no hook reports, and leaks it if none reports the removal.",
		When:  fact.Always,
		Needs: []fact.Evidence{fact.Hooks, fact.Sandboxes},
		Watch: func() fact.Watcher { return &hookWatcher{attached: map[sandboxOf]bool{}, added: map[podOn]bool{}} },
	}
}

type hookWatcher struct {
	configured bool
	// attached are sandboxes whose ADD was answered: true once their pod's pre-removal hook has run.
	attached map[sandboxOf]bool
	checks   int64
	// pods are the pods of attached sandboxes.
	pods map[sandboxOf]string
	// added are pods whose hook after the addition has run since their last answer.
	added map[podOn]bool
}

// podOn is a pod of a node.
type podOn struct{ node, pod string }

func (w *hookWatcher) Checks() int64 { return w.checks }

func (w *hookWatcher) Observe(f *fact.Fact) error {
	key := sandboxOf{f.Node, fact.OwnerOf(f.What)}
	switch x := f.What.(type) {
	case fact.Configured:
		w.configured, w.pods = x.Config.Agent.HookTime > 0, map[sandboxOf]string{}
	case fact.Answered:
		if _, second := x.Owner.First(); !w.configured || second {
			return nil
		}
		_, again := w.attached[key]
		w.attached[key], w.pods[key] = false, x.Pod
		w.checks++
		if on := (podOn{f.Node, x.Pod}); !again && !w.added[on] {
			return broken(hooksRunName, f.At, f.Node,
				"the ADD of %s is answered, but the hook after its addition has not run: check what an agent that begins anew does "+
					"about a repeated ADD", x.Pod)
		} else if !again {
			delete(w.added, on)
		}
	case fact.Hooked:
		if x.Phase == fact.HookedAfter {
			w.added[podOn{f.Node, x.Pod}] = true
		}
		for k := range w.attached { //vppdrill:unordered each by itself
			if k.node == f.Node && w.pods[k] == x.Pod && x.Phase == fact.HookedBefore {
				w.attached[k] = true
			}
		}
	case fact.Deleted:
		hooked, attached := w.attached[key]
		delete(w.attached, key)
		if !attached {
			return nil
		}
		w.checks++
		if !hooked {
			return broken(hooksRunName, f.At, f.Node,
				"the DEL of %s is answered, but its pre-removal hook has not run: check what the agent restores about "+
					"attachments in its journal", x.Pod)
		}
	case fact.NodeGone:
		for k := range w.attached { //vppdrill:unordered each is deleted by itself
			if k.node == f.Node {
				delete(w.attached, k)
			}
		}
	}
	return nil
}
