package check

import "github.com/vppdrill/vppdrill/scenarios"

const fullWhenRefusedName = "full-when-refused"

// fullWhenRefused: an ADD is refused for want of an address only where the node has none that is nobody's and does not rest. pods-served
// judges who waits at the end; this one, each refusal on the way there, which the runtime's next try may have made good.
//
// A snapshot has no history.
func fullWhenRefused() scenarios.Law {
	return scenarios.Law{
		Name:  fullWhenRefusedName,
		Why:   "A node that says it is full while it has addresses holds pods up for minutes, and has its owner buy what is not needed.",
		When:  scenarios.Always,
		Needs: []scenarios.Evidence{scenarios.Refusals, scenarios.FreeAddresses},
		Watch: func() scenarios.Watcher { return &fullWatcher{} },
	}
}

type fullWatcher struct{ checks int64 }

func (w *fullWatcher) Checks() int64 { return w.checks }

func (w *fullWatcher) Observe(f *scenarios.Fact) error {
	if f.Kind != scenarios.FactRefused || !f.Exhausted {
		return nil
	}
	w.checks++
	if f.Addr.IsValid() {
		return broken(fullWhenRefusedName, f.At, f.Node, "the ADD of %s was refused for want of an address (%s), and %s is nobody's and does not rest: look at what the allocator takes for used",
			f.Owner, f.Text, f.Addr)
	}
	return nil
}
