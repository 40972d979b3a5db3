package check

import (
	"time"

	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const staysQuietName = "stays-quiet"

// quietCause is for how long what happens by itself in a quiet cluster, as a block that is given back, explains what agents do.
const quietCause = 30 * time.Second

// staysQuiet: when everything is healed, done and told to be quiet, agents leave their VPP and Linux alone: who says that nothing is
// pending has nothing pending. Pods that wait for an address ask again, controllers give and take, node IDs are released: each explains
// what follows it for a while.
//
// A snapshot has no history.
func staysQuiet() fact.Law {
	return fact.Law{
		Name:  staysQuietName,
		Why:   "Who waits for an agent to be done, to upgrade it or to drain its node, is told so too early, or never finds it at rest.",
		When:  fact.Always,
		Needs: []fact.Evidence{fact.LongQuiet, fact.Sandboxes, fact.AssignedBlocks, fact.NodeIDs, fact.Records, fact.Disturbances},
		Watch: func() fact.Watcher { return &lingerWatcher{} },
	}
}

type lingerWatcher struct {
	quiet bool
	// excused is until when something explains what is written.
	excused time.Duration
	checks  int64
}

func (w *lingerWatcher) Checks() int64 { return w.checks }

func (w *lingerWatcher) Observe(f *fact.Fact) error {
	if !w.quiet {
		if _, ok := f.What.(fact.Quiet); ok {
			w.quiet = true
			w.checks++
		}
		return nil
	}
	switch x := f.What.(type) {
	case fact.VPPWrite:
		if f.At >= w.excused {
			return broken(staysQuietName, f.At, f.Node, "the agent calls %s although everything was done and nothing has happened since: look at what says that nothing is pending", x.Call)
		}
	case fact.Asked, fact.Assigned, fact.NodeBlocks, fact.NodeID, fact.RecordChange, fact.Addressed,
		fact.Disturbed, fact.NodeGone, fact.AgentUp, fact.AgentDown, fact.SandboxGone, fact.PodChanged:
		w.excused = f.At + quietCause
	}
	return nil
}
