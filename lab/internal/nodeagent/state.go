package nodeagent

import (
	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/vppwire/host/rest"
)

// State is what an agent tells a lab, as JSON on its watch socket.
type State struct {
	PID int
	// State is what every agent tells: its claims, and why it is not idle.
	rest.State
	// VPPUp: a connection to VPP stands.
	VPPUp bool
	// Restored are the leases that the journal held at this life's start.
	Restored []ipam.Lease
	// Changes are those that the lab has not heard of, oldest first.
	Changes []Change
	// StoreRevision is the highest revision that the store has told; Heard is what the cluster has told: see Heard.
	StoreRevision int64
	Heard         []string
	// Daemon says what the one that asks for its addresses waits for, "" for nothing or where there is none. Short: ipamd has less than
	// it wants, and looks again.
	Daemon string
	Short  bool
	// Calls that were made, and those among them that write.
	VPPCalls, LinuxCalls, Writes int64
	// StoreOps are requests to the store, StoreWrites those among them that write, JournalBytes what the journal was
	// given.
	StoreOps, StoreWrites, JournalBytes int64
}
