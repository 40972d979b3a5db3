package vppmodel

import (
	"slices"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/ethernet_types"
	"go.fd.io/govpp/binapi/ip_neighbor"
	"go.fd.io/govpp/binapi/ip_types"
)

// neighborWatcher is one wish for events. VPP knows it again by all of it.
type neighborWatcher struct {
	key         neighborKey // the index ^0 for all interfaces, an address of zeros for all of them
	client, pid uint32
	version     uint8
}

func (v *VPP) wantNeighborEvents(m *ip_neighbor.WantIPNeighborEvents) int32 {
	return v.watchNeighbor(m.IP, uint32(m.SwIfIndex), m.Enable, neighborWatcher{client: v.caller, pid: m.PID, version: 1})
}

func (v *VPP) wantNeighborEventsV2(m *ip_neighbor.WantIPNeighborEventsV2) int32 {
	return v.watchNeighbor(m.IP, uint32(m.SwIfIndex), m.Enable, neighborWatcher{client: v.caller, pid: m.PID, version: 2})
}

// watchNeighbor follows src/vnet/ip-neighbor/ip_neighbor_watch.c: asking twice and stopping what was not asked for succeed, and interface
// 0 is all of them.
func (v *VPP) watchNeighbor(a ip_types.Address, at uint32, wanted bool, w neighborWatcher) int32 {
	if at != none && v.at(at) == nil {
		return invalidIndex
	}
	if at == 0 {
		at = none
	}
	f, address := decode(a)
	w.key = neighborKey{address, at, f}
	n := slices.Index(v.neighborWatchers, w)
	switch {
	case wanted && n < 0:
		v.neighborWatchers = append(v.neighborWatchers, w)
	case !wanted && n >= 0:
		v.neighborWatchers = slices.Delete(v.neighborWatchers, n, n+1)
	}
	return ok
}

// tellNeighbor announces a neighbor that was added, changed or confirmed, or is about to go: to who asked for it, then to who asked for
// its interface, then to who asked for all. Who asks for all addresses by zeros of IPv6 hears nothing: VPP looks for those of IPv4.
func (v *VPP) tellNeighbor(k neighborKey, n neighbor, f ip_neighbor.IPNeighborEventFlags) {
	for _, looked := range [...]neighborKey{k, {index: k.index}, {index: none}} {
		for _, w := range v.neighborWatchers {
			if w.key != looked {
				continue
			}
			said := ip_neighbor.IPNeighbor{SwIfIndex: index(k.index), Flags: n.flags(), MacAddress: ethernet_types.MacAddress(n.mac), IPAddress: k.addr.api(k.family)}
			var event api.Message = &ip_neighbor.IPNeighborEventV2{PID: w.pid, Flags: f, Neighbor: said}
			if w.version == 1 {
				event = &ip_neighbor.IPNeighborEvent{PID: w.pid, Neighbor: said}
			}
			v.tellClient(w.client, event)
		}
	}
}

// forgetNeighborWatchers ends a client's wishes.
func (v *VPP) forgetNeighborWatchers(client uint32) {
	v.neighborWatchers = slices.DeleteFunc(v.neighborWatchers, func(w neighborWatcher) bool { return w.client == client })
}

// neighborFlush deletes a family's neighbors of an interface or of all, static ones too.
func (v *VPP) neighborFlush(m *ip_neighbor.IPNeighborFlush) int32 {
	at := uint32(m.SwIfIndex)
	if at != none && v.at(at) == nil {
		return invalidIndex
	}
	if m.Af > ip_types.ADDRESS_IP6 {
		return invalidFamily
	}
	v.deleteNeighbors(flushed(m))
	return ok
}

func flushed(m *ip_neighbor.IPNeighborFlush) func(neighborKey, neighbor) bool {
	f, at := familyOf(m.Af == ip_types.ADDRESS_IP6), uint32(m.SwIfIndex)
	return func(k neighborKey, _ neighbor) bool { return k.family == f && (at == none || at == k.index) }
}

func stale(_ neighborKey, n neighbor) bool { return n.stale }

// neighborFlushCrash: a static neighbor on an interface that is gone. The kind of that interface is not known any more; a VXLAN tunnel's
// is deadly.
func (v *VPP) neighborFlushCrash(m *ip_neighbor.IPNeighborFlush) CrashTrigger {
	return v.deadAmong(flushed(m))
}

func (v *VPP) replaceCrash(*ip_neighbor.IPNeighborReplaceEnd) CrashTrigger {
	return v.deadAmong(stale)
}

func (v *VPP) deadAmong(doomed func(neighborKey, neighbor) bool) CrashTrigger {
	for k, n := range v.neighbors { //vppdrill:unordered one is enough
		if v.at(k.index) == nil && doomed(k, n) {
			return CrashDeadNeighborFlushed
		}
	}
	return ""
}

// replaceBegin marks every neighbor; who is added again loses its mark, and replaceEnd deletes the others.
func (v *VPP) replaceBegin(*ip_neighbor.IPNeighborReplaceBegin) int32 {
	for k, n := range v.neighbors { // in any order: each is changed alike
		n.stale = true
		v.neighbors[k] = n
	}
	return ok
}

func (v *VPP) replaceEnd(*ip_neighbor.IPNeighborReplaceEnd) int32 {
	v.deleteNeighbors(stale)
	return ok
}

// deleteNeighbors deletes those for which doomed is true, IPv4's first.
func (v *VPP) deleteNeighbors(doomed func(neighborKey, neighbor) bool) {
	for _, f := range families {
		for _, k := range v.neighborKeys(func(k neighborKey, n neighbor) bool { return k.family == f && doomed(k, n) }) {
			v.deleteNeighbor(k, v.neighbors[k])
		}
	}
}
