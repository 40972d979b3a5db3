package vppmodel

import (
	"maps"
	"slices"
	"strconv"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/ip"
)

var dropPath = path{kind: pathDrop, iface: none, private: true, weight: 1}

// addTable makes a table with the entries that every one has (src/vnet/fib/ip4_fib.c and ip6_fib.c).
func (v *VPP) addTable(f family, id uint32, name string) *table {
	if name == "" {
		name = f.String() + "-VRF:" + strconv.FormatUint(uint64(id), 10)
	}
	t := newTable(f, id, name)
	t.at = v.places[f].get()
	v.tables[f][id] = t
	if f == v4 {
		v.placed = grown(v.placed, t.at)
		v.placed[t.at] = id
	}
	special := func(p prefix, s source, kind pathKind) {
		t.put(p, entry{source: s, paths: v.holdOne(path{kind: kind, iface: none, family: f, private: true, weight: 1})})
	}
	special(prefix{}, sourceDefault, pathDrop)
	if f == v6 {
		special(prefix{addr{hi: 0xfe80 << 48}, 10}, sourceSpecial, pathLocal)
		return t
	}
	special(prefix{bits: 32}, sourceDefault, pathDrop)
	special(prefix{addr{hi: 0xe0 << 56}, 4}, sourceSpecial, pathDrop)
	special(prefix{addr{hi: 0xf0 << 56}, 4}, sourceSpecial, pathDrop)
	special(prefix{addr{hi: 0xffffffff << 32}, 32}, sourceDefault, pathDrop)
	return t
}

// reap destroys a table that nothing locks any more, with whatever routes it still has.
func (v *VPP) reap(t *table) {
	if t.id == 0 || t.api || t.bound > 0 || t.adjacent > 0 || t.lookups > 0 || t.nat > 0 || v.tables[t.family][t.id] != t {
		return
	}
	delete(v.tables[t.family], t.id)
	v.places[t.family].put(t.at)
	for _, p := range t.prefixes(nil) {
		e, _ := t.get(p)
		for _, e := range append([]entry{e}, t.others[p]...) {
			if e.source != sourceAdjacency {
				v.release(e.paths)
			}
		}
	}
}

func (v *VPP) tableV2(m *ip.IPTableAddDelV2) int32 { return v.tableAddDel(m.IsAdd, &m.Table) }

func (v *VPP) tableV1(m *ip.IPTableAddDel) int32 { return v.tableAddDel(m.IsAdd, &m.Table) }

// tableAddDel: adding twice is fine, one delete undoes all adds, a table that is missing is deleted with success, and
// table 0 is ignored. Routes stay while anything else locks the table (src/vnet/ip/ip_api.c, ip_table_create and
// _delete).
func (v *VPP) tableAddDel(isAdd bool, m *ip.IPTable) int32 {
	if m.TableID == 0 {
		return ok
	}
	f := familyOf(m.IsIP6)
	t := v.tables[f][m.TableID]
	switch {
	case isAdd && t == nil:
		v.addTable(f, m.TableID, truncate(m.Name, 63)).api = true
	case isAdd:
		t.api = true
	case t != nil:
		t.api = false
		v.reap(t)
	}
	return ok
}

// tableFlush takes the clients' routes away and, as VPP does, every interface of the table down.
func (v *VPP) tableFlush(m *ip.IPTableFlush) int32 {
	f := familyOf(m.Table.IsIP6)
	t := v.tables[f][m.Table.TableID]
	if t == nil {
		return noSuchFIB
	}
	for _, i := range v.ifaces {
		if i != nil && i.tables[f] == m.Table.TableID {
			v.setUp(i, false)
		}
	}
	for _, p := range t.prefixes(nil) {
		if e, found := t.remove(p, sourceAPI, 0); found {
			v.release(e.paths)
		}
	}
	return ok
}

func (v *VPP) tableDump(*ip.IPTableDump) []api.Message {
	var out []api.Message
	for _, f := range families {
		for _, id := range slices.Sorted(maps.Keys(v.tables[f])) {
			out = append(out, &ip.IPTableDetails{Table: ip.IPTable{TableID: id, IsIP6: f == v6, Name: v.tables[f][id].name}})
		}
	}
	return out
}

// truncate cuts a string to what a fixed field of a message holds.
func truncate(s string, n int) string {
	if len(s) > n {
		return s[:n]
	}
	return s
}

// tableCrash: tables that go before what uses them.
func (v *VPP) tableCrash(m *ip.IPTableAddDelV2) CrashTrigger {
	f := familyOf(m.Table.IsIP6)
	t := v.tables[f][m.Table.TableID]
	if t == nil || t.id == 0 || m.IsAdd {
		return ""
	}
	for _, i := range v.ifaces {
		if i == nil {
			continue
		}
		if d, is := i.device.(*vxlanTunnel); is && d.family == f && d.encap == t.id {
			return CrashTableOfTunnel
		}
		if i.tables[f] == t.id {
			return CrashTableInUse
		}
	}
	if len(t.prefixes(func(e entry) bool { return e.source.isClient() })) > 0 {
		return CrashTableWithRoutes
	}
	return ""
}

// flushCrash: a table with a route that has lost an interface.
func (v *VPP) flushCrash(m *ip.IPTableFlush) CrashTrigger {
	if t := v.tables[familyOf(m.Table.IsIP6)][m.Table.TableID]; t != nil && v.hasDead(t) {
		return CrashDeadFlushed
	}
	return ""
}

// hasDead reports whether a client's route of a table has lost an interface.
func (v *VPP) hasDead(t *table) bool {
	return len(t.prefixes(func(e entry) bool {
		if !e.source.isClient() {
			return false
		}
		_, alive := v.paths.working(e.paths)
		return !alive
	})) > 0
}
