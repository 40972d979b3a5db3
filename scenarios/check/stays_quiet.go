package check

import (
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

const staysQuietName = "stays-quiet"

// quietCause is for how long what happens by itself in a quiet cluster, as a block that is given back, explains what agents do.
const quietCause = 30 * time.Second

// staysQuiet: when everything is healed, done and told to be quiet, agents leave their VPP and Linux alone: who says that nothing is
// pending has nothing pending. Pods that wait for an address ask again, controllers give and take, node IDs are released: each explains
// what follows it for a while.
//
// A snapshot has no history.
func staysQuiet() scenarios.Law {
	return scenarios.Law{
		Name:  staysQuietName,
		Why:   "Who waits for an agent to be done, to upgrade it or to drain its node, is told so too early, or never finds it at rest.",
		When:  scenarios.Always,
		Needs: []scenarios.Evidence{scenarios.LongQuiet, scenarios.Sandboxes, scenarios.AssignedBlocks, scenarios.NodeIDs, scenarios.Records, scenarios.Disturbances},
		Watch: func() scenarios.Watcher { return &lingerWatcher{} },
	}
}

type lingerWatcher struct {
	quiet bool
	// excused is until when something explains what is written.
	excused time.Duration
	checks  int64
}

func (w *lingerWatcher) Checks() int64 { return w.checks }

func (w *lingerWatcher) Observe(f *scenarios.Fact) error {
	if !w.quiet {
		if f.Kind == scenarios.FactQuiet {
			w.quiet = true
			w.checks++
		}
		return nil
	}
	switch f.Kind {
	case scenarios.FactVPPWrite:
		if f.At >= w.excused {
			return broken(staysQuietName, f.At, f.Node, "the agent calls %s although everything was done and nothing has happened since: look at what says that nothing is pending", f.Text)
		}
	case scenarios.FactAsked, scenarios.FactAssigned, scenarios.FactBlocks, scenarios.FactNodeID, scenarios.FactRecord, scenarios.FactAddressed,
		scenarios.FactDisturbed, scenarios.FactNodeGone, scenarios.FactAgentUp, scenarios.FactAgentDown, scenarios.FactSandboxGone, scenarios.FactPod:
		w.excused = f.At + quietCause
	}
	return nil
}
