package nodeagent

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// State is what an agent tells a lab, as JSON on its watch socket.
type State struct {
	PID int
	// VPPUp: a connection to VPP stands.
	VPPUp bool
	// Pending says why the agent is not idle; empty: it is.
	Pending string
	ID      uint32
	Address netip.Prefix
	// VXLAN is the BVI's address, zero with plain L2; HostSubnet and its two ends are zero without a host interconnect.
	VXLAN              netip.Addr
	HostSubnet         netip.Prefix
	HostVPP, HostLinux netip.Addr
	// Services is the range that the host's way into VPP leads to, zero where VPP serves none.
	Services         netip.Prefix
	PodSubnet        netip.Prefix
	FormerPodSubnets []netip.Prefix
	Blocks           []ipam.Block
	Reserved         []netip.Addr
	// Leases are in ascending address order; Restored those that the journal held at this life's start.
	Leases, Restored []ipam.Lease
	// Changes are those that the lab has not heard of, oldest first.
	Changes []Change
	// StoreRevision is the highest revision that the store has told; Heard is what the cluster has told: see Heard.
	StoreRevision int64
	Heard         []string
	// Calls that were made, and those among them that write.
	VPPCalls, LinuxCalls, Writes int64
	// StoreOps are requests to the store, StoreWrites those among them that write, JournalBytes what the journal was given.
	StoreOps, StoreWrites, JournalBytes int64
}

// stateOf copies what an agent shows. It runs between two of its steps.
func stateOf(a *agent.Agent) State {
	facts := a.Node()
	s := State{Pending: a.Pending(), ID: facts.ID, Address: facts.Address, Blocks: slices.Clone(a.Blocks()), Reserved: a.Reserved(),
		Leases: slices.Collect(a.Leases())}
	if a.Mode().Overlay() {
		s.VXLAN = facts.VXLAN.Addr()
	}
	if a.Mode().Interconnected() {
		s.HostSubnet, s.HostVPP, s.HostLinux = facts.HostSubnet, facts.HostVPP, facts.HostLinux
	}
	s.Services = facts.Services
	if len(facts.PodSubnets) > 0 {
		s.PodSubnet, s.FormerPodSubnets = facts.PodSubnets[0], slices.Clone(facts.PodSubnets[1:])
	}
	return s
}
