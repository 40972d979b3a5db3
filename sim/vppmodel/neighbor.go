package vppmodel

import (
	"cmp"
	"slices"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/ethernet_types"
	"go.fd.io/govpp/binapi/ip_neighbor"
	"go.fd.io/govpp/binapi/ip_types"
)

// neighborLimitDefault is VPP's default number of neighbors of a family (src/vnet/ip-neighbor/ip_neighbor.c,
// ipndb_limit).
const neighborLimitDefault = 50000

// neighborLimit is one family's ip_neighbor_config and how many entries there are.
type neighborLimit struct {
	number, age uint32 // age in seconds
	recycle     bool
	have        uint32
}

// neighborKey has no pointer, like neighbor: a node in a mesh holds a thousand.
type neighborKey struct {
	addr
	index  uint32
	family family
}

func (k neighborKey) compare(l neighborKey) int {
	return cmp.Or(cmp.Compare(k.index, l.index), cmp.Compare(k.family, l.family), k.addr.compare(l.addr))
}

// neighbor outlives its interface when it is static: it stays on the dead index, where it cannot be deleted either.
type neighbor struct {
	mac    mac
	static bool
	noFIB  bool // as asked for
	hidden bool // there is no entry in the table
	stale  bool // marked by ip_neighbor_replace_begin
}

// neighborAddDel follows src/vnet/ip-neighbor/ip_neighbor.c: adding again changes the MAC, a static entry is not
// overwritten by a dynamic one (-2), a dynamic one becomes static.
func (v *VPP) neighborAddDel(m *ip_neighbor.IPNeighborAddDel, r *ip_neighbor.IPNeighborAddDelReply) int32 {
	retval := v.changeNeighbor(m)
	*r = ip_neighbor.IPNeighborAddDelReply{Retval: retval, StatsIndex: none}
	return retval
}

func (v *VPP) changeNeighbor(m *ip_neighbor.IPNeighborAddDel) int32 {
	n := &m.Neighbor
	if v.at(uint32(n.SwIfIndex)) == nil {
		return invalidIndex
	}
	f, a := decode(n.IPAddress)
	k := neighborKey{a, uint32(n.SwIfIndex), f}
	old, found := v.neighbors[k]
	if !m.IsAdd {
		if !found {
			return noSuchEntry
		}
		v.deleteNeighbor(k, old)
		return ok
	}
	static := n.Flags&ip_neighbor.IP_API_NEIGHBOR_FLAG_STATIC != 0
	if found {
		old.stale = false
		v.neighbors[k] = old
		if old.static && !static {
			if old.mac != mac(n.MacAddress) {
				return invalidIndex // VPP says -2 here, which a client cannot distinguish from a bad interface
			}
			v.tellNeighbor(k, old, ip_neighbor.IP_NEIGHBOR_API_EVENT_FLAG_ADDED)
			return ok
		}
		old.mac, old.static = mac(n.MacAddress), static
		v.neighbors[k] = old
		v.tellNeighbor(k, old, ip_neighbor.IP_NEIGHBOR_API_EVENT_FLAG_ADDED)
		return ok
	}
	limit := &v.neighborLimits[f]
	if limit.number != 0 && limit.have >= limit.number {
		return limitExceeded
	}
	limit.have++
	added := neighbor{mac: mac(n.MacAddress), static: static, noFIB: n.Flags&ip_neighbor.IP_API_NEIGHBOR_FLAG_NO_FIB_ENTRY != 0}
	added.hidden = added.noFIB
	v.neighbors[k] = added
	v.neighborsOn = grown(v.neighborsOn, k.index)
	v.neighborsOn[k.index]++
	v.addAdjacency(k, added, v.tableOf(k.index, f))
	v.tellNeighbor(k, added, ip_neighbor.IP_NEIGHBOR_API_EVENT_FLAG_ADDED)
	return ok
}

func (v *VPP) deleteNeighbor(k neighborKey, n neighbor) {
	v.tellNeighbor(k, n, ip_neighbor.IP_NEIGHBOR_API_EVENT_FLAG_REMOVED)
	v.removeAdjacency(k, n, v.tableOf(k.index, k.family))
	delete(v.neighbors, k)
	v.neighborsOn[k.index]--
	v.neighborLimits[k.family].have--
}

// tableOf is the table of an index; a dead one counts as bound to table 0, where deletion left its neighbors.
func (v *VPP) tableOf(index uint32, f family) *table {
	if i := v.at(index); i != nil {
		return v.table(i, f)
	}
	return v.tables[f][0]
}

// addAdjacency installs a neighbor's host entry in a table and locks the table.
func (v *VPP) addAdjacency(k neighborKey, n neighbor, t *table) {
	if n.hidden || k.addr.isLinkLocal(k.family) {
		return
	}
	t.put(prefix{k.addr, k.family.bits()}, entry{source: sourceAdjacency, paths: k.index})
	t.adjacent++
}

func (v *VPP) removeAdjacency(k neighborKey, n neighbor, t *table) {
	if n.hidden || k.addr.isLinkLocal(k.family) {
		return
	}
	t.remove(prefix{k.addr, k.family.bits()}, sourceAdjacency, k.index)
	t.adjacent--
	v.reap(t)
}

