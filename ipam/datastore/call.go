package datastore

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"
)

// CallOp is what a Manager wants done outside. The zero CallOp is invalid.
type CallOp uint8

const (
	// DescribeENIs asks EC2 for every ENI attached to this instance; Result.ENIs.
	DescribeENIs CallOp = iota + 1
	// ReadIMDS asks the instance metadata service for the same, which is nearer and may be stale; Result.ENIs. ENI is the
	// one that is waited for, if any.
	ReadIMDS
	// SetUpENI makes the host's side of ENI ready: rules and routes.
	SetUpENI
	// AssignUnits asks EC2 for Units more addresses on ENI, prefixes if Delegated; Result.Prefixes has what it gave.
	AssignUnits
	// UnassignUnits gives Prefixes of ENI back to EC2.
	UnassignUnits
	// CreateENI makes and attaches an ENI with Units addresses, prefixes if Delegated; Result.ENIs has the one.
	CreateENI
	// DeleteENI detaches and deletes ENI.
	DeleteENI
)

var callOps = [...]string{
	DescribeENIs: "describe-enis", ReadIMDS: "read-imds", SetUpENI: "set-up-eni", AssignUnits: "assign-units",
	UnassignUnits: "unassign-units", CreateENI: "create-eni", DeleteENI: "delete-eni",
}

func (o CallOp) String() string { return callOps[o] }

// Call is one request. A Manager has at most one outstanding.
type Call struct {
	// Number is what the Result must carry; they ascend from 1.
	Number    uint64
	Op        CallOp
	ENI       string
	Units     int
	Delegated bool
	Prefixes  []netip.Prefix
}

// String is one line for trails.
func (c Call) String() string {
	text := fmt.Sprintf("%d %s", c.Number, c.Op)
	if c.ENI != "" {
		text += " " + c.ENI
	}
	if c.Units > 0 {
		text += fmt.Sprintf(" units=%d", c.Units)
	}
	if c.Delegated {
		text += " delegated"
	}
	for _, p := range c.Prefixes {
		text += " " + p.String()
	}
	return text
}

// Result answers a Call. An error whose chain has a method ErrorCode() string, as those of the AWS SDK have, says that
// EC2 refused and did nothing; after any other error it is unknown whether it did.
type Result struct {
	Number   uint64
	ENIs     []AttachedENI
	Prefixes []netip.Prefix
	Err      error
}

// AttachedENI is an ENI as EC2 or the metadata service tells it.
type AttachedENI struct {
	ID             string
	Device         int
	Primary, Trunk bool
	// Tags are EC2's; the metadata service does not know them.
	Tags map[string]string
	// Units are the secondary addresses (/32) and delegated prefixes. The ENI's own address is not among them.
	Units []netip.Prefix
}

// Error codes of EC2 that a Manager treats differently from others.
const (
	codeSubnetFull  = "InsufficientFreeAddressesInSubnet"
	codeNoBlock     = "InsufficientCidrBlocks"
	codeTooManyENIs = "AttachmentLimitExceeded"
	codeThrottled   = "RequestLimitExceeded"
)

// codeOf is EC2's code for an error, "" when it is unknown what happened.
func codeOf(err error) string {
	var coded interface{ ErrorCode() string }
	if errors.As(err, &coded) {
		return coded.ErrorCode()
	}
	return ""
}

// NoManageTag with the value "true" on an ENI makes nodes leave it to somebody else.
const NoManageTag = "node.k8s.amazonaws.com/no_manage"

// FilterUnmanagedENIs returns the ENIs without those tagged NoManageTag; the primary one is always managed.
func FilterUnmanagedENIs(enis []AttachedENI) []AttachedENI {
	return slices.DeleteFunc(slices.Clone(enis), func(e AttachedENI) bool {
		return !e.Primary && e.Tags[NoManageTag] == "true"
	})
}

// Event is what happens to a Manager: Woke, Called or Terminating.
type Event interface{ event() }

// Woke: the time of an earlier WakeAt has come. Too early or too often does no harm. The first Woke starts the Manager.
type Woke struct{}

// Called brings the answer to a Call.
type Called struct{ Result Result }

// Terminating: the node is going away; from now on the pool neither grows nor shrinks.
type Terminating struct{}

func (Woke) event()        {}
func (Called) event()      {}
func (Terminating) event() {}

// Effect is what a Manager wants: Perform, WakeAt, WantTrunk or Note.
type Effect interface{ effect() }

// Perform asks for a Call.
type Perform struct{ Call Call }

// WakeAt asks for a Woke at that time; only the latest counts.
type WakeAt struct{ At time.Time }

// WantTrunk asks the controller of branch ENIs for a trunk, which it attaches itself.
type WantTrunk struct{}

// Note is for the log.
type Note struct{ Text string }

func (Perform) effect()   {}
func (WakeAt) effect()    {}
func (WantTrunk) effect() {}
func (Note) effect()      {}
