package vppmodel

import (
	"cmp"
	"encoding/binary"
	"iter"
	"maps"
	"slices"

	"go.fd.io/govpp/binapi/l2"
)

// Bridge is one bridge domain. Members is in ascending index order and shared between calls: do not change it.
type Bridge struct {
	ID                                      uint32
	Learn, Flood, UUFlood, Forward, ARPTerm bool
	// ARPUnknown sends ARP requests to the interface for unknown unicast.
	ARPUnknown bool
	// Unknown is the interface for unknown unicast, ^0 for none.
	Unknown uint32
	Members []Member
}

// Member is one interface of a bridge domain.
type Member struct {
	Index uint32
	BVI   bool
	SHG   uint8
}

// OwnBridge is the ID by which Bridge knows VPP's own bridge domain, 0 in the API. Its members get nothing through.
const OwnBridge = none

// Bridge returns a bridge domain.
func (v *VPP) Bridge(id uint32) (Bridge, bool) {
	b := v.bridgeOf(id)
	switch {
	case id == OwnBridge:
		b = v.bridges[0]
	case b == nil || id == 0:
		return Bridge{}, false
	}
	if b.view == nil {
		b.view = make([]Member, len(b.members))
		for n, at := range b.members {
			b.view[n] = Member{at, at == b.bvi, v.ifaces[at].shg}
		}
		slices.SortFunc(b.view, func(x, y Member) int { return cmp.Compare(x.Index, y.Index) })
	}
	return Bridge{ID: id, Learn: b.has(l2.BRIDGE_API_FLAG_LEARN), Flood: b.has(l2.BRIDGE_API_FLAG_FLOOD),
		UUFlood: b.has(l2.BRIDGE_API_FLAG_UU_FLOOD), Forward: b.has(l2.BRIDGE_API_FLAG_FWD),
		ARPTerm: b.has(l2.BRIDGE_API_FLAG_ARP_TERM), ARPUnknown: b.has(l2.BRIDGE_API_FLAG_ARP_UFWD), Unknown: b.uuFwd, Members: b.view}, true
}

// Bridges yields bridge domain IDs in ascending order, without OwnBridge.
func (v *VPP) Bridges() iter.Seq[uint32] {
	ids := slices.Sorted(maps.Keys(v.bridgeBy))
	return slices.Values(ids[1:]) // without 0
}

// MACEntry is one L2 FIB entry. Bridge is ^0 where the bridge domain is gone and left the entry behind.
type MACEntry struct {
	Bridge uint32
	MAC    [6]byte
	Index  uint32
	BVI    bool
	// Static entries stay; the others are those that a client added for VPP to forget. A Filter drops frames.
	Static, Filter bool
}

// order is the MAC as a number: a slice of it would be put on the heap by each comparison of a sort.
func (e *MACEntry) order() uint64 {
	return uint64(binary.BigEndian.Uint32(e.MAC[:4]))<<16 | uint64(binary.BigEndian.Uint16(e.MAC[4:]))
}

// MAC finds what a bridge domain does with a MAC.
func (v *VPP) MAC(bridge uint32, m [6]byte) (MACEntry, bool) {
	b := v.bridgeOf(bridge)
	if b == nil {
		return MACEntry{}, false
	}
	e, found := v.macs[macKey{m, uint16(b.at)}]
	return MACEntry{bridge, m, e.index, e.bvi, e.static, e.filter}, found
}

// MACs yields static L2 FIB entries that are no filters, in ascending (bridge, MAC) order.
func (v *VPP) MACs() iter.Seq[MACEntry] {
	return func(yield func(MACEntry) bool) {
		var all []MACEntry
		for k, e := range v.macs {
			if e.static && !e.filter {
				all = append(all, MACEntry{v.bridgeID(uint32(k.bridge)), k.mac, e.index, e.bvi, true, false})
			}
		}
		slices.SortFunc(all, func(x, y MACEntry) int {
			return cmp.Or(cmp.Compare(x.Bridge, y.Bridge), cmp.Compare(x.order(), y.order()), cmp.Compare(x.Index, y.Index))
		})
		for _, e := range all {
			if !yield(e) {
				return
			}
		}
	}
}
