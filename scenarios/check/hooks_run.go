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
		Watch: func() fact.Watcher {
			return &hookWatcher{attached: map[sandboxOf]attachedPod{}, added: map[podOn]bool{}}
		},
	}
}

type hookWatcher struct {
	configured bool
	// attached are sandboxes whose ADD was answered.
	attached map[sandboxOf]attachedPod
	checks   int64
	// added are pods whose hook after the addition has run since their last answer.
	added map[podOn]bool
}

// attachedPod is an attached sandbox's pod; hooked: its pre-removal hook has run.
type attachedPod struct {
	pod    string
	hooked bool
}

// podOn is a pod of a node.
type podOn struct{ node, pod string }

func (w *hookWatcher) Checks() int64 { return w.checks }

func (w *hookWatcher) Observe(f *fact.Fact) error {
	key := sandboxOf{f.Node, fact.OwnerOf(f.What)}
	switch x := f.What.(type) {
	case fact.Configured:
		w.configured = x.Config.Agent.HookTime > 0
	case fact.Answered:
		if _, second := x.Owner.First(); !w.configured || second {
			return nil
		}
		_, again := w.attached[key]
		w.attached[key] = attachedPod{pod: x.Pod}
		w.checks++
		on := podOn{f.Node, x.Pod}
		if again {
			return nil
		}
		if !w.added[on] {
			return broken(hooksRunName, f.At, f.Node,
				"the ADD of %s is answered, but the hook after its addition has not run: check what an agent that begins anew does "+
					"about a repeated ADD", x.Pod)
		}
		delete(w.added, on)
	case fact.Hooked:
		if x.Phase == fact.HookedAfter {
			w.added[podOn{f.Node, x.Pod}] = true
		}
		if x.Phase != fact.HookedBefore {
			return nil
		}
		for k, a := range w.attached { //vppdrill:unordered each by itself
			if k.node == f.Node && a.pod == x.Pod {
				a.hooked = true
				w.attached[k] = a
			}
		}
	case fact.Deleted:
		a, attached := w.attached[key]
		delete(w.attached, key)
		if !attached {
			return nil
		}
		w.checks++
		if !a.hooked {
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
