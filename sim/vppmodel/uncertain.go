package vppmodel

import (
	"iter"
	"net/netip"
)

// A packet's path also depends on state beside the tables that Route, Bridge and MAC show: VPP's memory of their
// history, and where it may differ from them. It is for comparisons with a real VPP (scenarios/walk, Policy).

// Resolved reports whether VPP keeps a host entry for an address of a table because something resolves through it: a
// tunnel's far end, or a recursive next hop.
func (v *VPP) Resolved(table uint32, to netip.Addr) bool {
	f, a := addrOfNetip(to)
	for _, i := range v.ifaces {
		if i == nil {
			continue
		}
		if d, is := i.device.(*vxlanTunnel); is && d.family == f && d.encap == table && d.dst == a {
			return true
		}
	}
	for n := range v.paths.nodes {
		if p := &v.paths.nodes[n].path; p.kind == pathRecursive && p.family == f && p.addr == a {
			return true // whatever its table: it is one that leads here, or one whose entry does not matter
		}
	}
	return false
}

// Unflooded reports whether nothing is flooded to an interface although a bridge domain lists it: it was a BVI once.
func (v *VPP) Unflooded(at uint32) bool { return v.unflooded[at] }

// Doubtful reports whether VPP may differ from its table for an address. With several paths it balances. A path with a
// deleted interface comes to life again at times, when another interface has its index. A neighbor may attract its
// traffic although its subnet is routed by a next hop behind the same interface, where only the neighbor changed since
// (src/vnet/fib/fib_entry_src_adj.c: fib_entry_src_adj_activate asks for an attached cover,
// fib_entry_src_adj_reactivate does not).
//
// hop: the address is a recursive next hop or a tunnel's far end. VPP keeps a host entry for those. Where a neighbor
// has one that attracts no traffic, VPP takes that one and sends nothing, or takes the route behind it, depending on
// their order.
func (v *VPP) Doubtful(table uint32, to netip.Addr, hop bool) bool {
	f, a := addrOfNetip(to)
	t := v.tables[f][table]
	if t == nil {
		return false
	}
	r := v.lookup(t, a)
	unused := v.unused(t, a, r)
	if r.dropped && v.at(r.path.iface) != nil || hop && unused {
		return true
	}
	if e, _ := t.get(r.prefix); e.source != sourceAdjacency && v.paths.nodes[e.paths].next != 0 {
		return true
	}
	if !unused {
		return v.ambiguous(t, a)
	}
	host, out := prefix{a, f.bits()}, v.leadsTo(r)
	e, _ := t.get(host)
	for _, e := range append([]entry{e}, t.others[host]...) {
		if v.refines(e.paths, out) {
			return true
		}
	}
	return false
}

// ambiguous reports whether an address is that of neighbors on two interfaces which both have its subnet, as one borrows the other's
// address: VPP balances between them.
func (v *VPP) ambiguous(t *table, a addr) bool {
	host := prefix{a, t.family.bits()}
	e, there := t.get(host)
	if !there || len(t.others[host]) == 0 {
		return false
	}
	cover, _ := v.coverInterface(t, host, t.lengths[1:])
	able := 0
	for _, e := range append([]entry{e}, t.others[host]...) {
		if e.source == sourceAdjacency && v.refines(e.paths, cover) {
			able++
		}
	}
	return able > 1
}

// unused reports whether a neighbor has the address and attracts no traffic, because its subnet is not its interface's.
func (v *VPP) unused(t *table, a addr, r route) bool {
	host := prefix{a, t.family.bits()}
	_, there := t.get(host)
	return there && r.prefix != host
}

// recursionsMax is more than any chain of recursive routes has.
const recursionsMax = 64

// NextHop is the interface that packets for an address of a table leave by, and the address that VPP asks for there; none, and no
// address, where they leave by none.
func (v *VPP) NextHop(table uint32, to netip.Addr) (index uint32, hop netip.Addr) {
	f, a := addrOfNetip(to)
	t := v.tables[f][table]
	if t == nil {
		return none, netip.Addr{}
	}
	r, f, a := v.resolved(v.lookup(t, a), f, a)
	switch r.path.kind {
	case pathNextHop:
		return r.path.iface, r.path.addr.netip(r.path.family)
	case pathAttached:
		return r.path.iface, a.netip(f)
	}
	return none, netip.Addr{}
}

// leadsTo is the interface that a route leads to in the end, none where it leads to none.
func (v *VPP) leadsTo(r route) uint32 {
	if r, _, _ = v.resolved(r, 0, addr{}); r.path.kind == pathRecursive {
		return none
	}
	return r.path.iface
}

// resolved is the route of an address that a recursive one comes to in the end, and the address that it is looked up for there.
func (v *VPP) resolved(r route, f family, a addr) (route, family, addr) {
	for range recursionsMax {
		if r.path.kind != pathRecursive {
			break
		}
		f, a = r.path.family, r.path.addr
		r = v.lookup(v.tables[f][r.path.table], a)
	}
	return r, f, a
}

// Refining yields the neighbors of all interfaces, in order, and whether what covers each one leads to its interface, so
// that it may attract its traffic. VPP asks that when the neighbor's entry or its cover comes, and not when the interface
// borrows other addresses or the cover's own next hop leads elsewhere.
func (v *VPP) Refining() iter.Seq2[Neighbor, bool] {
	return func(yield func(Neighbor, bool) bool) {
		for _, k := range v.neighborKeys(func(neighborKey, neighbor) bool { return true }) {
			t, host := v.tableOf(k.index, k.family), prefix{k.addr, k.family.bits()}
			refines := false
			if _, there := t.get(host); there {
				cover, _ := v.coverInterface(t, host, t.lengths[1:])
				refines = v.refines(k.index, cover)
			}
			if !yield(Neighbor{k.index, k.addr.netip(k.family), v.neighbors[k].mac}, refines) {
				return
			}
		}
	}
}
