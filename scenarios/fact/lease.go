package fact

import (
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
)

// Leased says that the agent leases an address: it is decided, and perhaps not yet on disk.
type Leased struct {
	Owner ipam.Owner
	Addr  netip.Addr
	// Block is the block that the address is of.
	Block netip.Prefix
	// Pool is the pool that the pod asked for; empty where there are none.
	Pool string
	// Left is what is still there of the address's former owner; nil for nothing.
	Left *Leftover
}

// Released says that the agent frees an address.
type Released struct {
	Owner ipam.Owner
	Addr  netip.Addr
	// Block is the block that the address is of.
	Block netip.Prefix
	// Rest is how long the configuration keeps the address unused on the node.
	Rest time.Duration
	// Left is what is still there of the owner's; nil for nothing.
	Left *Leftover
}

// Leftover is what a node still holds of an address's owner when it is released, or leased to another one.
type Leftover struct {
	// Node has it; Thing is what it is.
	Node, Thing string
	Owner       ipam.Owner
}

// SavedLease says that the lease of an address has reached the disk of the agent's journal.
type SavedLease struct {
	Owner ipam.Owner
	Addr  netip.Addr
}

// SavedRelease says that the release of an address has reached the disk of the agent's journal.
type SavedRelease struct {
	Owner ipam.Owner
	Addr  netip.Addr
}

// SavedNodeID says that a node ID has reached the disk of the agent's journal.
type SavedNodeID struct{ ID uint32 }

// SavedAll says that the journal was written anew, or read by a new life: it holds this and nothing else.
type SavedAll struct {
	Leases []ipam.Lease
	ID     uint32
}

// Sandbox implements OfSandbox.
func (x Leased) Sandbox() (ipam.Owner, string) { return x.Owner, "" }

// Sandbox implements OfSandbox.
func (x Released) Sandbox() (ipam.Owner, string) { return x.Owner, "" }

func (Leased) what()       {}
func (Released) what()     {}
func (SavedLease) what()   {}
func (SavedRelease) what() {}
func (SavedNodeID) what()  {}
func (SavedAll) what()     {}