// on lists the neighbors of an index, ascending. Most interfaces have none, and then it costs nothing.
func (v *VPP) on(index uint32) []neighborKey {
	if index >= uint32(len(v.neighborsOn)) || v.neighborsOn[index] == 0 {
		return nil
	}
	ks := make([]neighborKey, 0, v.neighborsOn[index])
	for k := range v.neighbors {
		if k.index == index {
			ks = append(ks, k)
		}
	}
	slices.SortFunc(ks, neighborKey.compare)
	return ks
}

// moveNeighbors follows an interface to another table; the entries there are fresh, and alive if they were dead. A
// neighbor that was to have no entry gets one now: VPP forgets that wish (ip_neighbor_walk_table_bind).
func (v *VPP) moveNeighbors(index uint32, from, to *table) {
	for _, k := range v.on(index) {
		if k.family == from.family {
			n := v.neighbors[k]
			v.removeAdjacency(k, n, from)
			n.hidden = false
			v.neighbors[k] = n
			v.addAdjacency(k, n, to)
		}
	}
}

// killAdjacencies marks the host entries of a deleted interface's neighbors: they drop from now on.
func (v *VPP) killAdjacencies(index uint32) {
	for _, k := range v.on(index) {
		t := v.tableOf(index, k.family)
		if !v.neighbors[k].hidden && !k.addr.isLinkLocal(k.family) {
			t.put(prefix{k.addr, k.family.bits()}, entry{source: sourceAdjacency, paths: index, dead: true})
		}
	}
}

// flushNeighbors deletes the dynamic neighbors of an index.
func (v *VPP) flushNeighbors(index uint32) {
	v.flushCovered(index, v4, addr{}, 0)
	v.flushCovered(index, v6, addr{}, 0)
}

// flushCovered deletes the dynamic neighbors of an index in a subnet.
func (v *VPP) flushCovered(index uint32, f family, a addr, bits uint8) {
	for _, k := range v.on(index) {
		if n := v.neighbors[k]; !n.static && k.family == f && k.addr.mask(bits) == a.mask(bits) {
			v.deleteNeighbor(k, n)
		}
	}
}

func (v *VPP) neighborConfig(m *ip_neighbor.IPNeighborConfig) int32 {
	limit := &v.neighborLimits[familyOf(m.Af == ip_types.ADDRESS_IP6)]
	limit.number, limit.age, limit.recycle = m.MaxNumber, m.MaxAge, m.Recycle
	return ok
}

// neighborKeys lists neighbors for which keep is true, ascending.
func (v *VPP) neighborKeys(keep func(neighborKey, neighbor) bool) []neighborKey {
	ks := make([]neighborKey, 0, len(v.neighbors))
	for k, n := range v.neighbors {
		if keep(k, n) {
			ks = append(ks, k)
		}
	}
	slices.SortFunc(ks, neighborKey.compare)
	return ks
}

func (v *VPP) neighborDump(m *ip_neighbor.IPNeighborDump) []api.Message {
	f := familyOf(m.Af == ip_types.ADDRESS_IP6)
	ks := v.neighborKeys(func(k neighborKey, _ neighbor) bool {
		return k.family == f && (uint32(m.SwIfIndex) == none || uint32(m.SwIfIndex) == k.index)
	})
	details := make([]ip_neighbor.IPNeighborDetails, len(ks))
	out := make([]api.Message, len(ks))
	for i, k := range ks {
		n := v.neighbors[k]
		details[i].Neighbor = ip_neighbor.IPNeighbor{SwIfIndex: index(k.index), Flags: n.flags(),
			MacAddress: ethernet_types.MacAddress(n.mac), IPAddress: k.addr.api(f)}
		out[i] = &details[i]
	}
	return out
}

func (n neighbor) flags() ip_neighbor.IPNeighborFlags {
	var f ip_neighbor.IPNeighborFlags
	if n.static {
		f |= ip_neighbor.IP_API_NEIGHBOR_FLAG_STATIC
	}
	if n.noFIB {
		f |= ip_neighbor.IP_API_NEIGHBOR_FLAG_NO_FIB_ENTRY
	}
	return f
}

func (v *VPP) neighborConfigGet(m *ip_neighbor.IPNeighborConfigGet, r *ip_neighbor.IPNeighborConfigGetReply) int32 {
	l := v.neighborLimits[familyOf(m.Af == ip_types.ADDRESS_IP6)]
	*r = ip_neighbor.IPNeighborConfigGetReply{Af: m.Af, MaxNumber: l.number, MaxAge: l.age, Recycle: l.recycle}
	return ok
}

// neighborCrash: neighbors of interfaces without Ethernet, and addresses that have a static one on an interface that is
// gone.
func (v *VPP) neighborCrash(m *ip_neighbor.IPNeighborAddDel) CrashTrigger {
	n := &m.Neighbor
	i := v.at(uint32(n.SwIfIndex))
	switch {
	case i == nil || !m.IsAdd:
		return ""
	case i.kind == KindLocal:
		return CrashLocal0
	case !i.ethernet:
		return CrashNeighbor
	}
	f, a := decode(n.IPAddress)
	for at := range uint32(len(v.neighborsOn)) {
		if v.neighborsOn[at] == 0 || v.at(at) != nil {
			continue
		}
		if old, left := v.neighbors[neighborKey{a, at, f}]; left && old.static {
			return CrashDeadNeighbor
		}
	}
	return ""
}
