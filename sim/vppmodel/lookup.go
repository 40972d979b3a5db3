package vppmodel

// route is what forwarding does with an address: the entry of the longest match, reduced to one path.
type route struct {
	prefix prefix
	source source
	path   path
	// dropped reports that the path's interface was deleted: the entry is there, and drops.
	dropped bool
}

// lookup is the longest match of a table. Every table has a default route, so there always is one.
func (v *VPP) lookup(t *table, a addr) route {
	for i, n := range t.lengths {
		p := prefix{a.mask(n), n}
		e, ok := t.get(p)
		if !ok {
			continue
		}
		if e.source != sourceAdjacency {
			return v.resolve(t.family, p, e)
		}
		if e, ok := v.adjacency(t, p, e, t.lengths[i+1:]); ok {
			return v.resolve(t.family, p, e)
		}
	}
	panic("vppmodel: table without default route")
}

// adjacency picks the neighbor that may attract traffic for its own address: only one whose interface also has the
// covering subnet, or borrows the address of the interface that has it (src/vnet/fib/fib_entry_src_adj.c). shorter
// holds the table's lengths below the entry's.
func (v *VPP) adjacency(t *table, p prefix, e entry, shorter []uint8) (entry, bool) {
	cover, ok := v.coverInterface(t, p, shorter)
	if !ok {
		return entry{}, false
	}
	if v.refines(e.paths, cover) {
		return e, true
	}
	for _, e := range t.others[p] {
		if e.source == sourceAdjacency && v.refines(e.paths, cover) {
			return e, true
		}
	}
	return entry{}, false
}

// coverInterface is the interface that the next shorter entry leads to, where that one is attached.
func (v *VPP) coverInterface(t *table, p prefix, shorter []uint8) (uint32, bool) {
	for _, n := range shorter {
		if e, ok := t.get(prefix{p.addr.mask(n), n}); ok {
			return v.resolving(e.paths), e.attached
		}
	}
	return 0, false
}

// resolving is the interface of a list's first path that leads to one (fib_path_list_get_resolving_interface), none where
// no path does.
func (v *VPP) resolving(list uint32) uint32 {
	for i := list; i != 0; i = v.paths.nodes[i].next {
		p := &v.paths.nodes[i].path
		if p.kind == pathRecursive {
			if at := v.leadsTo(route{path: *p}); at != none {
				return at
			}
		} else if p.iface != none {
			return p.iface
		}
	}
	return none
}

func (v *VPP) refines(index, cover uint32) bool {
	if index == cover {
		return true
	}
	i := v.at(index)
	return i != nil && i.borrows && i.donor == cover
}

// resolve reduces an entry to one path.
func (v *VPP) resolve(f family, p prefix, e entry) route {
	r := route{prefix: p, source: e.source}
	if e.source == sourceAdjacency {
		r.path = path{addr: p.addr, iface: e.paths, kind: pathNextHop, family: f, weight: 1}
		r.dropped = e.dead
		return r
	}
	q, alive := v.paths.working(e.paths)
	r.path, r.dropped = *q, !alive
	return r
}
