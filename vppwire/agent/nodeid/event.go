package nodeid

import "time"

// Event is something that the Machine is told: one of the types below.
type Event interface{ event() }

// Facts about the cluster's nodes, as the API server tells them.
type (
	// NodeSeen: a Node object exists with this UID. Own node included.
	NodeSeen struct{ Name, UID string }
	// NodeGone: the Node object with this UID does not exist any more.
	NodeGone struct{ Name, UID string }
	// NodesListed: every existing node has been told by NodeSeen since the start or the last NodesListed; a node that was
	// not, is gone. Age is how long ago the list was asked for, at the most: it says nothing about what came to be since.
	// UIDs are those of the list's nodes, where whatever was told before it is older than the list; nil where that is not
	// certain, so that the age decides.
	NodesListed struct {
		Age  time.Duration
		UIDs []string
	}
)

// What the store says.
type (
	// StoreReply answers the Request with the same ID.
	StoreReply struct {
		ID  uint64
		Err Outcome
		// Revision is the store's after the request.
		Revision int64
		// Store identifies the store's data: etcd's cluster ID. Another one than before means that all data was lost and
		// revisions start anew. 0 is unknown.
		Store uint64
		// Items are what was listed, what was written, or with Conflict what is there: a key that is not, is Deleted and has
		// no ModRevision, and was not there at Revision; 0 is unknown.
		Items []Item
	}
	// StoreChanged delivers watched changes in revision order. Deliveries may repeat, and may be older than what is known:
	// an item older than one already seen of its key is ignored.
	StoreChanged struct {
		Watch    uint64
		Revision int64
		Items    []Item
	}
	// StoreWatchLost: the watch with this ID ended.
	StoreWatchLost struct{ Watch uint64 }
)

// What the embedding says.
type (
	// Restored: the journal's claim. It is told before anything else, and only where the journal has one.
	Restored Claim
	// Saved: the claim is on disk.
	Saved Claim
	// Replanned: the answers of Plan.Regular have changed.
	Replanned struct{}
	// Await: the embedding waits, or no longer waits, for a store that is complete.
	Await struct{ On bool }
	// Woke: a time that Due named may have come.
	Woke struct{}
	// Act asks for the next step of the node's own: to list, to watch, to claim, to publish. The Plan must say what holds.
	Act struct{}
	// Judge asks for what the node does about others: to release IDs of nodes that are gone. It comes after Act, as a
	// node's own record goes first.
	Judge struct{}
)

// Claim is a node ID with the UID of the Node object that it was claimed for. The zero Claim is none.
type Claim struct {
	ID  uint32
	UID string
}

// Effect is something that the Machine asks its embedding to do: one of the types below, in the order they must start.
type Effect interface{ effect() }

type (
	// Request asks the store for something; StoreReply{ID} comes back, or never.
	Request struct {
		ID uint64
		Op Op
		// Key is the key, or for List and Watch the prefix.
		Key, Value string
		// Revision: for Update and Delete the ModRevision that Key must have; for Watch the revision after which changes are
		// wanted.
		Revision int64
	}
	// Save asks for the claim to be put on disk; Saved comes back. Until then nobody acts on the ID.
	Save Claim
	// ListNodes asks for the Node objects to be listed again, by the API server itself and not from a cache.
	ListNodes struct{}
	// Log is for people.
	Log struct {
		Level   Level
		Message string
	}
	// RecordChanged: the record of this ID is new, different or gone.
	RecordChanged struct{ ID uint32 }
	// MemberChanged: the record is as it was, but its node counts as gone from now on.
	MemberChanged struct{ ID uint32 }
	// Changed says what else is different now. It comes last, once at most.
	Changed uint16
)

// Bits of Changed.
const (
	// WantsAct: Act must be told before the embedding's own step ends; WantsJudge: Judge.
	WantsAct Changed = 1 << iota
	WantsJudge
	// Advanced: a delivery of the watch was taken.
	Advanced
	// Viewed: the view is as good as a fresh list, or the store has been marked complete.
	Viewed
	// IDChanged: Claim returns another one.
	IDChanged
	// StandingChanged: Usable or Trouble may say something else.
	StandingChanged
	// MemberBack: a node that counted as gone is there.
	MemberBack
	// ActingBegan: the claim is on disk, and the ID may be acted on.
	ActingBegan
	// RecordsKnown: the records were listed for the first time; NodesKnown: the nodes were.
	RecordsKnown
	NodesKnown
)

// Level follows slog.
type Level int

// Levels of Log.
const (
	Info  Level = 0
	Warn  Level = 4
	Error Level = 8
)

func (NodeSeen) event()       {}
func (NodeGone) event()       {}
func (NodesListed) event()    {}
func (StoreReply) event()     {}
func (StoreChanged) event()   {}
func (StoreWatchLost) event() {}
func (Restored) event()       {}
func (Saved) event()          {}
func (Replanned) event()      {}
func (Await) event()          {}
func (Woke) event()           {}
func (Act) event()            {}
func (Judge) event()          {}

func (Request) effect()       {}
func (Save) effect()          {}
func (ListNodes) effect()     {}
func (Log) effect()           {}
func (RecordChanged) effect() {}
func (MemberChanged) effect() {}
func (Changed) effect()       {}
