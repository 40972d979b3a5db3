package cilium

import (
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
)

// Event is something that a machine of this package hears: one of the types below.
type Event interface{ event() }

// Object is a node's resource as the API server has it.
type Object struct {
	// CiliumNode is nil where there is no resource. Of one that cannot be read, only the metadata is known.
	*CiliumNode
	// Revision is the resource's version as a number that grows.
	Revision int64
	// Owner is the UID of the Node that the resource belongs to, empty where that is not known.
	Owner string
	// Bad is why the resource cannot be read: it exists all the same, and keeps what it has.
	Bad error
	// Raw is the driver's own form of the object. It comes back with a write.
	Raw any
}

func (o Object) exists() bool { return o.CiliumNode != nil }

// formerOf reports whether it is of a former Node, as the node's is now the one of that UID: it goes with that one.
func (o Object) formerOf(uid string) bool { return o.exists() && o.Owner != "" && o.Owner != uid }

// newer reports whether o is a later state of the same resource than old, or another resource.
func (o Object) newer(old Object) bool {
	return !old.exists() || o.Metadata.UID != old.Metadata.UID || o.Revision > old.Revision
}

// Facts about resources. The watch that they come from reports the changes of one object in order.
type (
	// Listed are all resources that a machine follows: those that are not in it are gone.
	Listed struct{ Objects []Object }
	Seen   struct{ Object Object }
	// Gone: the object is deleted. Object is its last state, or as much of it as is known: name and UID.
	Gone struct{ Object Object }
)

// Facts about one node.
type (
	// NodeIs is the UID of the node's own Node object, empty while there is none.
	NodeIs struct{ UID string }
	// AgentSeen is the present state of the node's agent, whenever it may have changed, from the first LookAtAgent on.
	AgentSeen struct {
		// Requests are how many addresses the node needs of each pool, Excess the blocks that it could give back.
		Requests []PoolRequest
		Excess   []netip.Prefix
		// Held are the blocks that the agent has, draining ones among them, Used those with a pod's address.
		Held, Used []netip.Prefix
		// Idle: all that the agent has decided is journaled and known to the other nodes.
		Idle bool
		// Until is when Requests end to hold by themselves, the zero time for never.
		Until time.Time
	}
)

// Facts about the program.
type (
	// Leading says until when this process is the leader for certain. No request leaves a term from then on, until a later
	// Leading; the zero time has no end. The first one begins the term.
	Leading struct{ Until time.Time }
	// PoolsChanged: ranges were added to the pools or taken from them.
	PoolsChanged struct{}
	// Woke: the time of the last WakeAt has come. Too early or too often does no harm.
	Woke struct{}
)

// Answers to requests. Each request is answered once, with Unknown when the driver gives up on it.
type (
	// Wrote answers WriteResource and CreateResource. Object is what the server has now, where Outcome is Done.
	Wrote struct {
		ID      uint64
		Outcome ipam.Outcome
		Why     string
		Object  Object
	}
	// Stored answers a request to the ledger. Revision is that of the entry that was written; Entries are what was read,
	// in order of their keys.
	Stored struct {
		ID       uint64
		Outcome  ipam.Outcome
		Why      string
		Revision int64
		Entries  []Entry
	}
)

func (Listed) event()       {}
func (Seen) event()         {}
func (Gone) event()         {}
func (NodeIs) event()       {}
func (AgentSeen) event()    {}
func (Leading) event()      {}
func (PoolsChanged) event() {}
func (Woke) event()         {}
func (Wrote) event()        {}
func (Stored) event()       {}
