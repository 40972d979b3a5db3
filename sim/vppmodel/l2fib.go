package vppmodel

import (
	"bytes"
	"cmp"
	"maps"
	"slices"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/ethernet_types"
	"go.fd.io/govpp/binapi/l2"
)

// macKey is an L2 FIB entry's MAC and the place (bd_index, not ID) of its bridge.
type macKey struct {
	mac    mac
	bridge uint16
}

func (k macKey) compare(l macKey) int {
	return cmp.Or(cmp.Compare(k.bridge, l.bridge), bytes.Compare(k.mac[:], l.mac[:]))
}

// macEntry is where frames to the MAC go. It has no pointer: a node in a mesh holds a thousand.
type macEntry struct {
	index               uint32
	static, filter, bvi bool
}

// l2fibAddDel: adding replaces; the interface must be in a bridge, though VPP does not ask in which; a filter needs
// none. Deleting with an index that is not 0 must name the entry's.
func (v *VPP) l2fibAddDel(m *l2.L2fibAddDel) int32 {
	b := v.bridgeOf(m.BdID)
	if b == nil {
		return noSuchEntry
	}
	at := uint32(m.SwIfIndex)
	if !m.IsAdd {
		if !v.deleteMAC(mac(m.Mac), b.at, at) {
			return noSuchEntry
		}
		return ok
	}
	k := macKey{mac(m.Mac), uint16(b.at)}
	if m.FilterMac {
		v.macs[k] = macEntry{index: none, static: true, filter: true}
		return ok
	}
	if i := v.at(at); i == nil || !i.bridged {
		return invalidIndex
	}
	v.macs[k] = macEntry{index: at, static: m.StaticMac, bvi: m.BviMac}
	return ok
}

// deleteMAC reports whether there was such an entry; index 0 is any.
func (v *VPP) deleteMAC(m mac, bridge, index uint32) bool {
	k := macKey{m, uint16(bridge)}
	e, found := v.macs[k]
	if !found || index != 0 && index != e.index {
		return false
	}
	delete(v.macs, k)
	return true
}

// l2fibDump of ^0 also shows entries of bridges that are gone, under ID ^0, as VPP does.
func (v *VPP) l2fibDump(m *l2.L2FibTableDump) []api.Message {
	if m.BdID != none && v.bridgeOf(m.BdID) == nil {
		return nil
	}
	keys := slices.SortedFunc(maps.Keys(v.macs), macKey.compare)
	details := make([]l2.L2FibTableDetails, 0, len(keys))
	out := make([]api.Message, 0, len(keys))
	for _, k := range keys {
		id := v.bridgeID(uint32(k.bridge))
		if m.BdID != none && m.BdID != id {
			continue
		}
		e := v.macs[k]
		details = append(details, l2.L2FibTableDetails{BdID: id, Mac: ethernet_types.MacAddress(k.mac), SwIfIndex: index(e.index),
			StaticMac: e.static, FilterMac: e.filter, BviMac: e.bvi})
		out = append(out, &details[len(details)-1])
	}
	return out
}

// bridgeID is the ID of the bridge at a place, none where it is gone.
func (v *VPP) bridgeID(at uint32) uint32 {
	if b := v.bridges[at]; b != nil {
		return b.id
	}
	return none
}
