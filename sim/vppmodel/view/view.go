// Package view shows a modelled VPP as scenarios.VPP: what laws and packet walkers ask.
//
// It decides nothing and holds nothing: every answer comes from the model's live tables at the moment of the question, in
// the order that scenarios.VPP promises. It never asks what a client wanted. Start at Of.
//
// It is a package of its own so that sim/vppmodel reaches neither scenarios nor, through it, vppwire. A view is valid as
// long as its VPP; a killed VPP still shows what it held. The counterpart that reads dumps of a real VPP is lab/probe.
//
// To show more, add a plain value to vppmodel's look files and translate it here.
package view

import (
	"fmt"
	"iter"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/sim/vppmodel"
	"github.com/vppdrill/vppdrill/vppwire"
)

type view struct{ *vppmodel.VPP }

// Of returns a view of v. It costs nothing and may be taken anew for every question.
func Of(v *vppmodel.VPP) View { return view{v} }

// View is scenarios.VPP, one entry of a table by its prefix, and an interface by its device.
type View interface {
	scenarios.VPP
	RouteTo(table uint32, p netip.Prefix) (scenarios.Route, bool)
	AFPacket(device string) (index uint32, ok bool)
}

func (v view) Interfaces() iter.Seq[scenarios.Interface] { return each(v.VPP.Interfaces(), iface) }

func (v view) Interface(index uint32) (scenarios.Interface, bool) {
	i, found := v.VPP.Interface(index)
	if !found {
		return scenarios.Interface{}, false
	}
	return iface(i), true
}

func (v view) Route(table uint32, dst netip.Addr) (scenarios.Route, bool) {
	r, found := v.VPP.Route(table, dst)
	if !found {
		return scenarios.Route{}, false
	}
	return route(r), true
}

// RouteTo implements removal.VPP.
func (v view) RouteTo(table uint32, p netip.Prefix) (scenarios.Route, bool) {
	r, found := v.VPP.RouteTo(table, p)
	if !found {
		return scenarios.Route{}, false
	}
	return route(r), true
}

func (v view) Routes(table uint32) iter.Seq[scenarios.Route] { return each(v.VPP.Routes(table), route) }

func (v view) Neighbor(index uint32, addr netip.Addr) (vppwire.MAC, bool) {
	m, found := v.VPP.Neighbor(index, addr)
	return m, found
}

func (v view) Neighbors() iter.Seq[scenarios.Neighbor] {
	return each(v.VPP.Neighbors(), func(n vppmodel.Neighbor) scenarios.Neighbor {
		return scenarios.Neighbor{Index: n.Index, Addr: n.Addr, MAC: n.MAC}
	})
}

func (v view) NAT() (scenarios.NAT, bool) {
	c, on := v.VPP.NAT()
	out := scenarios.NAT{Forwarding: c.Forwarding, Addrs: c.Addrs, Twice: c.Twice, Bound: c.Bound}
	for _, m := range c.Mappings {
		o := scenarios.NATMapping{Addr: m.Addr, Port: m.Port, Proto: m.Proto, Identity: m.Identity, Twice: m.Twice, Self: m.Self}
		for _, l := range m.Locals {
			if m.Identity {
				o.Tables = append(o.Tables, l.Table)
			} else {
				o.Locals = append(o.Locals, scenarios.NATLocal(l))
			}
		}
		for _, l := range m.Kept {
			o.Kept = append(o.Kept, scenarios.NATLocal(l))
		}
		out.Mappings = append(out.Mappings, o)
	}
	slices.SortFunc(out.Mappings, scenarios.CompareNATMappings)
	return out, on
}

func (v view) Admits(index uint32, mac vppwire.MAC, addr netip.Addr) bool {
	return v.VPP.Admits(index, mac, addr)
}

func (v view) Sources(index uint32) iter.Seq[scenarios.Source] {
	return each(slices.Values(v.Senders(index)), func(s vppmodel.Sender) scenarios.Source {
		return scenarios.Source{Addr: s.Addr, MAC: s.MAC}
	})
}

