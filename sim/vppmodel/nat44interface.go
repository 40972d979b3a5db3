package vppmodel

import (
	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/ip_types"
	"go.fd.io/govpp/binapi/nat44_ed"
	"go.fd.io/govpp/binapi/nat_types"
)

// natSides is which of NAT's sides an interface is on; it may be both.
type natSides uint8

const (
	natInside natSides = 1 << iota
	natOutside
)

func (s natSides) appendText(b []byte) []byte {
	if s&natInside != 0 {
		b = append(b, " inside"...)
	}
	if s&natOutside != 0 {
		b = append(b, " outside"...)
	}
	return b
}

type natInterface struct {
	index uint32
	sides natSides
}

// natInterfaces is a pool of them, in VPP's order.
type natInterfaces struct {
	list []*natInterface
	at   indexPool
}

func (p *natInterfaces) find(index uint32) (*natInterface, uint32) {
	for at, i := range p.list {
		if i != nil && i.index == index {
			return i, uint32(at)
		}
	}
	return nil, none
}

func (p *natInterfaces) add(i *natInterface) {
	at := p.at.get()
	p.list = grown(p.list, at)
	p.list[at] = i
}

func (p *natInterfaces) remove(at uint32) {
	p.list[at] = nil
	p.at.put(at)
}

func (p *natInterfaces) len() (n int) {
	for _, i := range p.list {
		if i != nil {
			n++
		}
	}
	return n
}

// sideOf is the side that a request's flags mean.
func sideOf(flags nat_types.NatConfigFlags) natSides {
	if flags&nat_types.NAT_IS_INSIDE != 0 {
		return natInside
	}
	return natOutside
}

// natFeature puts an interface on a side. A side that it has is fine again; to take one away from an interface that has
// only the other takes the interface away whole (nat44_ed_del_interface).
func (v *VPP) natFeature(m *nat44_ed.Nat44InterfaceAddDelFeature) int32 {
	n, at := &v.nat, uint32(m.SwIfIndex)
	side := sideOf(m.Flags)
	i, place := n.interfaces.find(at)
	switch {
	case v.at(at) == nil:
		return invalidIndex
	case !n.on:
		return unsupported
	case !m.IsAdd && i == nil:
		return noSuchEntry
	case !m.IsAdd && i.sides == natInside|natOutside:
		i.sides &^= side
	case !m.IsAdd:
		n.interfaces.remove(place)
	case n.isOutput(at):
		return valueExists
	case i == nil:
		n.interfaces.add(&natInterface{at, side})
	default:
		i.sides |= side
	}
	return ok
}

// forgetInterface takes an interface that goes off all sides.
func (n *nat) forgetInterface(index uint32) {
	for _, p := range [...]*natInterfaces{&n.interfaces, &n.outputs} {
		if _, at := p.find(index); at != none {
			p.remove(at)
		}
	}
}

func (n *nat) isOutput(at uint32) bool {
	i, _ := n.outputs.find(at)
	return i != nil
}

func (v *VPP) natInterfaceDump(*nat44_ed.Nat44InterfaceDump) []api.Message {
	var out []api.Message
	for _, i := range v.nat.interfaces.list {
		if i == nil {
			continue
		}
		d := &nat44_ed.Nat44InterfaceDetails{SwIfIndex: index(i.index)}
		if i.sides&natInside != 0 {
			d.Flags |= nat_types.NAT_IS_INSIDE
		}
		if i.sides&natOutside != 0 {
			d.Flags |= nat_types.NAT_IS_OUTSIDE
		}
		out = append(out, d)
	}
	return out
}

// natOutput lets an interface translate what it sends. It is on no side beside that.
func (v *VPP) natOutput(m *nat44_ed.Nat44EdAddDelOutputInterface) int32 {
	n, at := &v.nat, uint32(m.SwIfIndex)
	i, place := n.outputs.find(at)
	if v.at(at) == nil {
		return invalidIndex
	}
	if !n.on {
		return unsupported
	}
	side, _ := n.interfaces.find(at)
	switch {
	case !m.IsAdd && i == nil:
		return noSuchEntry
	case !m.IsAdd:
		n.outputs.remove(place)
	case i != nil, side != nil:
		return valueExists
	default:
		n.outputs.add(&natInterface{at, natInside | natOutside})
	}
	return ok
}

// natOutputGet is a dump of the newer kind. Without any such interface there is only a reply, and its cursor is 0.
func (v *VPP) natOutputGet(m *nat44_ed.Nat44EdOutputInterfaceGet) []api.Message {
	var out []api.Message
	if v.nat.outputs.len() == 0 {
		return append(out, &nat44_ed.Nat44EdOutputInterfaceGetReply{})
	}
	cursor := m.Cursor
	if cursor == none {
		cursor = 0
	}
	if cursor >= uint32(len(v.nat.outputs.list)) || v.nat.outputs.list[cursor] == nil {
		return append(out, &nat44_ed.Nat44EdOutputInterfaceGetReply{Retval: invalidValue, Cursor: none})
	}
	for _, i := range v.nat.outputs.list[cursor:] {
		if i != nil {
			out = append(out, &nat44_ed.Nat44EdOutputInterfaceDetails{SwIfIndex: index(i.index)})
		}
	}
	return append(out, &nat44_ed.Nat44EdOutputInterfaceGetReply{Cursor: none})
}

// natAddress is one that translated packets get, or twice translated ones.
type natAddress struct {
	addr  addr
	table uint32 // ^0: of every table
}

// natAddresses adds or deletes a range of addresses, up to the first that is refused. A range that ends before it
// begins is empty.
func (v *VPP) natAddresses(m *nat44_ed.Nat44AddDelAddressRange) int32 {
	first, last := addrOfIP4(m.FirstIPAddress), addrOfIP4(m.LastIPAddress)
	if first.hi > last.hi {
		return ok
	}
	for a := first; ; a.hi += 1 << 32 {
		if retval := v.natAddress(a, m); retval != ok || a == last {
			return retval
		}
	}
}

func (v *VPP) natAddress(a addr, m *nat44_ed.Nat44AddDelAddressRange) int32 {
	n := &v.nat
	list := &n.addresses
	if m.Flags&nat_types.NAT_IS_TWICE_NAT != 0 {
		list = &n.twice
	}
	at := -1
	for i := range *list {
		if (*list)[i].addr == a {
			at = i
		}
	}
	switch {
	case m.IsAdd && !n.on:
		return unsupported
	case m.IsAdd && at >= 0:
		return valueExists
	case m.IsAdd:
		v.lockNAT(m.VrfID)
		*list = append(*list, natAddress{a, m.VrfID})
	case at < 0:
		return noSuchEntry
	default:
		v.unlockNAT((*list)[at].table)
		end := len(*list) - 1 // VPP puts the last one in its place
		(*list)[at] = (*list)[end]
		*list = (*list)[:end]
	}
	return ok
}

func (v *VPP) natAddressDump(*nat44_ed.Nat44AddressDump) []api.Message {
	var out []api.Message
	for _, a := range v.nat.addresses {
		out = append(out, a.details(0))
	}
	for _, a := range v.nat.twice {
		out = append(out, a.details(nat_types.NAT_IS_TWICE_NAT))
	}
	return out
}

func (a natAddress) details(flags nat_types.NatConfigFlags) *nat44_ed.Nat44AddressDetails {
	return &nat44_ed.Nat44AddressDetails{IPAddress: ip_types.IP4Address(a.addr.netip(v4).As4()), VrfID: a.table, Flags: flags}
}
