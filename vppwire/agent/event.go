package agent

import (
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/agent/nodeid"
	"github.com/vppdrill/vppdrill/vppwire/mode"
	"github.com/vppdrill/vppdrill/vppwire/policy"
	"github.com/vppdrill/vppdrill/vppwire/service"
)

// Event is something that the agent is told: one of the types below. Each prints as one canonical line.
type Event interface {
	AppendText(b []byte) []byte
	event()
}

// Sandbox is what a CNI request says about the pod sandbox that it is for.
type Sandbox struct {
	// Owner is the CNI attachment: network name, container ID, interface name.
	Owner ipam.Owner
	// Netns is the absolute path of the sandbox's network namespace.
	Netns string
	// PodNamespace, PodName and PodUID come from CNI_ARGS (K8S_POD_NAMESPACE, K8S_POD_NAME, K8S_POD_UID); each may be
	// empty.
	PodNamespace, PodName, PodUID string
	// Memif: the pod brings a program that speaks memif instead of using Linux' network.
	Memif mode.Memif
}

// Requests of the CNI plugin. Request numbers an open request; the Answer repeats it. A number is never used twice
// within one life of the agent.
type (
	PodAdd struct {
		Request uint64
		Sandbox Sandbox
		// External is the address that an external IPAM plugin chose; zero when the agent allocates.
		External netip.Addr
		// ExternalSecond is the one of the second family, in clusters of two.
		ExternalSecond netip.Addr
		// Wanted are addresses that the pod asks for, one of each family at the most; none where any will do. The pod gets
		// these or a refusal that begins with WantedRefused.
		Wanted []netip.Addr
	}
	PodDel struct {
		Request uint64
		Owner   ipam.Owner
	}
	PodCheck struct {
		Request uint64
		Owner   ipam.Owner
		// Addr is the address of prevResult.
		Addr netip.Addr
	}
	// PodGC names the attachments of Network that are still valid; the agent removes every other one.
	PodGC struct {
		Request uint64
		Network string
		Valid   []ipam.Owner
	}
	PodStatus struct{ Request uint64 }
	// Withdrawn says that nobody waits for Request's answer any more (the plugin died or timed out).
	Withdrawn struct{ Request uint64 }
)

// Facts about the cluster.
type (
	// NodeSeen: a Kubernetes Node object exists with these values. Own node included.
	NodeSeen struct {
		Name, UID string
		// PodCIDRs is spec.podCIDRs, for external IPAM.
		PodCIDRs []netip.Prefix
		// Addresses are the InternalIP and ExternalIP addresses in order, for management routes.
		Addresses []netip.Addr
		// Zone is the one that the node is in, for services; empty where that is not said.
		Zone string
	}
	NodeGone struct{ Name, UID string }
	// PodsListed names the UIDs of pods bound to this node; sent after the agent's start and after each relist. Only what
	// an earlier boot left behind is removed because of it, or what an earlier life did in a namespace that is gone:
	// static pods run under a UID that this list does not have.
	PodsListed struct{ UIDs []string }
	// NodesListed: every existing node has been told by NodeSeen since the agent's start or the last gap; a node that was
	// not, is gone. Age is how long ago the list was asked for, at the most. UIDs are those of the list's nodes, where
	// whatever was told before it is older than the list; nil where that is not certain, so that the age decides.
	NodesListed struct {
		Age  time.Duration
		UIDs []string
	}
	// PoolsChanged carries new cluster-wide address ranges; the first one may come at any time after the start.
	PoolsChanged struct{ Pools Pools }
	// ServiceSeen: a service exists with these values; ServiceGone: it does not any more. Only an agent with
	// Config.Services listens.
	ServiceSeen struct{ Service service.Service }
	ServiceGone struct{ Name service.Name }
	// EndpointsSeen: an EndpointSlice of IPv4 addresses exists with these values; EndpointsGone: it does not any more.
	EndpointsSeen struct{ Slice service.Slice }
	EndpointsGone struct{ Name service.Name }
	// ServicesListed: these services exist, each of which has been told; any other is gone, also one that has been told
	// since the last list. It comes once after the agent's start and after every gap in the news. EndpointsListed is the
	// same of slices.
	ServicesListed  struct{ Names []service.Name }
	EndpointsListed struct{ Names []service.Name }
	// PolicySeen: a network policy exists with these values. PeerSeen: so does a pod of the cluster, which has not ended
	// and is not of a host's own network. NamespaceSeen: so does a namespace. SelectableGone: one of these does not any
	// more. Only an agent with Config.NetworkPolicies listens.
	PolicySeen     struct{ Policy policy.Policy }
	PeerSeen       struct{ Pod policy.Pod }
	NamespaceSeen  struct{ Namespace policy.Namespace }
	SelectableGone struct {
		Kind policy.Kind
		Name policy.Name
	}
	// SelectablesListed: these policies, pods or namespaces exist, each of which has been told, and no other. It comes once
	// of each kind after the agent's start and after every gap in the news.
	SelectablesListed struct {
		Kind  policy.Kind
		Names []policy.Name
	}
	// OwnAddress: the node's own interconnect address changed (DHCP, operator). Zero means unknown.
	OwnAddress struct{ Addr netip.Prefix }
)

