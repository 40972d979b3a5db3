package check

import (
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const grantsSteadyName = "grants-steady"

// steadyTurns is how often a node's assignment may change between growing and shrinking without demand. A filling pool
// may overshoot by one step and give it back.
const steadyTurns = 3

// steadyRefused is how long a pod counts as waiting after its ADD found no address. The kubelet retries, and IPAM
// systems keep looking for an address for it; the modelled Calico plugin looks for this long.
const steadyRefused = 10 * time.Second

// grantsSteady: a node's assignment does not flap, nor does the set of blocks that it allocates from (a block that is
// about to be returned is not allocated from). The law judges quiet nodes: no pod comes, goes or waits for an address,
// nothing disturbs the cluster, and all requests on the node are done. A snapshot has no history, so only runs are
// judged.
func grantsSteady() fact.Law {
	return fact.Law{
		Name: grantsSteadyName,
		Rule: "The blocks of a node at rest do not change.",
		Why: "If the rules for growing and shrinking a pool disagree, it flaps and calls its cloud indefinitely, until " +
			"the cloud throttles it when a pod needs an address.",
		When:  fact.Always,
		Needs: []fact.Evidence{fact.AssignedBlocks, fact.Blocks, fact.Sandboxes, fact.Disturbances},
		Watch: func() fact.Watcher { return &steadyWatcher{nodes: map[string]*steadyNode{}} },
	}
}

// steadyCount is a number of blocks and its changes since the node was disturbed.
type steadyCount struct {
	blocks  int
	shrinks bool
	moved   bool
	turns   int
	// at is the time of the last change.
	at time.Duration
}

type steadyNode struct {
	// assigned counts the blocks that the controller or cloud reports, used those that the node's agent reports.
	assigned, used steadyCount
	disturbs       int64
	// open are the sandboxes whose ADD has no outcome yet: a plugin retries while there is no address.
	open map[ipam.Owner]bool
	// waits is how long a pod that found no address counts as waiting.
	waits time.Duration
}

type steadyWatcher struct {
	nodes map[string]*steadyNode
	// disturbs counts disturbances of the whole cluster.
	disturbs int64
	checks   int64
}

func (w *steadyWatcher) Checks() int64 { return w.checks }

func (w *steadyWatcher) Observe(f *fact.Fact) error {
	switch x := f.What.(type) {
	case fact.Assigned:
		return w.turned(f, &w.node(f.Node).assigned, x.Blocks, "has")
	case fact.NodeBlocks:
		return w.turned(f, &w.node(f.Node).used, x.Blocks, "allocates from")
	case fact.AgentUp: // it reports its blocks again
		w.node(f.Node).rest()
	case fact.Asked:
		n := w.node(f.Node)
		n.rest()
		switch x.Command {
		case fact.AskedAdd, fact.AskedAddress:
			n.open[x.Owner] = true
		case "Del":
			delete(n.open, x.Owner)
		}
	case fact.Answered, fact.Refused, fact.Abandoned, fact.SandboxGone:
		n := w.node(f.Node)
		delete(n.open, fact.OwnerOf(x))
		if r, ok := x.(fact.Refused); ok && r.Exhausted {
			n.waits = f.At + steadyRefused
		}
	case fact.Disturbed:
		w.disturbs++
	case fact.NodeGone:
		w.disturbs++
		delete(w.nodes, f.Node)
	}
	return nil
}

func (w *steadyWatcher) node(name string) *steadyNode {
	n := w.nodes[name]
	if n == nil {
		n = &steadyNode{disturbs: w.disturbs, open: map[ipam.Owner]bool{}}
		w.nodes[name] = n
	}
	return n
}

// rest restarts the count of turns.
func (n *steadyNode) rest() {
	for _, c := range [...]*steadyCount{&n.assigned, &n.used} {
		c.moved, c.turns = false, 0
	}
}

// turned counts a change between growing and shrinking.
func (w *steadyWatcher) turned(f *fact.Fact, c *steadyCount, blocks []ipam.Block, does string) error {
	n := w.node(f.Node)
	if n.disturbs != w.disturbs || len(n.open) > 0 || f.At < n.waits {
		n.rest()
		n.disturbs = w.disturbs
	}
	w.checks++
	before := c.blocks
	c.blocks = 0
	for i := range blocks {
		if !blocks[i].Draining {
			c.blocks++
		}
	}
	if c.blocks == before {
		return nil
	}
	shrinks := c.blocks < before
	if c.moved && shrinks != c.shrinks && f.At > c.at { // a paused agent is notified of several decisions at once
		c.turns++
	}
	c.moved, c.shrinks, c.at = true, shrinks, f.At
	if c.turns > steadyTurns {
		c.turns = 0
		return broken(grantsSteadyName, f.At, f.Node, "%s %s %d blocks after %d and has reversed %d times without demand",
			f.Node, does, c.blocks, before, steadyTurns+1)
	}
	return nil
}
