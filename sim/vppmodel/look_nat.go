package vppmodel

import (
	"net/netip"

	"go.fd.io/govpp/binapi/nat_types"
)

// NAT is the configuration of NAT44-ED. Mappings are in VPP's order, and so are locals.
type NAT struct {
	Forwarding bool
	Addrs      []netip.Addr
	// Bound are addresses for packets of one table alone.
	Bound    []netip.Addr
	Twice    []netip.Addr
	Mappings []NATMapping
}

// NATMapping is one mapping; Port and Proto are 0 for a whole address. Identity mappings have a local without an
// address for each table.
type NATMapping struct {
	Addr        netip.Addr
	Port        uint16
	Proto       uint8
	Identity    bool
	Twice, Self bool
	// Affinity is how many seconds a client keeps its local, 0 for not at all.
	Affinity uint32
	Locals   []NATLocal
	// Kept are locals that are gone and that clients with affinity may be sent to still.
	Kept []NATLocal
}

// NATLocal is one local.
type NATLocal struct {
	Addr   netip.AddrPort
	Table  uint32
	Weight uint8
}

// NAT returns the configuration; false while the plugin is off.
func (v *VPP) NAT() (NAT, bool) {
	n := &v.nat
	if !n.on {
		return NAT{}, false
	}
	out := NAT{Forwarding: n.forwarding}
	for _, a := range n.addresses {
		if a.table == none {
			out.Addrs = append(out.Addrs, a.addr.netip(v4))
		} else {
			out.Bound = append(out.Bound, a.addr.netip(v4))
		}
	}
	for _, a := range n.twice {
		out.Twice = append(out.Twice, a.addr.netip(v4))
	}
	for _, m := range n.mappings {
		if m == nil {
			continue
		}
		o := NATMapping{Addr: m.addr.netip(v4), Port: m.port, Proto: m.proto, Identity: m.identity,
			Affinity: m.affinity, Twice: m.flags&nat_types.NAT_IS_TWICE_NAT != 0, Self: m.flags&nat_types.NAT_IS_SELF_TWICE_NAT != 0}
		for _, l := range m.locals {
			if l != nil {
				o.Locals = append(o.Locals, NATLocal{netip.AddrPortFrom(l.addr.netip(v4), l.port), l.table, l.weight})
			}
		}
		for _, l := range m.kept {
			o.Kept = append(o.Kept, NATLocal{netip.AddrPortFrom(l.addr.netip(v4), l.port), l.table, l.weight})
		}
		out.Mappings = append(out.Mappings, o)
	}
	return out, true
}

// sidesOf is Interface.NAT.
func (n *nat) sidesOf(index uint32) uint8 {
	if i, _ := n.interfaces.find(index); i != nil {
		return uint8(i.sides)
	}
	if n.isOutput(index) {
		return natOutputBit
	}
	return 0
}

// natOutputBit follows those of natSides.
const natOutputBit = 4
