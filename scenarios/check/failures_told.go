package check

import "github.com/vppdrill/vppdrill/scenarios"

const failuresToldName = "failures-told"

// failuresTold: whoever's request is refused, or not answered, says so where people look: a node's address management of the cloud, an operator in the
// node's resource, an agent of its disk, and to the runtimes whose ADDs the disk refused or whose CHECK finds no VPP; and an agent records an event when VPP does not answer, lacks an interface that the configuration names, has no
// room for a pod's, or loses the lease of the node's address. It goes on and makes good what it can; that it does so says nobody who looks for why pods wait.
//
// A snapshot has no history.
func failuresTold() scenarios.Law {
	return scenarios.Law{
		Name:  failuresToldName,
		Why:   "A cloud or a disk that refuses what a node asks for leaves its pods without addresses, and nobody finds out why where the node keeps it to itself.",
		When:  scenarios.Always,
		Needs: []scenarios.Evidence{scenarios.ToldFailures},
		Watch: func() scenarios.Watcher { return &toldWatcher{} },
	}
}

type toldWatcher struct{ checks int64 }

func (w *toldWatcher) Checks() int64 { return w.checks }

func (w *toldWatcher) Observe(f *scenarios.Fact) error {
	if f.Kind != scenarios.FactTold {
		return nil
	}
	w.checks++
	if f.Text == "" {
		return broken(failuresToldName, f.At, f.Node, "%s: %s has heard of that, and says so neither where people look nor to whoever asks: look at what becomes of its notes and answers", f.Broken, f.Node)
	}
	return nil
}
