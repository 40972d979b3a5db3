package nodeipam

import (
	"fmt"
	"time"
)

// Event is something that a controller is told: one of the types below.
type Event interface{ event() }

// Facts about the cluster. The watch they come from tells changes of one object in order.
type (
	NodeAdded   struct{ Node KubeNode }
	NodeUpdated struct{ Node KubeNode }
	// NodeDeleted: the object is gone, finalizers and all. Node is its last state, or as much of it as is known: name and UID.
	NodeDeleted struct{ Node KubeNode }
	// ClusterCIDRAdded and ClusterCIDRDeleted change the ranges of a RangeAllocator. A deleted range gives no more blocks;
	// nodes keep theirs.
	ClusterCIDRAdded   struct{ ClusterCIDR ClusterCIDR }
	ClusterCIDRDeleted struct{ Name string }
	// Leading says until when this process is the leader for certain, by the clock of the events. From then on no request
	// leaves it until it is told a later time. The zero time, also when it was never told, has no end. Where somebody else may
	// have led in between, a new controller has to be made.
	Leading struct{ Until time.Time }
	// Woke: the time of the last WakeAt has come.
	Woke struct{}
)

// Answers to requests. Every request is answered once, with Unknown when the driver gives up on it.
type (
	// Answered answers PatchNodeCIDRs, TouchNode, GetNode, SetNetworkAvailable and AddAlias.
	Answered struct {
		ID      uint64
		Outcome Outcome
		// Why is the refusal's text.
		Why string
		// Node is the object after the request, where the server returned it; GetNode's Done always carries it.
		Node *KubeNode
	}
	// Listed answers ListNodes. With ID 0 it is a list after a gap in the watch: nodes that are not in it are gone. It must be as
	// new as whatever was told before it.
	Listed struct {
		ID      uint64
		Outcome Outcome
		Nodes   []KubeNode
	}
	// Aliases answers GetAliases with the alias ranges of the node's first interface.
	Aliases struct {
		ID      uint64
		Outcome Outcome
		Why     string
		CIDRs   []string
	}
)

func (NodeAdded) event()          {}
func (NodeUpdated) event()        {}
func (NodeDeleted) event()        {}
func (ClusterCIDRAdded) event()   {}
func (ClusterCIDRDeleted) event() {}
func (Leading) event()            {}
func (Woke) event()               {}
func (Answered) event()           {}
func (Listed) event()             {}
func (Aliases) event()            {}

// Outcome is what is known about a request.
type Outcome uint8

// Outcomes of a request. Only Unknown leaves open whether it was, or will be, applied.
const (
	// Unknown: no answer, or a server timeout. It is the zero Outcome because it claims nothing.
	Unknown Outcome = iota
	// Done: applied.
	Done
	// Conflict: UID or ResourceVersion are not what the request names; not applied, and never will be.
	Conflict
	// NotFound: there is no such object.
	NotFound
	// Refused: rejected for another reason; not applied, and never will be.
	Refused
)

var outcomes = [...]string{Unknown: "unknown", Done: "done", Conflict: "conflict", NotFound: "not found", Refused: "refused"}

func (o Outcome) String() string { return outcomes[o] }

// because is the outcome with its reason, if there is one.
func (o Outcome) because(why string) string {
	if why == "" {
		return o.String()
	}
	return o.String() + ": " + why
}

func failure(node, request string, o Outcome, why string) error {
	return fmt.Errorf("node %s: %s: %s", node, request, o.because(why))
}
