package fact

import (
	"iter"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
)

// Snapshot is the state of a whole cluster at one instant. It is valid until the World moves on.
type Snapshot struct {
	// At is the time since the run's start.
	At time.Duration
	// Settled reports that nothing is pending anywhere and no fault is active.
	Settled bool
	// FreeBlock reports that pods wait and that the controller or cloud that assigns blocks has a free one.
	FreeBlock bool
	// Ranges are those that a controller cuts blocks from, with its own counts.
	Ranges []RangeCount
	// Services are those that VPP serves, in name order.
	Services []scenarios.ServiceState
	// Policies are the cluster's network policies, with the labels that they select by.
	Policies scenarios.PolicyState
	// HeldIDs are the node IDs with an unreleased record in the store, in the store's order; none while agents may not
	// have detected a departed node yet.
	HeldIDs []HeldID
	// Nodes holds the machines that the cluster knows, in name order.
	Nodes []NodeState
	// Fabric, in settled snapshots, is the network between the nodes where it is a cloud's; nil: it carries any frame to whom it is sent to.
	Fabric *Fabric
	// Recover, if set, is deferred while the snapshot's views are read. Views may read a program's own state, and a panic
	// there ends the run with a broken law, or with an error, which is the deferring function's result.
	Recover func(err *error)
}

// RangeCount is how many of a range's blocks are taken: by Program's count, and by node objects and service ranges.
type RangeCount struct {
	Program        string
	Range          netip.Prefix
	Counted, Shown uint64
}

// Fabric is a cloud's network between nodes. It knows the addresses of their machines, and how to get to pod addresses by
// its routes alone.
type Fabric struct {
	// Pods are the cluster's pod subnets.
	Pods []netip.Prefix
	// Routes are in name order; Others those of them that are not the cluster's, as they were in the beginning.
	Routes, Others []FabricRoute
	// Unavailable are nodes, by name, whose condition NetworkUnavailable keeps the scheduler from them.
	Unavailable map[string]bool
}

// FabricRoute is a route of a cloud's network. Node is empty where it leads to none of the cluster, or nowhere.
type FabricRoute struct {
	Name        string
	Destination netip.Prefix
	Node        string
}

// Route finds the route that a packet to a pod address takes; needed: such an address it is.
func (f *Fabric) Route(dst netip.Addr) (best FabricRoute, needed bool) {
	if f == nil || !slices.ContainsFunc(f.Pods, func(p netip.Prefix) bool { return p.Contains(dst) }) {
		return FabricRoute{}, false
	}
	for _, r := range f.Routes {
		if r.Destination.Contains(dst) && (!best.Destination.IsValid() || r.Destination.Bits() > best.Destination.Bits()) {
			best = r
		}
	}
	return best, true
}

