package check

import (
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const vppSurvivesName = "vpp-survives"

// vppSurvives: no agent makes a call that crashes a VPP 25.10, at once or later. The simulator predicts it from crashes
// of real ones (sim/vppmodel, CrashTrigger); a lab sees VPP crash. VPPs that a scenario kills are not judged.
func vppSurvives() fact.Law {
	return fact.Law{
		Name:    vppSurvivesName,
		Rule:    "No call of an agent crashes VPP.",
		Why:     "A crash of VPP disconnects every pod of its node, and VPP crashes again when the agent repeats the call.",
		When:    fact.Always,
		Foreign: true,
		Needs:   []fact.Evidence{fact.VPPLives},
		Watch:   func() fact.Watcher { return &survivalWatcher{} },
	}
}

// survivalWatcher counts starts of VPPs.
type survivalWatcher struct{ lives int64 }

func (w *survivalWatcher) Checks() int64 { return w.lives }

func (w *survivalWatcher) Observe(f *fact.Fact) error {
	switch x := f.What.(type) {
	case fact.VPPCrash:
		return broken(vppSurvivesName, f.At, f.Node, "%s", x.Why)
	case fact.Disturbed:
		if x.By == fact.VPPUp {
			w.lives++
		}
	}
	return nil
}
