package vppmodel

import (
	"iter"
	"maps"
	"net/netip"
	"slices"
)

// Action is what a route does with a packet. The zero Action is invalid.
type Action uint8

// What a route does.
const (
	Drop Action = iota + 1
	Forward
	Local
	Lookup
)

// Route is an entry reduced to one path, the first that works.
type Route struct {
	Table  uint32
	Prefix netip.Prefix
	Action Action
	// Via is the next hop of Forward; the zero Addr is an attached route.
	Via netip.Addr
	// Index is the interface of Forward and Local, ^0 for a recursive next hop and where no interface matters.
	Index uint32
	// Lookup is the table of Lookup, and the one that a recursive next hop is looked up in.
	Lookup uint32
	// API reports whether a client's route won: source API, CLI or DHCP.
	API bool
}

// Route is the longest match in a table of dst's family; false where there is no such table. A route whose interface
// was deleted is a Drop.
func (v *VPP) Route(table uint32, dst netip.Addr) (Route, bool) {
	f, a := addrOfNetip(dst)
	t := v.tables[f][table]
	if t == nil {
		return Route{}, false
	}
	return v.lookup(t, a).look(t), true
}

// Routes yields the entries of a table that a client's source won, IPv4 first, in ascending prefix order, as
// configured: a path whose interface was deleted still names it, as in dumps.
func (v *VPP) Routes(table uint32) iter.Seq[Route] {
	return func(yield func(Route) bool) {
		for _, f := range families {
			t := v.tables[f][table]
			if t == nil {
				continue
			}
			for _, p := range t.prefixes(func(e entry) bool { return e.source.isClient() }) {
				e, _ := t.get(p)
				r := v.resolve(f, p, e)
				r.dropped = false
				if !yield(r.look(t)) {
					return
				}
			}
		}
	}
}

func (s source) isClient() bool { return s >= sourceAPI && s <= sourceDHCP }

func (r route) look(t *table) Route {
	p := &r.path
	o := Route{Table: t.id, Prefix: r.prefix.netip(t.family), Index: p.iface, API: r.source.isClient()}
	switch {
	case r.dropped:
		o.Action, o.Index = Drop, none
	case p.kind == pathLocal:
		o.Action = Local
	case p.kind == pathLookup:
		o.Action, o.Lookup = Lookup, p.table
	case p.kind == pathAttached:
		o.Action = Forward
	case p.kind == pathNextHop:
		o.Action, o.Via = Forward, p.addr.netip(p.family)
	case p.kind == pathRecursive:
		o.Action, o.Via, o.Lookup = Forward, p.addr.netip(p.family), p.table
	default:
		o.Action = Drop
	}
	return o
}

// Tables yields table IDs in ascending order; one that exists for either family counts.
func (v *VPP) Tables() iter.Seq[uint32] {
	ids := slices.AppendSeq(slices.Collect(maps.Keys(v.tables[v4])), maps.Keys(v.tables[v6]))
	slices.Sort(ids)
	return slices.Values(slices.Compact(ids))
}

// Neighbor is one static neighbor.
type Neighbor struct {
	Index uint32
	Addr  netip.Addr
	MAC   [6]byte
}

// Neighbor finds the MAC of an address on an interface, static or not.
func (v *VPP) Neighbor(at uint32, a netip.Addr) ([6]byte, bool) {
	f, b := addrOfNetip(a)
	n, found := v.neighbors[neighborKey{b, at, f}]
	return n.mac, found
}

// Neighbors yields static neighbors in ascending (index, address) order, IPv4 before IPv6, those on dead indices
// included.
func (v *VPP) Neighbors() iter.Seq[Neighbor] {
	return func(yield func(Neighbor) bool) {
		for _, k := range v.neighborKeys(func(_ neighborKey, n neighbor) bool { return n.static }) {
			if !yield(Neighbor{k.index, k.addr.netip(k.family), v.neighbors[k].mac}) {
				return
			}
		}
	}
}

// RouteTo is the route that a client's API source holds to exactly p in a table, whether or not it won.
func (v *VPP) RouteTo(table uint32, p netip.Prefix) (Route, bool) {
	f, a := addrOfNetip(p.Addr())
	t := v.tables[f][table]
	if t == nil {
		return Route{}, false
	}
	k := prefix{a.mask(uint8(p.Bits())), uint8(p.Bits())}
	e, ok := t.sourced(k, sourceAPI)
	if !ok {
		return Route{}, false
	}
	r := v.resolve(f, k, e)
	r.dropped = false
	return r.look(t), true
}

// HostEntry says what any table holds for exactly one address by a client's doing: a route to it, a neighbor, or an
// interface's own. A route to another table, or by another next hop, is none: it leads where a block is that has only
// this address.
func (v *VPP) HostEntry(a netip.Addr) (what string, found bool) {
	f, x := addrOfNetip(a)
	p := prefix{x, f.bits()}
	least := none
	for id, t := range v.tables[f] { //vppdrill:unordered the least table is told
		e, ok := t.get(p)
		if !ok || id >= least || e.source == sourceDefault || e.source == sourceSpecial || v.elsewhere(e, x) {
			continue
		}
		least = id
		switch e.source {
		case sourceAdjacency:
			what = "neighbor in table " + t.name
		case sourceInterface:
			what = "interface address in table " + t.name
		default:
			what = "route in table " + t.name
		}
	}
	return what, least != none
}

// elsewhere reports whether a client's route leads to another table, or to next hops that are not its own address.
func (v *VPP) elsewhere(e entry, x addr) bool {
	switch e.source {
	case sourceAdjacency, sourceInterface:
		return false
	}
	for i := e.paths; i != 0; i = v.paths.nodes[i].next {
		p := &v.paths.nodes[i].path
		if p.kind != pathLookup && p.kind != pathRecursive && (p.kind != pathNextHop || p.addr == x) {
			return false
		}
	}
	return e.paths != 0
}
