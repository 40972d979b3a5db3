package observe

import (
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/mode"
)

// View is what a Node sees beside the agent, and whom it notifies.
type View interface {
	// Fact takes a fact about the node.
	Fact(f fact.Fact)
	// Rest is how long a released address stays unused.
	Rest() time.Duration
	// Left is what still exists of an address' owner that has released it; Formerly is what exists of the owner before a
	// new one.
	Left(addr netip.Addr, owner ipam.Owner) *fact.Leftover
	Formerly(addr netip.Addr, owner ipam.Owner) *fact.Leftover
	// Pool is the one that an owner asked for, "" where there is one.
	Pool(owner ipam.Owner) string
	// Released and Leased are called before the facts, Identified when the node's ID or blocks have changed.
	Released(addr netip.Addr)
	Leased(owner ipam.Owner)
	Identified()
	// Management are the addresses of the Linux side.
	Management() []netip.Addr
}

// Node observes one node from one life of its agent to the next.
type Node struct {
	view   View
	wiring mode.Config
	// agent is the present life, nil while there is none. leases are the leases reported as facts, nil until the agent has
	// read its journal.
	agent  *agent.Agent
	leases *agent.LeaseChanges
	// id and blocks are what was reported last.
	id     uint32
	blocks []ipam.Block
	told   addressed
	// unsynced are the journal's writes that have not reached the disk, oldest first.
	unsynced []agent.Persist
}

// New observes a node. Its agent has not started yet.
func New(view View, wiring mode.Config) *Node { return &Node{view: view, wiring: wiring} }

// ID and Blocks are what the node acts on, by the reported facts.
func (n *Node) ID() uint32           { return n.id }
func (n *Node) Blocks() []ipam.Block { return n.blocks }

// Begin is a life of the agent that is about to read these records.
func (n *Node) Begin(a *agent.Agent, records []agent.Record) {
	n.agent, n.leases, n.unsynced = a, nil, nil
	n.saved(records)
}

// Restored is that life behind its first step: it has read its journal.
func (n *Node) Restored() {
	leases := slices.Collect(n.agent.Leases())
	n.leases = agent.NewLeaseChanges(slices.Values(leases))
	n.view.Fact(fact.Fact{What: fact.AgentUp{Leases: leases}})
	n.id = 0
	if len(n.agent.Blocks()) > 0 {
		n.blocks = nil // reported again; that an earlier life's blocks are not held any more is a change
	}
	n.identity()
}

// End is the end of a life.
func (n *Node) End() { n.agent = nil }

// Forget has the node's addresses reported again: listeners that learned of its machine's end have forgotten them.
func (n *Node) Forget() { n.told = addressed{} }

// After reports what a step has changed: first what is freed, then ID and blocks, then what is leased. The blocks that
// the agent shows are the outcome of all writes of the step, so these are reported as one.
func (n *Node) After(effects []agent.Effect) {
	if n.leases != nil {
		n.changed(effects)
	}
	n.Addresses()
}

func (n *Node) changed(effects []agent.Effect) {
	gone, come, wrote := n.leases.Step(effects)
	if !wrote {
		return
	}
	for _, r := range gone {
		n.view.Released(r.Addr)
		n.view.Fact(fact.Fact{What: fact.Released{Owner: r.Owner, Addr: r.Addr, Block: r.Prefix, Rest: n.view.Rest(), Left: n.view.Left(r.Addr, r.Owner)}})
	}
	n.identity()
	for _, r := range come {
		n.view.Leased(r.Owner)
		n.view.Fact(fact.Fact{What: fact.Leased{Owner: r.Owner, Addr: r.Addr, Block: r.Prefix, Left: n.view.Formerly(r.Addr, r.Owner), Pool: n.view.Pool(r.Owner)}})
	}
}

// identity reports the node's ID and blocks when they have changed.
func (n *Node) identity() {
	if n.agent == nil {
		return
	}
	if id := n.agent.ID(); id != n.id {
		n.id = id
		n.view.Identified()
		n.view.Fact(fact.Fact{What: fact.NodeID{ID: id}})
	}
	if blocks := n.agent.Blocks(); !slices.Equal(blocks, n.blocks) {
		n.blocks = slices.Clone(blocks)
		n.view.Identified()
		n.view.Fact(fact.Fact{What: fact.NodeBlocks{Blocks: n.blocks}})
	}
}
