package calico

import "github.com/vppdrill/vppdrill/ipam"

// Event is something that a Host or a Tender is told: one of the types below.
type Event interface{ event() }

// Facts about the cluster. The watch that they come from reports the changes of one object in order.
type (
	// NodesListed are the incarnations of nodes that there are, by the name that Block.Hosts uses; of a Host, its own node
	// alone.
	NodesListed struct{ Hosts []string }
	// NodeSeen and NodeGone: the Node object of an incarnation is there, or is gone for good.
	NodeSeen struct{ Host string }
	NodeGone struct{ Host string }
	// Labelled are the labels of a Host's own Node object; a Tender is not told.
	Labelled struct{ Labels map[string]string }
	// BlocksListed are all blocks: those that are not in it are gone.
	BlocksListed struct{ Blocks []Stored }
	BlockSeen    struct{ Block Stored }
	BlockGone    struct{ Block Stored }
	// PoolsChanged: what blocks are cut from has changed.
	PoolsChanged struct{ Pools Pools }
)

// Facts about the host.
type (
	// AgentSeen is the present state of the host's agent, whenever it may have changed, and once at the start.
	AgentSeen struct {
		// Blocks are those that it holds, draining ones among them.
		Blocks []ipam.Block
		// Idle: all that it has decided is journaled and known to the other nodes.
		Idle bool
	}
	// PodComing: a pod's plugin waits for LetGo with this ID before it asks the agent for an address. IDs are never used
	// twice. A plugin that asks for an owner anew takes the place of the one before, which was killed.
	PodComing struct {
		ID    uint64
		Owner ipam.Owner
		// Namespace and Pod are its names, where they are known.
		Namespace, Pod string
		Want           Want
	}
	// PodLeft: a pod's plugin has been told that its sandbox goes. Of one that the agent does not know, as it was Calico's, the host gives
	// back what was by its handle.
	PodLeft struct{ Owner ipam.Owner }
	// PodRefused: the agent had no address for a pod that came, for which its kubelet will ask again.
	PodRefused struct{ Owner ipam.Owner }
)

type (
	// Wrote answers WriteBlock, once. Block is what the store has now, where it was not deleted.
	Wrote struct {
		Outcome ipam.Outcome
		Block   Stored
	}
	// Woke: the time of the last WakeAt has come. Too early or too often does no harm.
	Woke struct{}
)

func (NodesListed) event()  {}
func (NodeSeen) event()     {}
func (NodeGone) event()     {}
func (Labelled) event()     {}
func (BlocksListed) event() {}
func (BlockSeen) event()    {}
func (BlockGone) event()    {}
func (PoolsChanged) event() {}
func (AgentSeen) event()    {}
func (PodComing) event()    {}
func (PodRefused) event()   {}
func (PodLeft) event()      {}
func (Wrote) event()        {}
func (Woke) event()         {}
