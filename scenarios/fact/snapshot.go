package fact

import (
	"iter"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
)

// Snapshot is a whole cluster at one instant, as laws see it. It is valid until the World moves on.
type Snapshot struct {
	// At is the time since the run's start.
	At time.Duration
	// Settled reports that nothing is pending anywhere and no fault is active.
	Settled bool
	// FreeBlock reports that pods wait and that whatever assigns blocks to nodes has one that no node has.
	FreeBlock bool
	// Ranges are those that a controller carves blocks from, as it counts them itself.
	Ranges []RangeCount
	// Services are those that VPP serves, in name order.
	Services []scenarios.ServiceState
	// HeldIDs are the node IDs whose records in the store are not marked as released, in the store's order; none where a node that is gone
	// may not have been found so yet.
	HeldIDs []HeldID
	// Nodes holds the machines that the cluster knows, in name order.
	Nodes []NodeState
	// Outlive is deferred while the snapshot's views are looked at, where a world has it: what the views ask may be a program's own
	// state, and a panic of it ends the run by a law, or by an error, which is the deferring function's result.
	Outlive func(err *error)
}

// RangeCount is how many of a range's blocks are taken: as Program counts them, and by what nodes' objects and the ranges of services overlap.
type RangeCount struct {
	Program        string
	Range          netip.Prefix
	Counted, Shown uint64
}

// HeldID is a node ID with whose it is by its record in the store.
type HeldID struct {
	ID        uint32
	Name, UID string
}

// Node finds a node by name.
func (s Snapshot) Node(name string) (*NodeState, bool) {
	for i := range s.Nodes {
		if s.Nodes[i].Name == name {
			return &s.Nodes[i], true
		}
	}
	return nil, false
}

// NodeState is one node.
type NodeState struct {
	Name, UID string
	// MachineUp, AgentUp, VPPUp: what runs at this instant.
	MachineUp, AgentUp, VPPUp bool
	// ID is the node ID that the agent acts on, 0 for none yet.
	ID uint32
	// Address is the node's interconnect address with its subnet's length.
	Address netip.Prefix
	// Leased is what a DHCP server has given the node's VPP; zero where there is none, or nothing is leased.
	Leased netip.Prefix
	// OtherNICs are what the node's VPP has of the further interfaces that are configured for it.
	OtherNICs []OtherNIC
	// VXLANAddress is the BVI's address; zero with plain L2.
	VXLANAddress netip.Addr
	// HostSubnet is the node's part of the VPP-host subnet; HostVPP and HostLinux its two ends.
	HostSubnet         netip.Prefix
	HostVPP, HostLinux netip.Addr
	// HostSubnets are the cluster-wide ranges of such parts: the present one first, behind it those of which some node may hold a part still.
	HostSubnets []netip.Prefix
	// Second is what the node has of the second address family; nil in clusters of one.
	Second *SecondFamily
	// Management are the addresses by which administrators and the API server know the machine's Linux side.
	Management []netip.Addr
	// PodSubnet is the cluster-wide pod subnet that the agent acts on.
	PodSubnet netip.Prefix
	// FormerPodSubnets are earlier ones of which some node may hold blocks still.
	FormerPodSubnets []netip.Prefix
	// Blocks are the pod ranges the node holds; Reserved the addresses in them that no pod may get.
	Blocks   []ipam.Block
	Reserved []netip.Addr
	// Assigned are the blocks that a controller or a cloud says the node has; none where they follow from its ID. A draining one
	// was taken back by an administrator while pods have addresses of it.
	Assigned []ipam.Block
	// ByID reports that the node's blocks follow from its ID alone: nobody assigns any, and the ranges have been the same all the time.
	ByID bool
	// Blocked are assigned blocks that the node does not use because the record of another node, which may be gone, still says
	// that it has addresses of them.
	Blocked []netip.Prefix
	// ServiceRange is what the host's way to services leads into VPP for; the zero Prefix where VPP serves none.
	ServiceRange netip.Prefix
	// NoOffload reports that the configuration has Linux finish checksums on the veths beside VPP, whose AF_PACKET cannot, and that Linux
	// tells whether it does; labs prove it by TCP instead.
	NoOffload bool
	// MainTable and PodTable are the VRFs.
	MainTable, PodTable uint32
	// Leases yields what the agent has leased in ascending address order; nil when the agent is down.
	Leases func() iter.Seq[ipam.Lease]
	// Pods are the sandboxes that exist on the machine, in owner order, whatever the agent thinks. One with two addresses is there twice,
	// the second time as its Owner's Second.
	Pods []PodState
	// Waiting counts pods that the runtime holds back until there is an address; they have no sandbox.
	Waiting int
	// Crowded reports that VPP has no room for another pod's interface, which pods wait for then.
	Crowded bool
	// Misfit reports that the cluster's address ranges have no part for the node's ID and its agent, which has started since they changed,
	// does not know what the node is: it leaves all as it is until people change the ranges.
	Misfit bool
	// Resting are released addresses that the configuration keeps unused still.
	Resting []netip.Addr
	// Settings compares what is configured with what the node's VPP and Linux have; nil where the world cannot tell, or one of agent and VPP is down.
	Settings iter.Seq[Setting]
	// VPP is nil when VPP is down, Linux nil when the machine is.
	VPP   VPP
	Linux Linux
}

// Setting is one thing that is configured: of what, how it should be, and how it is.
type Setting struct{ Of, Wanted, Found string }

// SecondFamily is what a node has of the second address family: NodeState says the same of the first.
type SecondFamily struct {
	Address            netip.Prefix
	VXLANAddress       netip.Addr
	HostSubnet         netip.Prefix
	HostVPP, HostLinux netip.Addr
	PodSubnet          netip.Prefix
	FormerPodSubnets   []netip.Prefix
	HostSubnets        []netip.Prefix
}

// BlockedBy lists the assigned blocks from which the node gives no addresses and of which foreign says that another node's record
// names a part: what Blocked means.
func (n *NodeState) BlockedBy(foreign func(netip.Prefix) bool) (list []netip.Prefix) {
	for _, b := range n.Assigned {
		used := func(x ipam.Block) bool { return x.Prefix == b.Prefix && !x.Draining }
		if !b.Draining && !slices.ContainsFunc(n.Blocks, used) && foreign(b.Prefix) {
			list = append(list, b.Prefix)
		}
	}
	return list
}

// OtherNIC is a physical interface of a node's VPP beside the one to the interconnect, as it should be.
type OtherNIC struct {
	Name string
	// Addr is its address with the subnet's length, of one that leases what the DHCP server has given it; zero for none.
	Addr netip.Prefix
}

// PodState is one sandbox as the container runtime sees it.
type PodState struct {
	Owner ipam.Owner
	// Pod is "namespace/name", UID the pod's.
	Pod, UID string
	Netns    string
	// Addr is what the last successful ADD answered; zero before.
	Addr    netip.Addr
	Gateway netip.Addr
}
