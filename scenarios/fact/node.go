package fact

import (
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
)

// NodeID says that the agent acts on a node ID from now on; 0: none.
type NodeID struct{ ID uint32 }

// NodeBlocks says that these are the node's pod ranges from now on.
type NodeBlocks struct{ Blocks []ipam.Block }

// SetAside says how many addresses the node keeps for itself besides its blocks, such as free ones in one of its
// blocks.
type SetAside struct{ Addresses uint32 }

// NodeGone says that a machine crashed, or that its node left the cluster. All its programs and pods are dead.
type NodeGone struct {
	// Left: the node is no longer a member.
	Left bool
	// Rest is how long the ID of a node that left stays unused.
	Rest time.Duration
}

// Unregistered says that a Node object was deleted whose machine goes on, its programs and pods with it. Other nodes may take it for
// gone until its kubelet has registered it anew.
type Unregistered struct{}

// Addressed says by which addresses the node is reached from now on: its own, its VXLAN address, the ends of its host
// interconnect, its management addresses. None: its agent acts on no ID yet.
type Addressed struct{ Addrs []netip.Addr }

// AgentUp says that the agent has read its journal; it holds exactly these leases.
type AgentUp struct{ Leases []ipam.Lease }

// AgentDown says that the agent's process ended.
type AgentDown struct {
	// Why is CleanStop, or words for people.
	Why string
}

// CleanStop is an AgentDown.Why. With it a world guarantees that the node's dataplane was correct, and that only
// reported facts change it until the agent has started again: its VPP stays up, and pools, node list and addresses stay
// unchanged. Without it quiet-restart judges nothing.
const CleanStop = "clean"

// VPPCrash says that VPP crashed, or got a call that crashes a real one.
type VPPCrash struct{ Why string }

// ProgramCrash says that an agent, or without a node a controller or an operator, crashed on its input.
type ProgramCrash struct{ Why string }

// VPPWrite says that the agent made a writing call to VPP or Linux. It is reported for some minutes after a clean stop,
// and from Quiet on.
type VPPWrite struct {
	// Call is the message or operation.
	Call string
}

// CallRefused says that VPP or Linux refused a call of the agent, without an injected fault.
type CallRefused struct {
	// Call is the call and why it was refused.
	Call string
	// Netns is the missing namespace, if that is the reason.
	Netns string
	// Calm: nothing was injected into the node lately.
	Calm bool
}

// Removed says that a call removed something from the node's VPP or Linux.
type Removed struct {
	Removal *Removal
	// Ago is how much earlier the agent had decided on it, as far as the world knows: later information could not stop the
	// call.
	Ago time.Duration
}

// HostReach says whether the host of a node whose only NIC VPP takes answers others on the wire at its addresses from now on.
type HostReach struct {
	Reached bool
	// VPPLived: the node's VPP has run without a break since the host last answered. AgentUp: its agent runs.
	VPPLived, AgentUp bool
	// Why says where packets to the host, or its answers, end, and Way how they got there; empty for one that is reached.
	Why string
	Way []Hop
}

// Same reports whether another one says the same, but for the words.
func (x HostReach) Same(y HostReach) bool {
	return x.Reached == y.Reached && x.VPPLived == y.VPPLived && x.AgentUp == y.AgentUp
}

func (HostReach) what()    {}
func (NodeID) what()       {}
func (NodeBlocks) what()   {}
func (SetAside) what()     {}
func (NodeGone) what()     {}
func (Unregistered) what() {}
func (Addressed) what()    {}
func (AgentUp) what()      {}
func (AgentDown) what()    {}
func (VPPCrash) what()     {}
func (ProgramCrash) what() {}
func (VPPWrite) what()     {}
func (CallRefused) what()  {}
func (Removed) what()      {}
