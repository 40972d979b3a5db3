// Package view shows a modelled VPP as fact.VPP: what laws and packet walkers ask.
//
// It decides nothing and holds nothing: every answer comes from the model's live tables at the moment of the question,
// in the order that fact.VPP promises. It never asks what a client wanted. Start at Of.
//
// It is a package of its own so that sim/vppmodel reaches neither scenarios nor, through it, vppwire. A view is valid
// as long as its VPP; a killed VPP still shows what it held. The counterpart that reads dumps of a real VPP is
// lab/internal/probe.
//
// To show more, add a plain value to vppmodel's look files and translate it here.
package view

import (
	"fmt"
	"iter"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/sim/vppmodel"
	"github.com/vppdrill/vppdrill/vppwire"
)

type view struct{ *vppmodel.VPP }

// Of returns a view of v. It costs nothing and may be taken again for every question.
func Of(v *vppmodel.VPP) View { return view{v} }

// View is fact.VPP, one entry of a table by its prefix, and an interface by its device.
type View interface {
	fact.VPP
	RouteTo(table uint32, p netip.Prefix) (fact.Route, bool)
	AFPacket(device string) (index uint32, ok bool)
}

func (v view) Interfaces() iter.Seq[fact.Interface] { return each(v.VPP.Interfaces(), iface) }

func (v view) Interface(index uint32) (fact.Interface, bool) {
	i, found := v.VPP.Interface(index)
	if !found {
		return fact.Interface{}, false
	}
	return iface(i), true
}

func (v view) Route(table uint32, dst netip.Addr) (fact.Route, bool) {
	r, found := v.VPP.Route(table, dst)
	if !found {
		return fact.Route{}, false
	}
	return route(r), true
}

// RouteTo implements removal.VPP.
func (v view) RouteTo(table uint32, p netip.Prefix) (fact.Route, bool) {
	r, found := v.VPP.RouteTo(table, p)
	if !found {
		return fact.Route{}, false
	}
	return route(r), true
}

func (v view) Routes(table uint32) iter.Seq[fact.Route] { return each(v.VPP.Routes(table), route) }

func (v view) Neighbor(index uint32, addr netip.Addr) (vppwire.MAC, bool) {
	m, found := v.VPP.Neighbor(index, addr)
	return m, found
}

func (v view) Neighbors() iter.Seq[fact.Neighbor] {
	return each(v.VPP.Neighbors(), func(n vppmodel.Neighbor) fact.Neighbor {
		return fact.Neighbor{Index: n.Index, Addr: n.Addr, MAC: n.MAC}
	})
}

func (v view) NAT() (fact.NAT, bool) {
	c, on := v.VPP.NAT()
	out := fact.NAT{Forwarding: c.Forwarding, Addrs: c.Addrs, Twice: c.Twice, Bound: c.Bound}
	for _, m := range c.Mappings {
		o := fact.NATMapping{Addr: m.Addr, Port: m.Port, Proto: m.Proto, Identity: m.Identity, Affinity: int64(m.Affinity), Twice: m.Twice, Self: m.Self}
		for _, l := range m.Locals {
			if m.Identity {
				o.Tables = append(o.Tables, l.Table)
			} else {
				o.Locals = append(o.Locals, fact.NATLocal(l))
			}
		}
		for _, l := range m.Kept {
			o.Kept = append(o.Kept, fact.NATLocal(l))
		}
		out.Mappings = append(out.Mappings, o)
	}
	slices.SortFunc(out.Mappings, fact.CompareNATMappings)
	return out, on
}

func (v view) ACLs(index uint32, leaving bool) ([]fact.ACLRule, bool) {
	rules, filtered := v.VPP.ACLs(index, leaving)
	out := make([]fact.ACLRule, len(rules))
	for i, r := range rules {
		out[i] = fact.ACLRule(r)
	}
	return out, filtered
}

func (v view) Admits(index uint32, mac vppwire.MAC, addr netip.Addr) bool {
	return v.VPP.Admits(index, mac, addr)
}

