package fact

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
)

// When says when a law must hold.
type When uint8

const (
	// Always: at every instant.
	Always When = iota + 1
	// Settled: whenever the cluster is quiet.
	Settled
)

// Law is one thing that must never be otherwise, in every world.
type Law struct {
	// Name is what scenario files and reports call it: lower case words joined by hyphens.
	Name string
	// Why is one sentence: what breaks for a user when the law does.
	Why  string
	When When
	// Foreign: any CNI agent owes it; else it is a contract of this agent's design.
	Foreign bool
	// Needs is the evidence without which the law cannot be judged.
	Needs []Evidence
	// Check judges a whole snapshot. It counts its occasions: the things in the snapshot that the law says something about and
	// that were looked at, up to the first that breaks it; 0 when there is nothing of the kind. Its error is a *Violation or nil.
	Check func(Snapshot) (occasions int64, err error)
	// Watch, where set, starts an incremental judge that is fed every Fact in order; it and Check must agree.
	Watch func() Watcher
}

// Watcher judges a run fact by fact. A step costs what the fact changes.
type Watcher interface {
	// Observe returns a *Violation at the first fact that breaks the law. The fact is the caller's: it is read, not changed, and
	// not kept beyond the call.
	Observe(f *Fact) error
	// Checks counts what was judged so far: the watcher's occasions.
	Checks() int64
}

// Violation is a broken law with what broke it.
type Violation struct {
	Law  string
	At   time.Duration
	Node string
	// What is one sentence with the values that contradict each other.
	What string
	// Cause tells apart violations of one law that have nothing to do with each other, where the law's name does not; it holds no
	// name, number or address.
	Cause string
	// Before and After are the state around the first bad event, where known.
	Before, After string
	// Way is the way of the packet that shows it, hop by hop, where one does. What became of it is the last hop's decision.
	Way []Hop
}

// Hop is one place on a packet's way: where on which node, and what happened there.
type Hop struct {
	Node     string `json:"node"`
	Place    string `json:"place,omitempty"`
	Decision string `json:"decision"`
}

func (v *Violation) Error() string {
	where := ""
	if v.Node != "" {
		where = " on " + v.Node
	}
	return fmt.Sprintf("%s%s at %s: %s", v.Law, where, v.At, v.What)
}

// FactKind is what a Fact says.
type FactKind uint8

// Leftover is what a node still holds of an address's owner when it is released, or leased to another one.
type Leftover struct {
	// Node has it; Thing is what it is.
	Node, Thing string
	Owner       ipam.Owner
}

// RecordChange is one change of a node ID's record in the store.
type RecordChange struct {
	ID            uint32
	Before, After NodeRecord
	// Blocks are those that the record says After's node has, Address is where others reach it by it; none where there is no record.
	Blocks  []netip.Prefix
	Address netip.Addr
}

// NodeRecord is what a record says of whose an ID is; the zero NodeRecord is none.
type NodeRecord struct {
	Name, UID string
	// Released: its node was found gone.
	Released bool
}

