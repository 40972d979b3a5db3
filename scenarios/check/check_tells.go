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
	switch x := f.What.(type) {
	case fact.Checked:
		return w.answered(f, x.Code, x.Answer, x.Broken, "CHECK of pod "+x.Pod, "its wiring is whole")
	case fact.Status:
		return w.answered(f, x.Code, x.Answer, x.Broken, "STATUS", "the node could add pods")
	}
	return nil
}

func (w *checkWatcher) answered(f *fact.Fact, code uint32, answer, wrong, about, whole string) error {
	w.answers++
	switch {
	case wrong != "" && code == 0:
		return broken(checkTellsName, f.At, f.Node, "%s succeeded although %s; the agent's answer looks at less than what is broken", about, wrong)
	case wrong != "" && strings.HasSuffix(answer, vppwire.LeftOver): // that stops no packet
		return broken(checkTellsName, f.At, f.Node, "%s failed with %q although %s: look at what words it", about, answer, wrong)
	case wrong == "" && code != 0:
		return broken(checkTellsName, f.At, f.Node, "%s failed with code %d (%s) although %s", about, code, answer, whole)
	}
	return nil
}
