package check

import (
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const grantsSteadyName = "grants-steady"

// steadyTurns is how often what a node is assigned may turn from growing to shrinking or back while nothing asks for it: a
// pool that is being filled may take one step too many and give it back.
const steadyTurns = 3

// steadyRefused is for how long after an ADD that found no address its pod still counts as waiting: the kubelet tries again, and address
// managements go on looking for an address for it, Calico's plugin as modelled for as long.
const steadyRefused = 10 * time.Second

// grantsSteady: while no pod comes or goes on a node, none waits there for its ADD or was refused a moment ago as there was no address, nothing disturbs the cluster and all that is asked for on the node is answered and done, what the node is
// assigned does not grow and shrink for ever, and neither does what it gives addresses from: a block that is to be given back and is in use is
// out of use meanwhile. A snapshot has no history, so there is nothing to check in one.
func grantsSteady() fact.Law {
	return fact.Law{
		Name:  grantsSteadyName,
		Why:   "A pool that takes with one rule and gives back with another calls its cloud for ever, until it is throttled when a pod needs an address.",
		When:  fact.Always,
		Needs: []fact.Evidence{fact.AssignedBlocks, fact.Blocks, fact.Sandboxes, fact.Disturbances},
		Watch: func() fact.Watcher { return &steadyWatcher{nodes: map[string]*steadyNode{}} },
	}
}

// steadyCount is a number of blocks and how it has changed since the node was disturbed.
type steadyCount struct {
	blocks  int
	shrinks bool
	moved   bool
	turns   int
	// at is when it changed last.
	at time.Duration
}

type steadyNode struct {
	// assigned is what whoever gives blocks says, used what the node's agent does.
	assigned, used steadyCount
	disturbs       int64
	// open are the sandboxes whose ADD has been asked for and has no outcome yet: a plugin asks again for what was not there.
	open map[ipam.Owner]bool
	// waits is until when a pod that found no address counts as waiting.
	waits time.Duration
}

type steadyWatcher struct {
	nodes map[string]*steadyNode
	// disturbs counts what disturbs every node.
	disturbs int64
	checks   int64
}

func (w *steadyWatcher) Checks() int64 { return w.checks }

func (w *steadyWatcher) Observe(f *fact.Fact) error {
	switch x := f.What.(type) {
	case fact.Assigned:
		return w.turned(f, &w.node(f.Node).assigned, x.Blocks, "has")
	case fact.NodeBlocks:
		return w.turned(f, &w.node(f.Node).used, x.Blocks, "gives addresses from")
	case fact.AgentUp: // it says anew what it uses
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

// rest begins to count turns anew.
func (n *steadyNode) rest() {
	for _, c := range [...]*steadyCount{&n.assigned, &n.used} {
		c.moved, c.turns = false, 0
	}
}

// turned counts a turn of a number of blocks.
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
	if c.moved && shrinks != c.shrinks && f.At > c.at { // an agent that stood still hears at once what others decided one after the other
		c.turns++
	}
	c.moved, c.shrinks, c.at = true, shrinks, f.At
	if c.turns > steadyTurns {
		c.turns = 0
		return broken(grantsSteadyName, f.At, f.Node, "%s %s %d blocks after %d and has turned back %d times while nobody asks for anything",
			f.Node, does, c.blocks, before, steadyTurns+1)
	}
	return nil
}
