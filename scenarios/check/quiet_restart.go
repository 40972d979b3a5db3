package check

import (
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const quietRestartName = "quiet-restart"

// quietWindow is how long an agent is watched after its start. That is longer than the dumps of a node in a mesh of a
// thousand, and than the first replies of API server and store.
const quietWindow = 2 * time.Second

// quietRestart: after a clean stop, the restarted agent writes nothing in its first moments, unless the node's desired
// state may have changed. Anything that may change it ends the watch: a pod that comes or goes on the node, a node ID
// or blocks that change anywhere, a node that leaves, and any kind of fact that this law does not know. Facts that
// repeat known state (an agent reports its ID and blocks after its start) do not end the watch.
func quietRestart() fact.Law {
	return fact.Law{
		Name:  quietRestartName,
		Rule:  "An agent that restarts after a clean stop writes nothing, unless what it should wire has changed.",
		Why:   "An agent that rewrites a correct dataplane at its start interrupts every pod of the node on each upgrade.",
		When:  fact.Always,
		Needs: []fact.Evidence{fact.CleanStops, fact.Disturbances},
		Watch: func() fact.Watcher { return &quietWatcher{nodes: map[string]*quietNode{}} },
	}
}

type quietNode struct {
	// armed: stopped cleanly and undisturbed since then; up: started again, at since.
	armed, up bool
	since     time.Duration
	id        uint32
	blocks    []ipam.Block
}

type quietWatcher struct {
	nodes map[string]*quietNode
	// armed counts armed nodes, so that writes cost nothing while it is 0.
	armed  int
	checks int64
}

func (w *quietWatcher) Checks() int64 { return w.checks }

func (w *quietWatcher) Observe(f *fact.Fact) error {
	switch x := f.What.(type) {
	case fact.VPPWrite:
		if w.armed == 0 {
			return nil
		}
		n := w.node(f.Node)
		judged := n.armed && n.up && f.At-n.since < quietWindow
		w.disarm(f.Node)
		if judged {
			return broken(quietRestartName, f.At, f.Node, "after a clean restart the agent wrote %q", x.Call)
		}
	case fact.AgentDown:
		w.disarm(f.Node)
		if x.Why == fact.CleanStop {
			n := w.node(f.Node)
			n.armed, n.up = true, false
			w.armed++
		}
	case fact.AgentUp:
		if n := w.node(f.Node); n.armed {
			n.up, n.since = true, f.At
			w.checks++
		}
	case fact.NodeID:
		if n := w.node(f.Node); n.id != x.ID {
			n.id = x.ID
			w.disarmAll()
		}
	case fact.NodeBlocks:
		if n := w.node(f.Node); !slices.Equal(n.blocks, x.Blocks) {
			n.blocks = append(n.blocks[:0], x.Blocks...)
			w.disarmAll()
		}
	case fact.Asked, fact.Leased, fact.Released, fact.Answered, fact.Refused, fact.DelRefused,
		fact.Deleted, fact.SandboxGone:
		w.disarm(f.Node)
	case fact.NodeGone:
		w.disarmAll()
		delete(w.nodes, f.Node)
	case fact.Addressed, fact.Removed, fact.RecordChange:
		// the write itself is a VPPWrite, and its possible causes are above
	case fact.CallRefused, fact.Abandoned, fact.Slow, fact.Changing, fact.Range, fact.SavedLease, fact.SavedRelease,
		fact.SavedNodeID, fact.SavedAll, fact.Hooked, fact.Configured, fact.Quiet, fact.Counted:
		// counts are of earlier requests
	default: // Disturbed, and kinds that later versions add
		w.disarmAll()
	}
	return nil
}

func (w *quietWatcher) disarm(node string) {
	if w.armed == 0 {
		return
	}
	if n := w.nodes[node]; n != nil && n.armed {
		n.armed = false
		w.armed--
	}
}

func (w *quietWatcher) disarmAll() {
	if w.armed == 0 {
		return
	}
	w.armed = 0
	for _, n := range w.nodes {
		n.armed = false
	}
}

func (w *quietWatcher) node(name string) *quietNode {
	n := w.nodes[name]
	if n == nil {
		n = &quietNode{}
		w.nodes[name] = n
	}
	return n
}