// Kinds of facts, and the fields they set beside At and Node.
const (
	// FactLeased: the agent leases Addr of block Prefix to Owner (decided, perhaps not yet on disk). Left is what is still there of the address's former
	// owner. Text is the pool that the pod asked for, where there are several.
	FactLeased FactKind = iota + 1
	// FactReleased: the agent frees Addr of Owner, which the configuration keeps unused on the node for Rest. Left is what is still
	// there of Owner's.
	FactReleased
	// FactAnswered: an ADD for Owner was answered with Addr; its sandbox' namespace is Netns.
	FactAnswered
	// FactRefused: an ADD for Owner was answered with an error (Text) and its CNI error code (Number), Exhausted when no address was
	// free. Rest is how long the configuration has an ADD wait for its wiring; 0 where something else than the wiring may have
	// refused it, or nobody knows who did.
	FactRefused
	// FactDeleted: a DEL for Owner was answered with success.
	FactDeleted
	// FactSandboxGone: the container runtime removed Owner's sandbox; its processes are dead.
	FactSandboxGone
	// FactNodeID: the agent acts on node ID Number from now on; 0: on none.
	FactNodeID
	// FactBlocks: the node's pod ranges are now Blocks.
	FactBlocks
	// FactNodeGone: the node left the cluster (Text: NodeLeft; its ID stays unused for Rest) or its machine crashed; everything on it
	// is dead.
	FactNodeGone
	// FactAgentUp: the agent has read its journal; it holds Leases (and nothing else).
	FactAgentUp
	// FactAgentDown: the agent's process ended.
	FactAgentDown
	// FactAsked: a CNI request (Text: AskedAdd, Del, Check, GC) for Owner of Pod with PodUID has reached the agent, or (AskedAddress) the
	// address management, which the plugin asks before. An ADD's sandbox' namespace is Netns, where the world can tell, and Addr the
	// address that it brings.
	FactAsked
	// FactDisturbed: something that may change what any node should look like has happened or begins (Text): an action, a
	// VPP that came or went.
	FactDisturbed
	// FactVPPWrite, told for some minutes after a FactAgentDown with Text "clean", and from FactQuiet on: the agent made a writing call (Text) to VPP or Linux.
	FactVPPWrite
	// FactAssigned: what decides about nodes' blocks (API server, EC2) says that the node has Blocks, of which only prefixes and
	// Draining count: a draining one was taken back by an administrator while it may be in use. None: it has none, or is gone.
	FactAssigned
	// FactVPPCrash: VPP was asked for what a real one dies of, or died by itself (Text).
	FactVPPCrash
	// FactProgramCrash: an agent, a controller or an operator (Node: the agent's) died of what it was told (Text).
	FactProgramCrash
	// FactDelRefused: a DEL for Owner, sent again although nothing of it is there any more, was answered with an error (Text),
	// while nothing that was injected explains it.
	FactDelRefused
	// FactChecked: a CHECK of Owner was answered with Number, a CNI error code or 0, and Text; Broken says what is wrong with the pod's
	// wiring, "" for nothing. It is told only where that is certain: nothing was under way when it was asked, nor, where nothing is
	// wrong, when it was answered.
	FactChecked
	// FactStatus: a STATUS was answered with Number, a CNI error code or 0, and Text; Broken says why the node takes no ADD, "" when
	// it does. It is told only where that is certain, as FactChecked.
	FactStatus
	// FactCounted: Counts more has been asked, by the node's agent or, without a node, by anybody.
	FactCounted
	// FactAddressed: the node is reached by Addrs from now on: its address, its VXLAN address, the ends of its host interconnect,
	// its management addresses. None: its agent acts on no ID yet.
	FactAddressed
	// FactRemoved: a call took Removal away from the node's VPP or Linux. The agent had decided on it Rest earlier, as far as the world
	// knows: what it has learned since could not stop the call.
	FactRemoved
	// FactRecord: the record of a node ID in the store was written or deleted as Record says. It is told when the store does it,
	// whoever asked.
	FactRecord
	// FactPod: the API server's object of the pod was created, bound to Node or asked to go (Text: PodCreated, PodBound, PodDeleted).
	FactPod
	// FactCallRefused: VPP or Linux refused a call of the agent (Text: the call and why) by themselves; for want of the namespace Netns, where
	// that is set. Calm: nothing was injected into the node lately.
	FactCallRefused
	// FactAbandoned: the runtime gave up waiting for the answer to a request (Text as FactAsked's) for Owner after Rest, all of which the
	// node was able to answer: its programs ran, nothing was injected, and it had an ID and blocks.
	FactAbandoned
	// FactSlow: the agent took Rest, a tenth of a second or more, to answer a request (Text as FactAsked's) for Owner, through which and for some
	// seconds before the node was able to and nothing was injected.
	FactSlow
	// FactSetAside: the node keeps Number addresses for itself beside Blocks, such as those that are free in a block of its.
	FactSetAside
	// FactServed: from now on clients anywhere get an endpoint at Addr and port Number, by protocol Text, of a service without affinity. Kept:
	// the last one there had affinity.
	// FactUnserved: they do not any more, or the service is another one.
	FactServed
	FactUnserved
	// FactChanging: the Number-th life of the controllers' program Text asks for a change of what they decide about (Broken: what). Rest is how long ago
	// the time was over, by its own clock, until which it led for certain; 0: it leads.
	FactChanging
	// FactRange: from now on controllers are to give nodes blocks of range Prefix (Text: RangeOpened), or none any more (RangeClosed).
	FactRange
	// FactSaved: a record of the agent's journal has reached the disk (Text: SavedLease and SavedRelease of Owner's Addr, SavedNodeID Number); or the journal
	// was written anew, or read by a new life, and says Leases and Number and nothing else (SavedAll).
	FactSaved
	// FactHooked: a hook of the program that embeds the agent has run for Pod (Text: HookedAfter its addition, HookedBefore its removal).
	FactHooked
	// FactConfigured: the cluster is to be as Config says. The runner says so, before anything else, in every world.
	FactConfigured
	// FactQuiet: everything is healed and quiet, and nothing will be asked of the cluster any more.
	FactQuiet
)

