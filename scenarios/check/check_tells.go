package check

import (
	"strings"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire"
)

const checkTellsName = "check-tells"

// checkTells: CHECK fails for a pod whose wiring is broken, whatever broke it, and succeeds for an intact one. STATUS
// fails on a node that cannot add pods, and succeeds on one that can. The law finds broken wiring by walking packets;
// it does not ask the agent.
func checkTells() fact.Law {
	return fact.Law{
		Name: checkTellsName,
		Rule: "CHECK fails for a pod whose wiring is broken and succeeds for an intact one; STATUS does the same for nodes.",
		Why: "A CHECK that always succeeds hides pods without network; one that fails without reason makes the runtime " +
			"tear down healthy pods.",
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
		return w.answered(f, x.Code, x.Answer, x.Broken, "CHECK of pod "+x.Pod, "its wiring is intact")
	case fact.Status:
		return w.answered(f, x.Code, x.Answer, x.Broken, "STATUS", "the node could add pods")
	}
	return nil
}

func (w *checkWatcher) answered(f *fact.Fact, code uint32, answer, wrong, about, whole string) error {
	w.answers++
	switch {
	case wrong != "" && code == 0:
		return broken(checkTellsName, f.At, f.Node,
			"%s succeeded although %s: check what the agent's answer does not look at", about, wrong)
	case wrong != "" && strings.HasSuffix(answer, vppwire.LeftOver): // that stops no packet
		return broken(checkTellsName, f.At, f.Node, "%s failed with %q although %s: check where that text comes from", about,
			answer, wrong)
	case wrong == "" && code != 0:
		return broken(checkTellsName, f.At, f.Node, "%s failed with code %d (%s) although %s", about, code, answer, whole)
	}
	return nil
}
