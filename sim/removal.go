package sim

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/removal"
	"github.com/vppdrill/vppdrill/sim/vppmodel/view"
	"github.com/vppdrill/vppdrill/vppwire"
	"github.com/vppdrill/vppdrill/vppwire/mode"
)

// beforeCall looks at what a call is about to take away; false when that is nothing. What it shows is what the models hold, not
// what the agent thinks.
func (m *machine) beforeCall(c vppwire.Call) bool {
	if !c.Writes() {
		return false
	}
	var t removal.Target
	var takes bool
	if op := c.LinuxOp(); op != nil {
		t, takes = removal.OfLinux(op)
	} else {
		t, takes = removal.OfVPP(c.Request())
	}
	if !takes {
		return false
	}
	m.w.look.VPP, m.w.look.Linux = view.Of(m.vpp), m.host
	return m.w.look.Before(t)
}

// afterCall tells what beforeCall's call has taken away, where it took something.
func (m *machine) afterCall(d *dataplaneCall, taking bool) {
	if !taking || m.vpp == nil {
		return
	}
	if r := m.w.look.After(d.call.Name()); r != nil {
		m.fact(scenarios.Fact{Kind: scenarios.FactRemoved, Removal: r, Rest: m.w.eng.Now() - d.since})
	}
}

// tellAddresses tells by which addresses the node is reached, when they have changed.
func (m *machine) tellAddresses() {
	if m.proc == nil {
		return
	}
	n := m.proc.agent.Node()
	if n.ID == m.told.id && n.Address == m.told.address && n.VXLAN == m.told.vxlan && n.HostVPP == m.told.hostVPP && secondOf(n) == m.told.second && slices.Equal(m.management, m.told.management) {
		return
	}
	m.told = addressed{id: n.ID, address: n.Address, vxlan: n.VXLAN, hostVPP: n.HostVPP, second: secondOf(n), management: slices.Clone(m.management)}
	f := scenarios.Fact{Kind: scenarios.FactAddressed}
	if n.ID != 0 {
		f.Addrs = append(f.Addrs, n.Address.Addr())
		if m.w.wiring.Overlay() {
			f.Addrs = append(f.Addrs, n.VXLAN.Addr())
		}
		if m.w.wiring.Interconnected() {
			f.Addrs = append(f.Addrs, n.HostVPP, n.HostLinux)
		}
		for _, a := range m.told.second {
			if a.IsValid() {
				f.Addrs = append(f.Addrs, a)
			}
		}
		f.Addrs = append(f.Addrs, m.management...)
	}
	m.fact(f)
}

// addressed is what tellAddresses told last.
type addressed struct {
	id         uint32
	address    netip.Prefix
	vxlan      netip.Prefix
	hostVPP    netip.Addr
	management []netip.Addr
	second     [4]netip.Addr
}

// secondOf are a node's addresses of the second family: its own, its VXLAN address, and the ends of its host interconnect.
func secondOf(n mode.Node) [4]netip.Addr {
	if n.Second == nil {
		return [4]netip.Addr{}
	}
	s := n.Second
	return [...]netip.Addr{s.Address.Addr(), s.VXLAN.Addr(), s.HostVPP, s.HostLinux}
}
