package check

import (
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const vppSurvivesName = "vpp-survives"

// vppSurvives: no agent ever asks VPP for what a VPP 25.10 dies of, at once or later. The simulator foresees it by what was
// seen of real ones (sim/vppmodel, CrashTrigger), a lab sees VPP die. VPPs that a scenario kills are not meant.
func vppSurvives() fact.Law {
	return fact.Law{
		Name:    vppSurvivesName,
		Why:     "A VPP that dies takes every pod of its node with it, and dies again when the agent repeats itself.",
		When:    fact.Always,
		Foreign: true,
		Needs:   []fact.Evidence{fact.VPPLives},
		Watch:   func() fact.Watcher { return &survivalWatcher{} },
	}
}

// survivalWatcher counts lives of VPPs.
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