// HeldID is a node ID with its owner according to the store.
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
	// MachineUp, AgentUp, VPPUp: the machine, agent or VPP runs at this instant.
	MachineUp, AgentUp, VPPUp bool
	// ID is the node ID that the agent acts on, 0 for none yet.
	ID uint32
	// Address is the node's interconnect address with its subnet's length.
	Address netip.Prefix
	// Leased is the DHCP lease of the node's VPP, or zero.
	Leased netip.Prefix
	// OtherNICs are the additional NICs that are configured for the node's VPP.
	OtherNICs []OtherNIC
	// VXLANAddress is the BVI's address; zero with plain L2.
	VXLANAddress netip.Addr
	// HostSubnet is the node's part of the VPP-host subnet; HostVPP and HostLinux its two ends. Where VPP has taken the host's NIC,
	// HostLinux is the host's own address, which is the node's, and VPP's end borrows it.
	HostSubnet         netip.Prefix
	HostVPP, HostLinux netip.Addr
	// HostSubnets are the cluster-wide ranges of such parts: the present one first, behind it those of which some node may
	// hold a part still.
	HostSubnets []netip.Prefix
	// Second is the node's state of the second address family; nil in clusters of one.
	Second *SecondFamily
	// Management are the addresses by which administrators and the API server know the machine's Linux side.
	Management []netip.Addr
	// Uplink is Linux' link of the node's NIC where the host has the NIC as well as VPP: the addresses on it are on the wire
	// between the nodes. Empty where VPP has the NIC to itself.
	Uplink string
	// PodSubnet is the cluster-wide pod subnet that the agent uses.
	PodSubnet netip.Prefix
	// FormerPodSubnets are earlier ones; some nodes may still hold blocks of them.
	FormerPodSubnets []netip.Prefix
	// Blocks are the pod ranges the node holds; Reserved the addresses in them that no pod may get.
	Blocks   []ipam.Block
	Reserved []netip.Addr
	// Assigned are the node's blocks according to a controller or a cloud; none if they derive from its ID. An
	// administrator took a draining one back while pods have addresses of it.
	Assigned []ipam.Block
	// ByID reports that the node's blocks derive from its ID alone: no controller assigns any, and the ranges never
	// changed.
	ByID bool
	// Blocked are assigned blocks that the node does not use, because the record of another, perhaps departed, node still
	// names them.
	Blocked []netip.Prefix
	// ServiceRange is what the host's way to services leads into VPP for; the zero Prefix where VPP serves none.
	ServiceRange netip.Prefix
	// LoadBalancers is what the agent tells those that ask it for services: how many endpoints it has, by port. nil where
	// the world does not know.
	LoadBalancers map[uint16]int
	// NoOffload reports that the configuration has Linux finish checksums on the veths beside VPP, whose AF_PACKET cannot,
	// and that Linux tells whether it does; labs prove it by TCP instead.
	NoOffload bool
	// MainTable and PodTable are the VRFs.
	MainTable, PodTable uint32
	// Leases yields what the agent has leased in ascending address order; nil when the agent is down.
	Leases func() iter.Seq[ipam.Lease]
	// Pods are the sandboxes on the machine, in owner order, according to the runtime. One with two addresses is listed
	// twice, the second time as its Owner's Second.
	Pods []PodState
	// Waiting counts pods that the runtime holds back until there is an address; they have no sandbox. Those that ask for one
	// are not counted.
	Waiting int
	// WaitingFor is what each pod asks for that waits for addresses of its own choice.
	WaitingFor [][]netip.Addr
	// Crowded reports that VPP has no room for another pod's interface, so pods wait.
	Crowded bool
	// Misfit reports that the cluster's changed address ranges have no part for the node's ID, and that its agent has
	// restarted since: the agent changes nothing until an administrator changes the ranges.
	Misfit bool
	// Removed counts the sandboxes that are gone from the node, Remains what any of them has left there.
	Removed int
	Remains []Remain
	// Resting are released addresses in their cooldown.
	Resting []netip.Addr
	// Settings compares the configuration with the node's VPP and Linux; nil if unknown, or if agent or VPP is down.
	Settings iter.Seq[Setting]
	// VPP is nil when VPP is down, Linux nil when the machine is.
	VPP   VPP
	Linux Linux
}

// Remain is something that a sandbox which is gone has left on its node: a file, link, address, route, chain or rule.
type Remain struct {
	// Kind says what it is, without a name, number or address.
	Kind string
	// What is it.
	What string
}

// Setting is one configured value: its object, the configured and the actual value.
type Setting struct{ Of, Wanted, Found string }

// SecondFamily is a node's state of the second address family, as NodeState is of the first.
type SecondFamily struct {
	Address            netip.Prefix
	VXLANAddress       netip.Addr
	HostSubnet         netip.Prefix
	HostVPP, HostLinux netip.Addr
	PodSubnet          netip.Prefix
	FormerPodSubnets   []netip.Prefix
	HostSubnets        []netip.Prefix
}

// BlockedBy lists the assigned blocks that the node does not allocate from and that foreign reports to overlap another
// node's record: the values of Blocked.
func (n *NodeState) BlockedBy(foreign func(netip.Prefix) bool) (list []netip.Prefix) {
	for _, b := range n.Assigned {
		used := func(x ipam.Block) bool { return x.Prefix == b.Prefix && !x.Draining }
		if !b.Draining && !slices.ContainsFunc(n.Blocks, used) && foreign(b.Prefix) {
			list = append(list, b.Prefix)
		}
	}
	return list
}

// OtherNIC is the configuration of an additional physical interface of a node's VPP.
type OtherNIC struct {
	Name string
	// Addr is its address with the subnet's length, of one that leases what the DHCP server has given it; zero for none.
	Addr netip.Prefix
}

// PodState is one sandbox according to the container runtime.
type PodState struct {
	Owner ipam.Owner
	// Pod is "namespace/name", UID the pod's.
	Pod, UID string
	Netns    string
	// Addr is the address in the last successful ADD's answer; zero before.
	Addr    netip.Addr
	Gateway netip.Addr
}
