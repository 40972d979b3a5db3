package vppmodel

import (
	"slices"

	"go.fd.io/govpp/api"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/interface_types"
	"go.fd.io/govpp/binapi/ip"
	"go.fd.io/govpp/binapi/ip_neighbor"
	"go.fd.io/govpp/binapi/l2"
	"go.fd.io/govpp/binapi/nat44_ed"
	"go.fd.io/govpp/binapi/nat_types"
)

// Idle reports whether a request says what is so already, of the requests that VPP answers with success then too: it would change nothing.
// What an interface is without being told does not count, nor a NIC, which is there before whoever asks: those need not be known. It changes
// nothing itself.
func (v *VPP) Idle(req api.Message) bool {
	switch m := req.(type) {
	case *interfaces.SwInterfaceSetFlags:
		i := v.at(uint32(m.SwIfIndex))
		return i != nil && i.kind != KindNIC && i.up == (m.Flags&interface_types.IF_STATUS_API_FLAG_ADMIN_UP != 0)
	case *interfaces.SwInterfaceSetMtu:
		i := v.at(uint32(m.SwIfIndex))
		return i != nil && i.kind != KindNIC && i.mtu[0] != mtuDefault && slices.Equal(i.mtu[:], m.Mtu)
	case *interfaces.HwInterfaceSetMtu:
		i := v.at(uint32(m.SwIfIndex))
		return i != nil && i.kind != KindNIC && i.ethernet && i.linkMTU != linkMTU && i.linkMTU == m.Mtu
	case *interfaces.SwInterfaceSetMacAddress:
		i := v.at(uint32(m.SwIfIndex))
		return i != nil && i.ethernet && i.mac == mac(m.MacAddress)
	case *interfaces.SwInterfaceTagAddDel:
		i := v.at(uint32(m.SwIfIndex))
		tag := ""
		if m.IsAdd {
			tag = truncate(m.Tag, tagMax)
		}
		return i != nil && i.tag == tag
	case *interfaces.SwInterfaceSetUnnumbered:
		i := v.at(uint32(m.UnnumberedSwIfIndex))
		return i != nil && i.borrows == m.IsAdd && (!m.IsAdd || i.donor == uint32(m.SwIfIndex))
	case *ip_neighbor.IPNeighborAddDel:
		f, a := decode(m.Neighbor.IPAddress)
		n, found := v.neighbors[neighborKey{a, uint32(m.Neighbor.SwIfIndex), f}]
		return m.IsAdd && found && n.mac == mac(m.Neighbor.MacAddress) && n.flags() == m.Neighbor.Flags
	case *ip.IPRouteAddDelV2:
		return v.idleRoute(m)
	case *l2.L2fibAddDel:
		b := v.bridgeOf(m.BdID)
		if b == nil || !m.IsAdd || m.FilterMac {
			return false
		}
		e, found := v.macs[macKey{mac(m.Mac), uint16(b.at)}]
		return found && e == macEntry{index: uint32(m.SwIfIndex), static: m.StaticMac, bvi: m.BviMac}
	case *nat44_ed.Nat44ForwardingEnableDisable:
		return v.nat.on && v.nat.forwarding == m.Enable
	case *nat44_ed.Nat44InterfaceAddDelFeature:
		i, _ := v.nat.interfaces.find(uint32(m.SwIfIndex))
		return v.nat.on && m.IsAdd && i != nil && i.sides&sideOf(m.Flags) != 0
	case *nat44_ed.NatSetTimeouts:
		t := nat_types.NatTimeouts(*m)
		return v.nat.on && t != natTimeoutsDefault && v.nat.timeouts == t
	}
	return false
}

// idleRoute reports whether a route of clients is there as it is asked for.
func (v *VPP) idleRoute(m *ip.IPRouteAddDelV2) bool {
	f, a := decode(m.Route.Prefix.Address)
	t := v.tables[f][m.Route.TableID]
	if !m.IsAdd || m.IsMultipath || t == nil || len(m.Route.Paths) != 1 || m.Route.Src != 0 || m.Route.Prefix.Len > f.bits() {
		return false
	}
	pfx := prefix{a.mask(m.Route.Prefix.Len), m.Route.Prefix.Len}
	e, found := t.sourced(pfx, sourceAPI)
	if !found {
		return false
	}
	p, retval := v.decodePath(&m.Route.Paths[0])
	if retval != ok {
		return false
	}
	p.fit(f, pfx, a)
	return slices.Equal(v.members(e.paths), []path{p})
}
