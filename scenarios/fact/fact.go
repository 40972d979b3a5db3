package fact

import (
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
)

// Fact is one event, in the world's order.
type Fact struct {
	// At is the time since the run's start.
	At time.Duration
	// Node is its node; empty if it belongs to none.
	Node string
	What What
}

// What is one of the types of this package, by value. A world sets every field of those that it reports; a rule of
// reports/repo checks its literals.
type What interface{ what() }

// Configured carries the cluster's configuration. The runner reports it in every world, before any other fact.
type Configured struct{ Config *scenarios.Config }

// Disturbed reports an event that may change a node's desired state: an action, or a start or end of a VPP.
type Disturbed struct {
	// By is the action's verb, VPPUp, LinkDeleted, or words for people.
	By string
	// Owner is the link's owner for LinkDeleted; none for the shared link of the node's pods.
	Owner ipam.Owner
}

// Values of Disturbed.By besides verbs of actions.
const (
	// VPPUp: a VPP has started.
	VPPUp = "VPP is up"
	// LinkDeleted: a pod's link was deleted.
	LinkDeleted = "a link was deleted"
)

// Quiet says that everything is healed and quiet, and no further request will come.
type Quiet struct{}

// Counted reports new requests of the node's agent; without a node, of all programs.
type Counted struct{ Counts Counts }

func (Configured) what() {}
func (Disturbed) what()  {}
func (Quiet) what()      {}
func (Counted) what()    {}
