package rest

import (
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/vppwire/agent"
)

// StateURL is where State is served, as JSON.
const StateURL = "/state"

// State is what an agent claims: the node ID that it acts on, what follows from it, its blocks and leases.
type State struct {
	// Pending says why the agent is not idle; empty: it is. Trouble says why it cannot take a pod; empty: it can.
	Pending, Trouble string
	ID               uint32
	Address          netip.Prefix
	// Leased are the DHCP leases that VPP has told of, by the name of the interface. The main one's is not there while
	// Address is one from before.
	Leased map[string]netip.Prefix
	// VXLAN is the BVI's address, zero with plain L2; HostSubnet and its two ends are zero without a host interconnect.
	VXLAN              netip.Addr
	HostSubnet         netip.Prefix
	HostVPP, HostLinux netip.Addr
	// Services is the range that the host's way into VPP leads to, zero where VPP serves none.
	Services  netip.Prefix
	PodSubnet netip.Prefix
	// FormerPodSubnets are earlier ranges of pods of which some node may hold a part still; HostSubnets those of hosts,
	// the present one first.
	FormerPodSubnets, HostSubnets []netip.Prefix
	// Second is the same of the second address family, from Address on; nil in clusters of one.
	Second   *Family `json:",omitempty"`
	Blocks   []ipam.Block
	Reserved []netip.Addr
	// Leases are in ascending address order.
	Leases []ipam.Lease
	// Life is when this process of the agent began to serve: another one is another life.
	Life time.Time
}

// Family is what a node has of one address family.
type Family struct {
	Address            netip.Prefix
	VXLAN              netip.Addr
	HostSubnet         netip.Prefix
	HostVPP, HostLinux netip.Addr
	PodSubnet          netip.Prefix

	FormerPodSubnets, HostSubnets []netip.Prefix
}

// StateOf copies what an agent claims. It runs between two of its steps.
func StateOf(a *agent.Agent) State {
	facts := a.Node()
	s := State{Pending: a.Pending(), Trouble: a.Trouble(time.Now()), ID: facts.ID, Address: facts.Address, Blocks: slices.Clone(a.Blocks()),
		Reserved: a.Reserved(), Leases: slices.Collect(a.Leases())}
	if a.Mode().Overlay() {
		s.VXLAN = facts.VXLAN.Addr()
	}
	if a.Mode().Interconnected() {
		s.HostSubnet, s.HostVPP, s.HostLinux = facts.HostSubnet, facts.HostVPP, facts.HostLinux
	}
	if n := facts.Second; n != nil {
		s.Second = &Family{Address: n.Address, PodSubnet: n.PodSubnets[0], FormerPodSubnets: slices.Clone(n.PodSubnets[1:]),
			HostSubnets: slices.Clone(n.HostSubnets)}
		if a.Mode().Overlay() {
			s.Second.VXLAN = n.VXLAN.Addr()
		}
		if a.Mode().Interconnected() {
			s.Second.HostSubnet, s.Second.HostVPP, s.Second.HostLinux = n.HostSubnet, n.HostVPP, n.HostLinux
		}
	}
	s.Services = facts.Services
	leased := func(nic string, wanted bool) {
		if l, ok := a.LeaseOf(nic); ok && wanted {
			if s.Leased == nil {
				s.Leased = map[string]netip.Prefix{}
			}
			s.Leased[nic] = l
		}
	}
	leased(facts.NIC, facts.DHCP)
	for _, o := range facts.Others {
		leased(o.Name, o.DHCP)
	}
	if len(facts.PodSubnets) > 0 {
		s.PodSubnet, s.FormerPodSubnets, s.HostSubnets = facts.PodSubnets[0], slices.Clone(facts.PodSubnets[1:]), slices.Clone(facts.HostSubnets)
	}
	return s
}

// state shows what the agent claims, of the life that began when it began to serve.
func (h handler) state(began time.Time) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var s State
		if !h.ask(w, r, func(a *agent.Agent) { s = StateOf(a) }) {
			return
		}
		s.Life = began
		answer(w, s)
	}
}
