package scenarios

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
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

// Holding is what a node has when it refuses an ADD for want of an address.
type Holding struct {
	// Blocks are those that it gives addresses from, in its order.
	Blocks []Room
	// Pool is what the pod's address is to be of, where a system has several.
	Pool string
	// SawNode: the agent has been told of its own Node object.
	SawNode bool
}

// Room is how many addresses a block has for pods, and how many of them are leased.
type Room struct {
	Block             netip.Prefix
	Addresses, Leased int
}

// ClaimedID is what became of a claim of a node ID.
type ClaimedID struct {
	// Refused: another node was faster.
	Refused bool
	// Skipped is how many smaller IDs nobody has, 0 where nobody knows; Joining how many other nodes have no record yet.
	Skipped, Joining int
}

// NodeRecord is what a record says of whose an ID is; the zero NodeRecord is none.
type NodeRecord struct {
	Name, UID string
	// Released: its node was found gone.
	Released bool
}

// Kinds of facts, and the fields they set beside At and Node.
const (
	// FactLeased: the agent leases Addr of block Prefix to Owner (decided, perhaps not yet on disk). Left is what is still there of
	// the address's former owner; Number is its place among those that the agent decided on together, from 1 on, 0 where nobody knows; InTurn: the configuration has the block's addresses given in turn, and none rest. After and Passed are what is known of the turn.
	FactLeased FactKind = iota + 1
	// FactReleased: the agent frees Addr of Owner, which the configuration keeps unused on the node for Rest. Left is what is still
	// there of Owner's.
	FactReleased
	// FactAnswered: an ADD for Owner was answered with Addr; its sandbox' namespace is Netns. Unsaved as below. Broken says what else of the
	// answer is not so, "" for nothing.
	FactAnswered
	// FactRefused: an ADD for Owner was answered with an error (Text) and its CNI error code (Number), Exhausted when no address was
	// free; Addr is one that was free all the same, and had been for a while, where the world knows one. Rest is how long the configuration has an ADD wait for its wiring; 0 where something else than the wiring may have
	// refused it, or nobody knows who did. Holding is what the node had when its agent refused it for want of an address, nil where nobody knows.
	FactRefused
	// FactDeleted: a DEL for Owner was answered with success. Unsaved as below.
	FactDeleted
	// FactSandboxGone: the container runtime removed Owner's sandbox; its processes are dead.
	FactSandboxGone
	// FactNodeID: the agent acts on node ID Number from now on; 0: on none. Unsaved as below.
	FactNodeID
	// FactBlocks: the node's pod ranges are now Blocks.
	FactBlocks
	// FactNodeGone: the node left the cluster (Text: NodeLeft; its ID stays unused for Rest) or its machine crashed; everything on it
	// is dead.
	FactNodeGone
	// FactAgentUp: the agent has read its journal; it holds Leases (and nothing else). Unsaved is what of its blocks is otherwise than in its life
	// before, whose writes had all reached the disk. InTurn: they had, so that addresses that are given in turn go on where they were.
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
	// whoever asked. Rest is how long its node waits for the records of nodes that are silent.
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
	// seconds before the node was able to and nothing was injected. Or Number other things were made, the first of them Broken, between the last of
	// an attachment's own and the answer to its ADD.
	FactSlow
	// FactSetAside: the node keeps Number addresses for itself beside Blocks, such as those that are free in a block of its.
	FactSetAside
	// FactUnread: a program refused what it, one before it, or one like it had written for others (Text: where, what and why). Node is empty for
	// a controller.
	FactUnread
	// FactFailed: what the node's agent asks of others (Text: one of TriedJournal and so on), or without a node a controller, has failed for the
	// Number-th time since Rest ago, with no success in between and nothing told that would be tried for at once. Broken is what was asked.
	FactFailed
	// FactNeedless: VPP or Linux took a call of the agent (Text) that said what was so already, and no call was made twice by whoever injects; or its
	// journal took such a record. Or the agent looked (Text) where there was nothing to look for, for the reason Broken. Or a controller or a node's
	// address management asks the API server or a cloud for something (Text) that nothing calls for by all that it was told, or does not although
	// something does (Broken).
	FactNeedless
	// FactServed: from now on clients anywhere get an endpoint at Addr and port Number, by protocol Text, of a service without affinity. Kept:
	// the last one there had affinity.
	// FactUnserved: they do not any more, or the service is another one.
	FactServed
	FactUnserved
	// FactPaced: the node's address management has done by itself what it does at intervals (Text: PacedStatus, PacedLook or PacedShrink) Rest after it did so last; or
	// (PacedStore) its agent asks the store for something although it has had no answer to what it asked Rest ago; or
	// (PacedReturn) its ipamd could have begun since Rest to give units back, as it does now or, where that is too long, does not; or
	// (PacedRewrite) its agent writes its journal anew, Number records after it did so last or read it, and nothing has failed and no range is taken out; or
	// (PacedWake) the agent wakes in vain, as it has done WakesInVain-1 times since Rest, and heard of nothing in between.
	FactPaced
	// FactChanging: the Number-th life of the controllers' program Text asks for a change of what they decide about (Broken: what). Rest is how long ago
	// the time was over, by its own clock, until which it led for certain; 0: it leads.
	FactChanging
	// FactRange: from now on controllers are to give nodes blocks of range Prefix (Text: RangeOpened), or none any more (RangeClosed).
	FactRange
	// FactTold: a request of the node's address management or a write of its agent's journal (Broken: what and why) was refused or not answered, or the agent
	// has heard of something that people are to know; Text is what the one who asked said of that where people look, "" for nothing.
	FactTold
	// FactDue: something that a program is to do by itself (Text: what) has been due for Rest, for as long as nothing was asked of the cluster and beside what it
	// takes by design; and nothing has disturbed the cluster for long. It is told again while it stays so.
	// With a Rest of 0 all is done that was due.
	FactDue
	// FactClaimed: the node's claim of ID Number in the store has had its answer, while nothing disturbs the cluster. Claim says which.
	FactClaimed
	// FactRetried: the node's agent makes a call again (Text: TriedWiring; Broken: the call), or writes its journal again (TriedJournal), that was refused Number times in a row, the last time Rest ago.
	// Told only where nothing that happened in between explains a pause longer than the documented one.
	FactRetried
	// FactRecorded: a controller records an event about the node's object where people look (Text: reason and message). Broken says what of it is not so by all that
	// the controller was told, "" for nothing.
	FactRecorded
	// FactInLine: the Number-th life of the controllers' program Broken has found no block for the node, which waits for one from now on (Text: LineJoined),
	// or asks for a change that gives it one (LineServed).
	FactInLine
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
	// Texts of a FactFailed: a write of the agent's journal, a request to the store, a call that changes VPP or Linux, one that looks
	// there, a request about a Node object or a cloud's alias, a request to EC2; and a write to the store that a conflict was the answer to, with
	// the same revision each time, from the second on.
	TriedJournal, TriedStore, TriedWiring, TriedLook, TriedNode, TriedCloud = "journal", "store", "wiring", "look", "node", "cloud"
	TriedConflict                                                           = "conflict"
	// LineJoined and LineServed are the Texts of a FactInLine.
	LineJoined, LineServed = "joined", "served"
	// RangeOpened and RangeClosed are the Texts of a FactRange.
	RangeOpened, RangeClosed = "opened", "closed"
	// Texts of a FactPaced: Cilium's agent publishes what of its node's addresses is in use, ipamd reads what the metadata service shows, an agent
	// gives a request to the store up, ipamd begins to give units back that are too many, an agent has waked in vain for the WakesInVain-th time in a row.
	PacedStatus, PacedLook, PacedStore, PacedShrink, PacedWake = "status", "metadata", "store", "shrink", "wake"
	// PacedAwait, PacedSetUp: ipamd looks once more whether the metadata service shows a new interface, or sets one up on the host once more.
	PacedAwait, PacedSetUp = "a look for a new interface", "a set-up of an interface"
	// PacedJoin: ipamd goes on so long late with an interface on its way.
	PacedJoin = "join"
	// PacedReturn: ipamd gives units back that are too many, or does not though it could have for so long.
	PacedReturn = "return"
	// PacedRewrite: an agent writes its journal anew.
	PacedRewrite = "rewrite"
	// WakesInVain is of how many wakes in a row, at which nothing was to be done, a FactPaced tells how long they took: more than the former
	// nodes of a small cluster, each of whose IDs an agent forgets in its own time.
	WakesInVain = 64
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
	InTurn bool
	// After is the address that the same life of an agent gave before of a block, Passed one between that and Addr that was nobody's.
	After, Passed netip.Addr
	// Kept is FactServed's, Calm FactCallRefused's, and FactRecord's: the record's node knew of the store's present data when it wrote, and nobody has
	// marked them complete.
	Kept, Calm bool
	// Exhausted and Holding are FactRefused's, Counts FactCounted's, Addrs FactAddressed's, Removal FactRemoved's; Netns, the sandbox' namespace,
	// FactAnswered's.
	Exhausted bool
	Holding   *Holding
	Counts    *Counts
	Addrs     []netip.Addr
	Removal   *Removal
	Netns     string
	Claim     *ClaimedID // FactClaimed's
	// Left is FactLeased's and FactReleased's, Record FactRecord's.
	Left   *Leftover
	Record *RecordChange
	// Unsaved says what the node's disk holds otherwise than the fact tells: a crash of the machine at this moment would undo it. Empty:
	// nothing.
	Unsaved string
}
