package fact

import (
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
)

// Fact is one thing that happened, in the world's order.
type Fact struct {
	// At is the time since the run's start.
	At time.Duration
	// Node is where it happened; empty where it is no node's.
	Node string
	What What
}

// What is what happened: one of the types of this package, by value. A world sets every field of the ones that it tells;
// a rule of reports/repo holds its literals to that.
type What interface{ what() }

// Configured says what the cluster is to be. The runner tells it in every world, before anything else.
type Configured struct{ Config *scenarios.Config }

// Disturbed says that something which may change what a node should look like has happened or begins: an action, a VPP
// that came or went.
type Disturbed struct {
	// By is the action's verb, VPPUp, LinkDeleted, or words for people.
	By string
	// Owner is LinkDeleted's: whose link; none for the one that all pods of the node share.
	Owner ipam.Owner
}

// What Disturbed.By says beside verbs of actions.
const (
	// VPPUp: a VPP has started.
	VPPUp = "VPP is up"
	// LinkDeleted: somebody has deleted a pod's link.
	LinkDeleted = "a link was deleted"
)

// Quiet says that everything is healed and quiet, and nothing will be asked of the cluster any more.
type Quiet struct{}

// Counted says how much more the node's agent has asked; without a node, how much anybody has.
type Counted struct{ Counts Counts }

func (Configured) what() {}
func (Disturbed) what()  {}
func (Quiet) what()      {}
func (Counted) what()    {}
