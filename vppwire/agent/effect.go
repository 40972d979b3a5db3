package agent

import (
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/agent/nodeid"
	"github.com/vppdrill/vppdrill/vppwire/service"
)

// Effect is something that the agent asks its driver to do: one of the types below, in the order they must start.
type Effect interface {
	AppendText(b []byte) []byte
	effect()
}

type (
	// Persist asks for Records to be appended to the journal and synced, all or none; then Persisted{Seq} comes back.
	// Nothing that depends on them is told to anybody before. With Replace set the journal's content becomes exactly
	// Records (compaction): written beside, synced, renamed. Records stay valid and unchanged after the Step.
	//
	// GivenUp is the last Persist that the agent has given up because it was told of a failure, 0 before the first. A
	// journal refuses whatever was asked for before the agent knew of its last failure: see package journaltest.
	Persist struct {
		Seq     uint64
		GivenUp uint64
		Replace bool
		Records []Record
	}
	// StoreRequest asks the cluster's store for something; StoreReply{ID} comes back, or never.
	StoreRequest nodeid.Request
	// CallDataplane asks for one call; at most one is outstanding. Called comes back, or VPPDown.
	CallDataplane struct{ Call vppwire.Call }
	// Answer closes a CNI request.
	Answer struct {
		Request uint64
		// Code is CodeOK or one of the other codes below.
		Code    Code
		Message string
		// Exhausted: the request was refused because no address was free.
		Exhausted bool
		// Result is set for a successful ADD.
		Result Attachment
	}
	// WakeAt asks for Woke at that time; a later WakeAt replaces an earlier one, the zero time cancels.
	WakeAt struct{ At time.Time }
	// Hook asks for the pod hooks to run; Hooked comes back. Emitted only where Config.EmitHooks is set. Hooks of one attachment
	// run one after the other: a removal does not wait for the hook after its addition.
	Hook struct {
		ID      uint64
		Before  bool // before removal, else after addition
		Sandbox Sandbox
		// Addr and Second are the pod's addresses, the second one zero in clusters of one family.
		Addr, Second netip.Addr
		// Interface is VPP's name of the pod's interface, empty where this life has not wired it.
		Interface string
	}
	// Log is for people. Level follows slog: -4 debug, 0 info, 4 warn, 8 error. With a Reason, one word in CamelCase, it
	// is an event as Kubernetes has them, about a pod (Namespace, PodName) or else about the node.
	Log struct {
		Level              int
		Message            string
		Reason             string
		Namespace, PodName string
	}
	// ListNodes asks for the Node objects to be listed again, by the API server itself and not from a cache; NodeSeen and
	// NodesListed come, however late.
	ListNodes struct{}
	// ChangeLinux asks for one change of the host's Linux, VPP or no VPP: that Undo is undone (vppwire.Undoing). LinuxChanged
	// comes back; at most one is outstanding, and no CallDataplane beside it.
	ChangeLinux struct {
		Seq  uint64
		Undo vppwire.Object
	}
	// NICReturned says that the host has its NIC back for good, and the journal knows it: what ReturnNIC asked for.
	NICReturned struct{}
	// HealthChecks are what load balancers are to hear from this node from now on, instead of what was said before: each
	// port answers HTTP for its service. None at all before services are known.
	HealthChecks struct{ List []service.Health }
	// NodeAddress says that this node's interconnect address is known or changed.
	NodeAddress struct{ Addr netip.Prefix }
)

// Reasons of events.
const (
	// ReasonNoRoom: a pod's AF_PACKET interface would hang VPP.
	ReasonNoRoom = "TooManyAFPacketInterfaces"
	// ReasonUnreached: a pod is not let to a service's address, as policies forbid it some of the endpoints there.
	ReasonUnreached = "ServiceNotReached"
	// ReasonLeaseLost: the DHCP lease of the node's address has ended, and there is no other.
	ReasonLeaseLost = "LeaseLost"
	// ReasonNoNIC: VPP lacks an interface that the configuration names.
	ReasonNoNIC = "InterfaceMissing"
	// ReasonNoGateway: what the configuration hides behind the node's address has no gateway to leave by.
	ReasonNoGateway = "NothingIsHidden"
	// ReasonLeftOut: a record of the journal contradicts others, or lacks one beside it, and is left out.
	ReasonLeftOut = "JournalRecordLeftOut"
	// ReasonNotStolen: the configuration names no link that VPP could take. ReasonNICReturned: VPP is away, and the host
	// has its NIC back until it comes.
	ReasonNotStolen   = "NICNotStolen"
	ReasonNICReturned = "NICReturned"
	// ReasonSilent: VPP runs and does not answer.
	ReasonSilent = "VPPDoesNotAnswer"
)

// Code is the outcome of a CNI request (CNI specification 1.1, "Error"; from 100 on the plugin's own).
type Code = uint32

// Outcomes of a CNI request.
const (
	CodeOK Code = 0
	// CodeUnknownContainer: the sandbox or its network namespace does not exist.
	CodeUnknownContainer Code = 3
	// CodeInvalidEnv: the request names no usable container, interface or namespace.
	CodeInvalidEnv Code = 4
	// CodeIO: the journal could not be written.
	CodeIO Code = 5
	// CodeInvalidConfig: the request contradicts the configuration.
	CodeInvalidConfig Code = 7
	// CodeTryAgain: nothing is wrong with the request, it may succeed later.
	CodeTryAgain Code = 11
	// CodeUnavailable: STATUS on a node that cannot take an ADD now.
	CodeUnavailable Code = 50
	// CodeCancelled: the sandbox was removed while it was being added.
	CodeCancelled Code = 100
	// CodeMismatch: CHECK found something else than the allocation state says.
	CodeMismatch Code = 101
)

// Attachment is what a CNI ADD gives: the result that the plugin prints.
type Attachment struct {
	IfName string
	Netns  string
	// Addr has the pod's full-length mask: 10.1.1.2/32.
	Addr    netip.Prefix
	Gateway netip.Addr
	// Second and SecondGateway are of the second family; zero in clusters of one.
	Second        netip.Prefix
	SecondGateway netip.Addr
	MAC           vppwire.MAC
	MTU           uint32
}
