package nodeagent

import (
	"net/netip"

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
	// Kept are addresses that are kept for pods to come.
	Kept []netip.Addr
	// Calls that were made, and those among them that write.
	VPPCalls, LinuxCalls, Writes int64
	// StoreOps are requests to the store, StoreWrites those among them that write, JournalBytes what the journal was
	// given.
	StoreOps, StoreWrites, JournalBytes int64
}

// Reached are the addresses by which a node is reached, of what its agent tells: none before it has an ID.
func Reached(s *rest.State) (addrs []netip.Addr) {
	if s.ID == 0 || !s.Address.IsValid() {
		return nil
	}
	addrs = append(addrs, s.Address.Addr())
	for _, a := range [...]netip.Addr{s.VXLAN, s.HostVPP, s.HostLinux} {
		if a.IsValid() {
			addrs = append(addrs, a)
		}
	}
	if f := s.Second; f != nil {
		for _, a := range [...]netip.Addr{f.Address.Addr(), f.VXLAN, f.HostVPP, f.HostLinux} {
			if a.IsValid() {
				addrs = append(addrs, a)
			}
		}
	}
	return addrs
}
