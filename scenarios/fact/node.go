package fact

import (
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
)

// NodeID says that the agent acts on a node ID from now on; 0: on none.
type NodeID struct{ ID uint32 }

// NodeBlocks says that these are the node's pod ranges from now on.
type NodeBlocks struct{ Blocks []ipam.Block }

// SetAside says how many addresses the node keeps for itself beside its blocks, such as those that are free in a block of
// its.
type SetAside struct{ Addresses uint32 }

// NodeGone says that a machine crashed, or that its node left the cluster. Everything on it is dead.
type NodeGone struct {
	// Left: the node is no member any more.
	Left bool
	// Rest is how long the ID of a node that left stays unused.
	Rest time.Duration
}

// Addressed says by which addresses the node is reached from now on: its own, its VXLAN address, the ends of its host
// interconnect, its management addresses. None: its agent acts on no ID yet.
type Addressed struct{ Addrs []netip.Addr }

// AgentUp says that the agent has read its journal; it holds these leases and nothing else.
type AgentUp struct{ Leases []ipam.Lease }

// AgentDown says that the agent's process ended.
type AgentDown struct {
	// Why is CleanStop, or words for people.
	Why string
}

// CleanStop is AgentDown.Why by which a world vouches that the node's dataplane was right and stays untouched by anything
// that facts do not tell: its VPP stays up, pools, node list and addresses stay as they are until the agent has started
// again. Without it quiet-restart judges nothing.
const CleanStop = "clean"

// VPPCrash says that VPP was asked for what a real one dies of, or died by itself.
type VPPCrash struct{ Why string }

// ProgramCrash says that an agent, or with no node a controller or an operator, died of what it was told.
type ProgramCrash struct{ Why string }

// VPPWrite says that the agent made a writing call to VPP or Linux. It is told for some minutes after a clean stop, and from
// Quiet on.
type VPPWrite struct {
	// Call is the message or operation.
	Call string
}

// CallRefused says that VPP or Linux refused a call of the agent by themselves.
type CallRefused struct {
	// Call is the call and why it was refused.
	Call string
	// Netns is the namespace for want of which it was; empty for other reasons.
	Netns string
	// Calm: nothing was injected into the node lately.
	Calm bool
}

// Removed says that a call took something away from the node's VPP or Linux.
type Removed struct {
	Removal *Removal
	// Ago is how much earlier the agent had decided on it, as far as the world knows: what it has learned since could not
	// stop the call.
	Ago time.Duration
}

func (NodeID) what()       {}
func (NodeBlocks) what()   {}
func (SetAside) what()     {}
func (NodeGone) what()     {}
func (Addressed) what()    {}
func (AgentUp) what()      {}
func (AgentDown) what()    {}
func (VPPCrash) what()     {}
func (ProgramCrash) what() {}
func (VPPWrite) what()     {}
func (CallRefused) what()  {}
func (Removed) what()      {}