// Answers to effects.
type (
	// StoreReply answers the StoreRequest with the same ID. Store identifies the store's data, 0 where that is not known.
	StoreReply nodeid.StoreReply
	// StoreChanged delivers watched changes in revision order. Deliveries may repeat; Revision never goes back
	// for a correct store, but a stale one must be tolerated: an item older than one already seen is ignored.
	StoreChanged nodeid.StoreChanged
	// StoreWatchLost: the watch with this ID ended; the agent lists again.
	StoreWatchLost nodeid.StoreWatchLost
	// Persisted: everything up to Persist effect Seq is on disk. Err non-nil: it is not, and nothing after it is.
	Persisted struct {
		Seq uint64
		Err error
	}
	// Called carries the outcome of the one outstanding dataplane call.
	Called struct{ Result vppwire.Result }
	// Hooked answers a Hook effect.
	Hooked struct {
		ID  uint64
		Err error
	}
	// Woke: the time of the last WakeAt has come.
	Woke struct{}
)

// Facts about this machine.
type (
	// VPPUp: a connection to VPP stands. PID tells one life of VPP from the next.
	VPPUp struct {
		PID uint32
		// Version is what VPP says of itself, as 25.10-release.
		Version string
		// NICs are VPP's names of its physical interfaces, in VPP's order (mode.NICs tells which). The first that is not
		// configured as another one is the node's main interface.
		NICs []string
		// Without are VPP's plugins that are not loaded, of those that are needed for some settings only.
		Without []string
	}
	// VPPDown: the connection is lost; whether VPP died is told by the next VPPUp's PID. Silent: it was given up, as VPP
	// did not answer in time.
	VPPDown struct{ Silent bool }
	// Restored is the first event of an agent's life: the records of its journal, oldest first; none on a new node. All of
	// them are on disk: a driver syncs the journal before it tells, as an earlier life may have died before it did, and
	// others are told of what is read here. Boot identifies the machine's boot: namespaces of an earlier boot are gone.
	// Uptime is how long that was ago, by a clock that nobody sets; 0 where nobody knows.
	Restored struct {
		Records []Record
		Boot    string
		Uptime  time.Duration
	}
	// HostAddresses lists the addresses of the host's own links (loopback, docker and our own left out), in order. A
	// driver tells it right after Restored, so that routes to them are not taken away and put back at each start.
	HostAddresses struct{ Addrs []netip.Addr }
	// HostLinks is what the host's own namespace holds, for an agent that takes a NIC from it (Config.Steals): told right
	// after Restored, and whenever an address has changed.
	HostLinks struct{ State vppwire.LinuxState }
	// ReturnNIC asks for the host's NIC to be given back for good: the agent is about to go. NICReturned says when it is;
	// nothing else is done from here on.
	ReturnNIC struct{}
	// LinuxChanged answers the ChangeLinux of its Seq.
	LinuxChanged struct {
		Seq uint64
		Err error
	}
)

// The words of the store are nodeid's, which speaks with it.
type (
	// StoreItem is one key of the store.
	StoreItem = nodeid.Item
	// StoreOp is a kind of store request.
	StoreOp = nodeid.Op
	// StoreError is the outcome of a store request.
	StoreError = nodeid.Outcome
)

// Outcomes and kinds of store requests.
const (
	StoreOK          = nodeid.OK
	StoreConflict    = nodeid.Conflict
	StoreCompacted   = nodeid.Compacted
	StoreUnavailable = nodeid.Unavailable

	StoreList   = nodeid.List
	StoreCreate = nodeid.Create
	StoreUpdate = nodeid.Update
	StoreDelete = nodeid.Delete
	StoreWatch  = nodeid.Watch
)

// Pools are the cluster-wide address ranges; the configuration's ipam section resolved.
type Pools struct {
	// Generation grows with each change; an older one is ignored.
	Generation int64
	// PodSubnet is split into one block of PodSubnetOneNodePrefixLen per node ID.
	PodSubnet                 netip.Prefix
	PodSubnetOneNodePrefixLen int
	VPPHostSubnet             netip.Prefix
	VPPHostSubnetOneNodeLen   int
	NodeInterconnect          netip.Prefix
	VXLAN                     netip.Prefix
	Service                   netip.Prefix
	DefaultGateway            netip.Addr
	// External: each node's pod CIDRs come from outside, by NodeSeen. Whether its addresses do as well is the allocator's
	// affair.
	External bool
	// Second are the ranges of the second family; zero in clusters of one.
	Second FamilyPools
}

// FamilyPools are the ranges of one family.
type FamilyPools struct {
	PodSubnet                 netip.Prefix
	PodSubnetOneNodePrefixLen int
	VPPHostSubnet             netip.Prefix
	VPPHostSubnetOneNodeLen   int
	NodeInterconnect          netip.Prefix
	VXLAN                     netip.Prefix
	Service                   netip.Prefix
	DefaultGateway            netip.Addr
}

// Dual reports whether the cluster has two families.
func (p Pools) Dual() bool { return p.Second.PodSubnet.IsValid() }