func (v view) STN(addr netip.Addr) (uint32, bool) { return v.Stolen(addr) }

func (v view) Sources(index uint32) iter.Seq[fact.Source] {
	return each(slices.Values(v.Senders(index)), func(s vppmodel.Sender) fact.Source {
		return fact.Source{Addr: s.Addr, MAC: s.MAC}
	})
}

func (v view) Bridge(id uint32) (fact.Bridge, bool) {
	b, found := v.VPP.Bridge(id)
	if !found {
		return fact.Bridge{}, false
	}
	members := make([]fact.BridgeMember, len(b.Members))
	for i, m := range b.Members {
		members[i] = fact.BridgeMember(m)
	}
	return fact.Bridge{ID: b.ID, Learn: b.Learn, Flood: b.Flood, UUFlood: b.UUFlood, Forward: b.Forward, ARPTerm: b.ARPTerm,
		ARPUnknown: b.ARPUnknown, Unknown: b.Unknown, HasUnknown: b.Unknown != none, Members: members}, true
}

func (v view) FIB(bridge uint32, mac vppwire.MAC) (fact.FIBEntry, bool) {
	e, found := v.MAC(bridge, mac)
	return fibEntry(e), found
}

func (v view) FIBs() iter.Seq[fact.FIBEntry] {
	return each(v.MACs(), fibEntry)
}

func fibEntry(e vppmodel.MACEntry) fact.FIBEntry {
	return fact.FIBEntry{Bridge: e.Bridge, MAC: e.MAC, Index: e.Index, BVI: e.BVI, Static: e.Static, Filter: e.Filter}
}

// none is VPP's ~0: no interface.
const none = ^uint32(0)

func iface(i vppmodel.Interface) fact.Interface {
	if i.Member && i.Bridge == 0 {
		i.Bridge = vppmodel.OwnBridge
	}
	return fact.Interface{
		Index: i.Index, Name: i.Name, Tag: i.Tag, Type: kind(i.Kind), Up: i.Up, MAC: i.MAC, MTU: i.MTU, MTU4: i.MTU4, MTU6: i.MTU6, LinkMTU: i.LinkMTU,
		Table4: i.Tables[0], Table6: i.Tables[1], Addrs: i.Addrs, Unnumbered: i.Unnumbered, HasUnnumbered: i.Borrows, Guarded: i.Filtered, Guarded6: i.Filtered6, NAT: fact.NATSides(i.NAT),
		Bridge: i.Bridge, BVI: i.BVI, SHG: i.SHG, Unlisted: i.Unlisted, Host: i.Host, HostNetns: i.HostNetns,
		Src: i.Src, Dst: i.Dst, VNI: i.VNI, EncapTable: i.EncapTable,
	}
}

func kind(k vppmodel.Kind) fact.InterfaceType {
	switch k {
	case vppmodel.KindLocal:
		return fact.TypeLocal
	case vppmodel.KindNIC:
		return fact.TypeNIC
	case vppmodel.KindLoopback:
		return fact.TypeLoopback
	case vppmodel.KindTap:
		return fact.TypeTap
	case vppmodel.KindAFPacket:
		return fact.TypeAFPacket
	case vppmodel.KindVXLAN:
		return fact.TypeVXLAN
	case vppmodel.KindMemif:
		return fact.TypeMemif
	}
	panic(fmt.Sprintf("view: unknown kind %d", k))
}

func route(r vppmodel.Route) fact.Route {
	return fact.Route{Table: r.Table, Prefix: r.Prefix, Action: action(r.Action), Via: r.Via, Index: r.Index,
		Lookup: r.Lookup, API: r.API}
}

func action(a vppmodel.Action) fact.RouteAction {
	switch a {
	case vppmodel.Drop:
		return fact.ActionDrop
	case vppmodel.Forward:
		return fact.ActionForward
	case vppmodel.Local:
		return fact.ActionLocal
	case vppmodel.Lookup:
		return fact.ActionLookup
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