const (
	// NodeLeft is the Text of a FactNodeGone of a node that is no member any more.
	NodeLeft = "left"
	// CleanStop is the Text of a FactAgentDown by which a world vouches that the node's dataplane was right and stays
	// untouched by anything that facts do not tell: its VPP stays up, pools, node list and addresses stay as they are until
	// the agent has started again. Without it quiet-restart judges nothing.
	CleanStop = "clean"
	// VPPUp is the Text of a FactDisturbed by which a world says that a VPP has started.
	VPPUp = "VPP is up"
	// LinkDeleted is that of one by which somebody has deleted a pod's link, or without an Owner the one that all pods of the node share.
	LinkDeleted = "a link was deleted"
	// PodCreated, PodBound and PodDeleted are the Texts of a FactPod. A pod that is created on a node is bound too.
	PodCreated, PodBound, PodDeleted = "created", "bound", "deleted"
	// AskedAdd is the Text of a FactAsked for an ADD: its sandbox is there from now on.
	AskedAdd = "Add"
	// SavedLease and so on are the Texts of a FactSaved.
	SavedLease, SavedRelease, SavedNodeID, SavedAll = "lease", "release", "node ID", "all"
	// HookedAfter and HookedBefore are the Texts of a FactHooked.
	HookedAfter, HookedBefore = "after", "before"
	// RangeOpened and RangeClosed are the Texts of a FactRange.
	RangeOpened, RangeClosed = "opened", "closed"
	// AskedAddress is the Text of a FactAsked that the agent has not seen yet.
	AskedAddress = "Address"
)

// Fact is one thing that happened, in the world's order.
type Fact struct {
	Kind   FactKind
	At     time.Duration
	Node   string
	Owner  ipam.Owner
	Pod    string // "namespace/name"
	PodUID string // beside Pod
	Addr   netip.Addr
	Prefix netip.Prefix
	Number uint32
	Blocks []ipam.Block
	Leases []ipam.Lease
	Text   string
	Broken string
	Rest   time.Duration
	// Kept is FactServed's, Calm FactCallRefused's.
	Kept, Calm bool
	// Exhausted is FactRefused's, Counts FactCounted's, Addrs FactAddressed's, Removal FactRemoved's; Netns, the sandbox' namespace,
	// FactAnswered's.
	Exhausted bool
	Counts    *Counts
	// Config is FactConfigured's.
	Config  *scenarios.Config
	Addrs   []netip.Addr
	Removal *Removal
	Netns   string
	// Left is FactLeased's and FactReleased's, Record FactRecord's.
	Left   *Leftover
	Record *RecordChange
}
