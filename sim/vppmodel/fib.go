package vppmodel

import (
	"maps"
	"slices"
)

// source is the kind of client that added an entry; the smaller one wins. Numbers are those of VPP's fib_source_t
// (src/vnet/fib/fib_source.h), which clients see in ip_route_v2 messages; their order is also that of VPP's priorities.
type source uint8

const (
	sourceSpecial   source = 1
	sourceInterface source = 4
	sourceAPI       source = 8
	sourceDHCP      source = 12
	sourceAdjacency source = 15
	sourceDefault   source = 20
)

var sourceNames = map[source]string{
	sourceSpecial: "special", sourceInterface: "interface", sourceAPI: "api", 9: "cli", sourceDHCP: "dhcp",
	sourceAdjacency: "adjacency", sourceDefault: "default-route",
}

// entry is one source's word on a prefix. paths is a list of the pathStore, except for an adjacency: there it is the
// interface, because the next hop is the prefix itself and VPP does not share those lists.
type entry struct {
	paths  uint32
	source source
	dead   bool // an adjacency with a deleted interface
	// attached: neighbors on the interface that the entry leads to may refine it (FIB_ENTRY_FLAG_ATTACHED).
	attached bool
}

// same reports whether b replaces a: an adjacency is one entry per interface, any other source one entry.
func (a entry) same(b entry) bool {
	return a.source == b.source && (a.source != sourceAdjacency || a.paths == b.paths)
}

// table is one FIB (VRF) of one family: a hash per prefix length, in compact keys. Contiv-like plans use five to eight
// lengths, so a longest match is that many probes and an IPv4 route one slot of 16 bytes beside its share of a path
// list.
type table struct {
	family family
	id     uint32
	at     uint32 // VPP's index of it
	name   string
	// api is the clients' one lock. bound counts interfaces, adjacent neighbors, lookups path lists, nat what NAT44 names
	// it for: they lock it too.
	api                           bool
	bound, adjacent, lookups, nat int

	four map[uint64]entry // address<<32 | length
	six  map[prefix]entry
	// others holds the entries that lose against the one above, best first.
	others map[prefix][]entry
	// names holds the addresses under which prefixes are shown that were first added with more than their own bits: VPP
	// keeps them so until the prefix is gone.
	names   map[prefix]addr
	lengths []uint8 // in use, longest first
	counts  []uint32
}

func newTable(f family, id uint32, name string) *table {
	t := &table{family: f, id: id, name: name, others: make(map[prefix][]entry), counts: make([]uint32, int(f.bits())+1)}
	if f == v4 {
		t.four = make(map[uint64]entry)
	} else {
		t.six = make(map[prefix]entry)
	}
	return t
}

// get is the winning entry of exactly this prefix.
func (t *table) get(p prefix) (entry, bool) {
	if t.family == v4 {
		e, ok := t.four[p.hi|uint64(p.bits)]
		return e, ok
	}
	e, ok := t.six[p]
	return e, ok
}

func (t *table) store(p prefix, e entry) {
	if t.family == v4 {
		t.four[p.hi|uint64(p.bits)] = e
	} else {
		t.six[p] = e
	}
}

// sourced is the entry of one source, the first one of several adjacencies.
func (t *table) sourced(p prefix, s source) (entry, bool) {
	e, ok := t.get(p)
	if !ok || e.source == s {
		return e, ok
	}
	for _, e := range t.others[p] {
		if e.source == s {
			return e, true
		}
	}
	return entry{}, false
}

// put adds an entry, or replaces and returns the one that is the same.
func (t *table) put(p prefix, e entry) (old entry, replaced bool) {
	best, ok := t.get(p)
	switch {
	case !ok:
		t.store(p, e)
		if t.counts[p.bits]++; t.counts[p.bits] == 1 {
			i, _ := slices.BinarySearchFunc(t.lengths, p.bits, func(a, b uint8) int { return int(b) - int(a) })
			t.lengths = slices.Insert(t.lengths, i, p.bits)
		}
		return entry{}, false
	case best.same(e):
		t.store(p, e)
		return best, true
	case e.source < best.source:
		t.store(p, e)
		t.others[p] = slices.Insert(t.others[p], 0, best)
		return entry{}, false
	}
	others := t.others[p]
	i := 0
	for ; i < len(others) && others[i].source <= e.source; i++ {
		if others[i].same(e) {
			old, others[i] = others[i], e
			return old, true
		}
	}
	t.others[p] = slices.Insert(others, i, e)
	return entry{}, false
}

// remove takes an entry away; for an adjacency iface says which.
func (t *table) remove(p prefix, s source, iface uint32) (old entry, found bool) {
	gone := entry{source: s, paths: iface}
	best, ok := t.get(p)
	if !ok {
		return entry{}, false
	}
	others := t.others[p]
	if !best.same(gone) {
		i := slices.IndexFunc(others, gone.same)
		if i < 0 {
			return entry{}, false
		}
		old = others[i]
		t.setOthers(p, slices.Delete(others, i, i+1))
		return old, true
	}
	if len(others) > 0 {
		t.store(p, others[0])
		t.setOthers(p, slices.Delete(others, 0, 1))
		return best, true
	}
	delete(t.names, p)
	if t.family == v4 {
		delete(t.four, p.hi|uint64(p.bits))
	} else {
		delete(t.six, p)
	}
	if t.counts[p.bits]--; t.counts[p.bits] == 0 {
		i := slices.Index(t.lengths, p.bits)
		t.lengths = slices.Delete(t.lengths, i, i+1)
	}
	return best, true
}

func (t *table) setOthers(p prefix, others []entry) {
	if len(others) == 0 {
		delete(t.others, p)
	} else {
		t.others[p] = others
	}
}

// shown is a prefix as dumps have it.
func (t *table) shown(p prefix) prefix {
	if a, named := t.names[p]; named {
		p.addr = a
	}
	return p
}

// size is the number of prefixes.
func (t *table) size() int { return len(t.four) + len(t.six) }

// prefixes returns those for which keep is true of the winning entry, in ascending order; a nil keep keeps all.
func (t *table) prefixes(keep func(entry) bool) []prefix {
	ps := make([]prefix, 0, t.size())
	if t.family == v4 {
		for k, e := range t.four {
			if keep == nil || keep(e) {
				ps = append(ps, prefix{addr: addr{hi: k &^ 0xffffffff}, bits: uint8(k)})
			}
		}
	} else {
		for p, e := range maps.All(t.six) {
			if keep == nil || keep(e) {
				ps = append(ps, p)
			}
		}
	}
	slices.SortFunc(ps, prefix.compare)
	return ps
}
