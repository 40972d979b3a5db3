package contiv

import (
	"fmt"
	"net/netip"
)

// EventMethod is how the agent's event loop carries an event out.
type EventMethod uint8

// Ways to carry an event out. The zero EventMethod is invalid.
const (
	// FullResync reads every source again and compares it with what is configured.
	FullResync EventMethod = iota + 1
	// UpstreamResync works the wanted configuration out again from known sources.
	UpstreamResync
	// DownstreamResync compares what is wanted with what is configured.
	DownstreamResync
	// Update changes only what the event says.
	Update
)

// Event is what the agent's event loop delivers to IPAM, and what IPAM pushes onto it.
type Event interface {
	GetName() string
	String() string
	Method() EventMethod
	// IsBlocking tells whether the sender waits for Done.
	IsBlocking() bool
	// Done is called with the outcome.
	Done(err error)
}

// plain gives an event that nobody waits for.
type plain struct{}

func (plain) IsBlocking() bool { return false }
func (plain) Done(error)       {}

// DBResync asks for everything from the store's snapshot.
type DBResync struct{ plain }

// HealingResync follows an error that left the state in doubt.
type HealingResync struct{ plain }

// NodeInfo is a cluster node as the node ID store knows it.
type NodeInfo struct {
	ID   uint32
	Name string
	// PodCIDR is Node.spec.podCIDR; the zero Prefix when there is none.
	PodCIDR netip.Prefix
}

// NodeUpdate says that a node appeared (Prev is nil), changed or went (New is nil).
type NodeUpdate struct {
	plain
	NodeName  string
	Prev, New *NodeInfo
}

// PodCIDRChange says that the pod block of this node is another one now. IPAM pushes it; the whole agent
// resynchronises.
type PodCIDRChange struct {
	plain
	// LocalPodCIDR is the new block; the zero Prefix when the node has none any more.
	LocalPodCIDR netip.Prefix
}

// GetName returns the event's fixed name.
func (*DBResync) GetName() string { return "DB Resync" }

// GetName returns the event's fixed name.
func (*HealingResync) GetName() string { return "Healing Resync" }

// GetName returns the event's fixed name.
func (*NodeUpdate) GetName() string { return "Node Update" }

// GetName returns the event's fixed name.
func (*PodCIDRChange) GetName() string { return "Pod CIDR Change" }

// String is the event's name.
func (ev *DBResync) String() string { return ev.GetName() }

// String is the event's name.
func (ev *HealingResync) String() string { return ev.GetName() }

// String names the node.
func (ev *NodeUpdate) String() string { return ev.GetName() + " (" + ev.NodeName + ")" }

// String names the new block.
func (ev *PodCIDRChange) String() string {
	return fmt.Sprintf("%s (LocalPodCIDR: %s)", ev.GetName(), ev.LocalPodCIDR)
}

// Method is FullResync.
func (*DBResync) Method() EventMethod { return FullResync }

// Method is FullResync.
func (*HealingResync) Method() EventMethod { return FullResync }

// Method is Update.
func (*NodeUpdate) Method() EventMethod { return Update }

// Method is UpstreamResync.
func (*PodCIDRChange) Method() EventMethod { return UpstreamResync }
