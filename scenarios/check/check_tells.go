package check

import (
	"strings"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire"
)

const checkTellsName = "check-tells"

// checkTells: CHECK fails for a pod whose wiring is broken, whoever broke it, and succeeds for one whose wiring is whole; STATUS fails
// where no pod could be added, and succeeds where one could. What is broken is seen by walking packets, not asked of the agent.
func checkTells() fact.Law {
	return fact.Law{
		Name:  checkTellsName,
		Why:   "A CHECK that always succeeds leaves a pod without network unnoticed; one that fails for no reason has healthy pods torn down.",
		When:  fact.Always,
		Needs: []fact.Evidence{fact.Checks},
		Watch: func() fact.Watcher { return &checkWatcher{} },
	}
}

// checkWatcher counts answers.
type checkWatcher struct{ answers int64 }

func (w *checkWatcher) Checks() int64 { return w.answers }

func (w *checkWatcher) Observe(f *fact.Fact) error {
	if f.Kind != fact.FactChecked && f.Kind != fact.FactStatus {
		return nil
	}
	w.answers++
	about, whole := "CHECK of pod "+f.Pod, "its wiring is whole"
	if f.Kind == fact.FactStatus {
		about, whole = "STATUS", "the node could add pods"
	}
	switch {
	case f.Broken != "" && f.Number == 0:
		return broken(checkTellsName, f.At, f.Node, "%s succeeded although %s; the agent's answer looks at less than what is broken", about, f.Broken)
	case f.Broken != "" && strings.HasSuffix(f.Text, vppwire.LeftOver): // that stops no packet
		return broken(checkTellsName, f.At, f.Node, "%s failed with %q although %s: look at what words it", about, f.Text, f.Broken)
	case f.Broken == "" && f.Number != 0:
		return broken(checkTellsName, f.At, f.Node, "%s failed with code %d (%s) although %s", about, f.Number, f.Text, whole)
	}
	return nil
}
