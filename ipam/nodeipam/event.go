package nodeipam

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
)

// Event is something that a controller is told: one of the types below.
type Event interface{ event() }

// Facts about the cluster. The watch they come from tells changes of one object in order.
type (
	NodeAdded   struct{ Node KubeNode }
	NodeUpdated struct{ Node KubeNode }
	// NodeDeleted: the object is gone, finalizers and all. Node is its last state, or as much of it as is known: name and
	// UID.
	NodeDeleted struct{ Node KubeNode }
	// ClusterCIDRAdded and ClusterCIDRDeleted change the ranges of a RangeAllocator. A deleted range gives no more blocks;
	// nodes keep theirs.
	ClusterCIDRAdded   struct{ ClusterCIDR ClusterCIDR }
	ClusterCIDRDeleted struct{ Name string }
	// ServiceCIDRs are ranges of the cluster's services, which no node gets a part of from here on; those that were named before
	// stay kept. A node that has a part of one keeps it, and is quarantined. CloudAllocator has no use for them.
	ServiceCIDRs struct{ Ranges []netip.Prefix }
	// Leading says until when this process is the leader for certain, by the clock of the events. From then on no request
	// leaves it until it is told a later time. The zero time, also when it was never told, has no end. Where somebody else
	// may have led in between, a new controller has to be made.
	Leading struct{ Until time.Time }
	// Woke: the time of the last WakeAt has come.
	Woke struct{}
)

// Answers to requests. Every request is answered once, with Unknown when the driver gives up on it.
type (
	// Answered answers PatchNodeCIDRs, TouchNode, GetNode, SetNetworkAvailable, SetNetworkUnavailable, AddAlias, CreateRoute
	// and DeleteRoute.
	Answered struct {
		ID      uint64
		Outcome ipam.Outcome
		// Why is the refusal's text.
		Why string
		// Node is the object after the request, where the server returned it; GetNode's Done always carries it.
		Node *KubeNode
	}
	// Listed answers ListNodes. With ID 0 it is a list after a gap in the watch: nodes that are not in it are gone. It
	// must be as new as whatever was told before it.
	Listed struct {
		ID      uint64
		Outcome ipam.Outcome
		Nodes   []KubeNode
	}
	// Aliases answers GetAliases with the alias ranges of the node's first interface.
	Aliases struct {
		ID      uint64
		Outcome ipam.Outcome
		Why     string
		CIDRs   []string
	}
	// Routes answers ListRoutes.
	Routes struct {
		ID      uint64
		Outcome ipam.Outcome
		Why     string
		Routes  []Route
	}
)

func (NodeAdded) event()          {}
func (NodeUpdated) event()        {}
func (NodeDeleted) event()        {}
func (ClusterCIDRAdded) event()   {}
func (ClusterCIDRDeleted) event() {}
func (ServiceCIDRs) event()       {}
func (Leading) event()            {}
func (Woke) event()               {}
func (Answered) event()           {}
func (Listed) event()             {}
func (Aliases) event()            {}
func (Routes) event()             {}

func failure(node, request string, o ipam.Outcome, why string) error {
	return fmt.Errorf("node %s: %s: %s", node, request, o.Because(why))
}
