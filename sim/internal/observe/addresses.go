package observe

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire/mode"
)

// Addresses reports the addresses at which the node is reached, when they have changed.
func (n *Node) Addresses() {
	if n.agent == nil {
		return
	}
	facts, management := n.agent.Node(), n.view.Management()
	if facts.ID == n.told.id && facts.Address == n.told.address && facts.VXLAN == n.told.vxlan && facts.HostVPP == n.told.hostVPP && secondOf(facts) == n.told.second && slices.Equal(management, n.told.management) {
		return
	}
	n.told = addressed{id: facts.ID, address: facts.Address, vxlan: facts.VXLAN, hostVPP: facts.HostVPP, second: secondOf(facts), management: slices.Clone(management)}
	var addrs []netip.Addr
	if facts.ID != 0 {
		addrs = append(addrs, facts.Address.Addr())
		if n.wiring.Overlay() {
			addrs = append(addrs, facts.VXLAN.Addr())
		}
		if n.wiring.Interconnected() {
			addrs = append(addrs, facts.HostVPP, facts.HostLinux)
		}
		for _, a := range n.told.second {
			if a.IsValid() {
				addrs = append(addrs, a)
			}
		}
		addrs = append(addrs, management...)
	}
	n.view.Fact(fact.Fact{What: fact.Addressed{Addrs: addrs}})
}

// addressed is what Addresses reported last.
type addressed struct {
	id         uint32
	address    netip.Prefix
	vxlan      netip.Prefix
	hostVPP    netip.Addr
	management []netip.Addr
	second     [4]netip.Addr
}

// secondOf are a node's addresses of the second family: its own, its VXLAN address, and the ends of its host
// interconnect.
func secondOf(n mode.Node) [4]netip.Addr {
	if n.Second == nil {
		return [4]netip.Addr{}
	}
	s := n.Second
	return [...]netip.Addr{s.Address.Addr(), s.VXLAN.Addr(), s.HostVPP, s.HostLinux}
}
