package vppmodel

import (
	"cmp"
	"slices"
)

// pathKind is what a path does with a packet; the order is that of VPP's types where lists are sorted
// (src/vnet/fib/fib_path.c, fib_path_type_t).
type pathKind uint8

const (
	pathNextHop   pathKind = iota + 1 // out of an interface, towards a neighbor
	pathAttached                      // out of an interface, towards the packet's own destination
	pathRecursive                     // look the next hop up in a table
	pathDrop
	pathUnreachable
	pathProhibited
	pathLookup // look the packet up in another table
	pathLocal  // the packet has arrived
)

// path is one way of a route. Its next hop is the embedded address; iface is none where no interface matters.
type path struct {
	addr
	iface, table       uint32
	kind               pathKind
	family             family // of the next hop, whatever the route's
	weight, preference uint8
	// private lists belong to an interface's own entries; VPP does not share them with routes of clients.
	private bool
	// fib is VPP's index of table, by which lists are sorted.
	fib uint16
}

func (p *path) via(index uint32) bool {
	return p.iface == index && (p.kind == pathAttached || p.kind == pathNextHop)
}

// attaches reports whether a route whose last given path this is counts as attached: one with an interface and no next hop
// (fib_route_path_is_attached; src/vnet/fib/fib_entry_src.c, fib_entry_flags_update). Paths that are unreachable or
// prohibited have interface 0 there.
func (p *path) attaches() bool {
	switch p.kind {
	case pathUnreachable, pathProhibited:
		return true
	case pathAttached, pathLocal:
		return p.iface != none && p.isZero()
	case pathNextHop, pathRecursive, pathDrop, pathLookup:
	}
	return false
}

func (p *path) locksTable() bool { return p.kind == pathLookup || p.kind == pathRecursive }

// like reports whether VPP takes two paths for the same one; weight and preference do not count, and neither does what
// a path does that drops or receives (src/vnet/fib/fib_path.c, fib_path_cmp).
func (p path) like(q path) bool {
	p.preference = q.preference
	return p.compare(q) == 0
}

// compareGiven is the order into which VPP brings a request's paths before it makes its own of them
// (fib_route_path_cmp): by next hop, interface as a signed number, and table. Unreachable and prohibited paths have
// interface 0 there, whatever was given, and a host route's paths out of an interface have its address.
func (p path) compareGiven(q path, f family, pfx prefix) int {
	given := func(p path) (a addr, iface int32) {
		a, iface = p.addr, int32(p.iface)
		if p.kind == pathUnreachable || p.kind == pathProhibited {
			iface = 0
		}
		if pfx.bits == f.bits() && a.isZero() && iface != -1 && p.kind != pathLocal {
			a = pfx.addr
		}
		return a, iface
	}
	a, i := given(p)
	b, j := given(q)
	if c := cmp.Or(a.compare(b), cmp.Compare(i, j)); c != 0 || !a.isZero() {
		return c
	}
	return cmp.Compare(p.fib, q.fib)
}

// compare is the order within a list (fib_path_cmp_for_sort). Paths that drop are all equal, and so are those that
// receive: they stay as they came.
func (p path) compare(q path) int {
	c := cmp.Or(cmp.Compare(p.preference, q.preference), cmp.Compare(p.kind.rank(), q.kind.rank()), cmp.Compare(p.family, q.family))
	if c != 0 || p.kind.rank() == pathDrop || p.kind == pathLocal {
		return c
	}
	return cmp.Or(p.addr.compare(q.addr), cmp.Compare(p.iface, q.iface), cmp.Compare(p.fib, q.fib))
}

// rank is VPP's type of path: what drops is one.
func (k pathKind) rank() pathKind {
	if k == pathUnreachable || k == pathProhibited {
		return pathDrop
	}
	return k
}

// pathStore holds lists of paths. Routes with the same paths share one list, as in VPP (src/vnet/fib/fib_path_list.c),
// and for the same reason with the same consequence: a list whose interface was deleted is dead for good, and a new
// route with the same paths joins the dead list for as long as any route still uses it.
type pathStore struct {
	nodes []pathNode // 0 is no list
	free  []uint32
	// single finds lists of one path; multi holds the heads of longer ones, which are few.
	single map[path]uint32
	multi  []uint32
	// on counts the paths via each interface index.
	on      []uint32
	scratch []path
}

