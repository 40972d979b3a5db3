package check

import (
	"time"

	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const staysQuietName = "stays-quiet"

// quietCause is how long a spontaneous change in a quiet cluster, such as a returned block, explains agents' calls.
const quietCause = 30 * time.Second

// staysQuiet: in a healed and settled cluster agents make no calls to VPP and Linux: an agent that reports nothing
// pending has nothing pending. Retries of waiting pods, assignments by controllers and released node IDs each explain
// the calls that follow for a while.
//
// A snapshot has no history.
func staysQuiet() fact.Law {
	return fact.Law{
		Name: staysQuietName,
		Rule: "In a quiet cluster agents make no calls to VPP and Linux.",
		Why: "An operator that waits for an idle agent, to upgrade it or to drain its node, starts too early or waits " +
			"indefinitely.",
		When: fact.Always,
		Needs: []fact.Evidence{fact.LongQuiet, fact.Sandboxes, fact.AssignedBlocks, fact.NodeIDs, fact.Records,
			fact.Disturbances},
		Watch: func() fact.Watcher { return &idleWatcher{} },
	}
}

type idleWatcher struct {
	quiet bool
	// excused is until when something explains an agent's writes.
	excused time.Duration
	checks  int64
}

func (w *idleWatcher) Checks() int64 { return w.checks }

func (w *idleWatcher) Observe(f *fact.Fact) error {
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
			return broken(staysQuietName, f.At, f.Node,
				"the agent calls %s although it had nothing pending and nothing has happened since: check what reports that "+
					"nothing is pending", x.Call)
		}
	case fact.Asked, fact.Assigned, fact.NodeBlocks, fact.NodeID, fact.RecordChange, fact.Addressed,
		fact.Disturbed, fact.NodeGone, fact.AgentUp, fact.AgentDown, fact.SandboxGone, fact.PodChanged:
		w.excused = f.At + quietCause
	}
	return nil
}