func (v view) Bridge(id uint32) (scenarios.Bridge, bool) {
	b, found := v.VPP.Bridge(id)
	if !found {
		return scenarios.Bridge{}, false
	}
	members := make([]scenarios.BridgeMember, len(b.Members))
	for i, m := range b.Members {
		members[i] = scenarios.BridgeMember(m)
	}
	return scenarios.Bridge{ID: b.ID, Learn: b.Learn, Flood: b.Flood, UUFlood: b.UUFlood, Forward: b.Forward, ARPTerm: b.ARPTerm,
		ARPUnknown: b.ARPUnknown, Unknown: b.Unknown, HasUnknown: b.Unknown != none, Members: members}, true
}

func (v view) FIB(bridge uint32, mac vppwire.MAC) (scenarios.FIBEntry, bool) {
	e, found := v.MAC(bridge, mac)
	return fibEntry(e), found
}

func (v view) FIBs() iter.Seq[scenarios.FIBEntry] {
	return each(v.MACs(), fibEntry)
}

func fibEntry(e vppmodel.MACEntry) scenarios.FIBEntry {
	return scenarios.FIBEntry{Bridge: e.Bridge, MAC: e.MAC, Index: e.Index, BVI: e.BVI, Static: e.Static, Filter: e.Filter}
}

// none is VPP's ~0: no interface.
const none = ^uint32(0)

func iface(i vppmodel.Interface) scenarios.Interface {
	if i.Member && i.Bridge == 0 {
		i.Bridge = vppmodel.OwnBridge
	}
	return scenarios.Interface{
		Index: i.Index, Name: i.Name, Tag: i.Tag, Type: kind(i.Kind), Up: i.Up, MAC: i.MAC, MTU: i.MTU, MTU4: i.MTU4, MTU6: i.MTU6, LinkMTU: i.LinkMTU,
		Table4: i.Tables[0], Table6: i.Tables[1], Addrs: i.Addrs, Unnumbered: i.Unnumbered, HasUnnumbered: i.Borrows, Guarded: i.Filtered, Guarded6: i.Filtered6, NAT: scenarios.NATSides(i.NAT),
		Bridge: i.Bridge, BVI: i.BVI, SHG: i.SHG, Unlisted: i.Unlisted, Host: i.Host, HostNetns: i.HostNetns,
		Src: i.Src, Dst: i.Dst, VNI: i.VNI, EncapTable: i.EncapTable,
	}
}

func kind(k vppmodel.Kind) scenarios.InterfaceType {
	switch k {
	case vppmodel.KindLocal:
		return scenarios.TypeLocal
	case vppmodel.KindNIC:
		return scenarios.TypeNIC
	case vppmodel.KindLoopback:
		return scenarios.TypeLoopback
	case vppmodel.KindTap:
		return scenarios.TypeTap
	case vppmodel.KindAFPacket:
		return scenarios.TypeAFPacket
	case vppmodel.KindVXLAN:
		return scenarios.TypeVXLAN
	}
	panic(fmt.Sprintf("view: unknown kind %d", k))
}

func route(r vppmodel.Route) scenarios.Route {
	return scenarios.Route{Table: r.Table, Prefix: r.Prefix, Action: action(r.Action), Via: r.Via, Index: r.Index,
		Lookup: r.Lookup, API: r.API}
}

func action(a vppmodel.Action) scenarios.RouteAction {
	switch a {
	case vppmodel.Drop:
		return scenarios.ActionDrop
	case vppmodel.Forward:
		return scenarios.ActionForward
	case vppmodel.Local:
		return scenarios.ActionLocal
	case vppmodel.Lookup:
		return scenarios.ActionLookup
	}
	panic(fmt.Sprintf("view: unknown action %d", a))
}

func each[A, B any](seq iter.Seq[A], f func(A) B) iter.Seq[B] {
	return func(yield func(B) bool) {
		for a := range seq {
			if !yield(f(a)) {
				return
			}
		}
	}
}