type pathNode struct {
	path
	next uint32 // in the same list, 0 at its end
	refs uint32 // of a head
	dead bool   // the interface was deleted under it
}

func (s *pathStore) init() {
	s.nodes = make([]pathNode, 1)
	s.single = make(map[path]uint32)
}

// find returns the list of exactly these paths, 0 where there is none.
func (s *pathStore) find(paths []path) uint32 {
	if len(paths) == 1 {
		return s.single[paths[0]]
	}
	for _, head := range s.multi {
		if s.equal(head, paths) {
			return head
		}
	}
	return 0
}

func (s *pathStore) equal(list uint32, paths []path) bool {
	for _, p := range paths {
		if list == 0 || s.nodes[list].path != p {
			return false
		}
		list = s.nodes[list].next
	}
	return list == 0
}

// add stores a new list and returns its head, with no reference yet.
func (s *pathStore) add(paths []path) uint32 {
	var head uint32
	for _, p := range slices.Backward(paths) {
		i := uint32(len(s.nodes))
		if n := len(s.free); n > 0 {
			i = s.free[n-1]
			s.free = s.free[:n-1]
		} else {
			s.nodes = append(s.nodes, pathNode{})
		}
		s.nodes[i] = pathNode{path: p, next: head}
		s.count(p.iface, 1)
		head = i
	}
	if len(paths) == 1 {
		s.single[paths[0]] = head
	} else {
		s.multi = append(s.multi, head)
	}
	return head
}

func (s *pathStore) count(index uint32, by int) {
	if index == none {
		return
	}
	s.on = grown(s.on, index)
	s.on[index] = uint32(int(s.on[index]) + by)
}

func (s *pathStore) drop(head uint32) {
	if s.nodes[head].next == 0 {
		delete(s.single, s.nodes[head].path)
	} else {
		i := slices.Index(s.multi, head)
		s.multi = slices.Delete(s.multi, i, i+1)
	}
	for i := head; i != 0; {
		n := &s.nodes[i]
		s.count(n.iface, -1)
		s.free = append(s.free, i)
		i, *n = n.next, pathNode{}
	}
}

// working is a list's first path whose interface was not deleted, its first one where all were; alive says which.
func (s *pathStore) working(list uint32) (p *path, alive bool) {
	for i := list; i != 0; i = s.nodes[i].next {
		if !s.nodes[i].dead {
			return &s.nodes[i].path, true
		}
	}
	return &s.nodes[list].path, false
}

// kill marks the paths via a deleted interface.
func (s *pathStore) kill(index uint32) {
	if index >= uint32(len(s.on)) || s.on[index] == 0 {
		return
	}
	for i := range s.nodes {
		if s.nodes[i].via(index) {
			s.nodes[i].dead = true
		}
	}
}

// hold returns the list of these paths with one more reference. A new list locks the tables that it looks packets up
// in.
func (v *VPP) hold(paths []path) uint32 {
	list := v.paths.find(paths)
	if list == 0 {
		list = v.paths.add(paths)
		for i := range paths {
			if p := &paths[i]; p.locksTable() {
				v.tables[p.family][p.table].lookups++
			}
		}
	}
	v.paths.nodes[list].refs++
	return list
}

// holdOne is hold for a list of one path.
func (v *VPP) holdOne(p path) uint32 {
	if list := v.paths.single[p]; list != 0 {
		v.paths.nodes[list].refs++
		return list
	}
	return v.hold([]path{p})
}

// release gives a reference back.
func (v *VPP) release(list uint32) {
	n := &v.paths.nodes[list]
	if n.refs--; n.refs > 0 {
		return
	}
	var locked []path
	for i := list; i != 0; i = v.paths.nodes[i].next {
		if p := v.paths.nodes[i].path; p.locksTable() {
			locked = append(locked, p)
		}
	}
	v.paths.drop(list)
	for _, p := range locked {
		if t := v.tables[p.family][p.table]; t != nil {
			t.lookups--
			v.reap(t)
		}
	}
}

// grown returns s with an element at index.
func grown[T any](s []T, index uint32) []T {
	if n := int(index) + 1; n > len(s) {
		s = append(s, make([]T, n-len(s))...)
	}
	return s
}
