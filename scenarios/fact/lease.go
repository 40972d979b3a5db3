package fact

import (
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
)

// Leased says that the agent decided to lease an address, perhaps not yet on disk.
type Leased struct {
	Owner ipam.Owner
	Addr  netip.Addr
	// Block is the address's block.
	Block netip.Prefix
	// Pool is the pool that the pod asked for; empty without pools.
	Pool string
	// Left is leftover wiring of the address's previous owner, or nil.
	Left *Leftover
}

// Released says that the agent frees an address.
type Released struct {
	Owner ipam.Owner
	Addr  netip.Addr
	// Block is the address's block.
	Block netip.Prefix
	// Rest is how long the configuration keeps the address unused on the node.
	Rest time.Duration
	// Left is leftover wiring of the owner, or nil.
	Left *Leftover
}

// Leftover is wiring of an address's owner that a node still has when the address is released or leased to another
// owner.
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

// SavedAll says that the journal was rewritten, or read by a new process: it holds exactly this.
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
