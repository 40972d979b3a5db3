package vppmodel

import (
	"slices"
	"sort"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/l2"
)

// bridgeIDMax is the largest bridge domain ID (src/vnet/l2/l2_bd.h).
const bridgeIDMax = 1<<24 - 1

// bridgeFlagsImplied are those of a bridge that comes into being because an interface is put into it
// (src/vnet/l2/l2_bd.c, bd_validate).
const bridgeFlagsImplied = l2.BRIDGE_API_FLAG_LEARN | l2.BRIDGE_API_FLAG_FWD | l2.BRIDGE_API_FLAG_FLOOD | l2.BRIDGE_API_FLAG_UU_FLOOD

// bridge is one bridge domain. MACs are keyed by its place in VPP's list (bd_index), so static ones that it leaves
// behind belong to the next bridge that gets the place.
type bridge struct {
	id, at  uint32
	flags   l2.BdFlags
	macAge  uint8 // minutes
	tag     string
	bvi     uint32   // index, none
	uuFwd   uint32   // index, none
	members []uint32 // in the order in which frames are flooded, the last one first
	view    []Member // members as last looked at; nil where they changed since
}

func (v *VPP) addBridge(id uint32) *bridge {
	b := &bridge{id: id, bvi: none, uuFwd: none}
	for b.at < uint32(len(v.bridges)) && v.bridges[b.at] != nil {
		b.at++
	}
	if b.at == uint32(len(v.bridges)) {
		v.bridges = append(v.bridges, nil)
	}
	v.bridges[b.at] = b
	v.bridgeBy[id] = b.at
	return b
}

func (b *bridge) has(f l2.BdFlags) bool { return b.flags&f != 0 }

// bridgeOf finds a bridge domain by ID, 0 included.
func (v *VPP) bridgeOf(id uint32) *bridge {
	if at, found := v.bridgeBy[id]; found {
		return v.bridges[at]
	}
	return nil
}

func (v *VPP) bridgeAddDel(m *l2.BridgeDomainAddDelV2, r *l2.BridgeDomainAddDelV2Reply) int32 {
	id, retval := v.changeBridge(m)
	*r = l2.BridgeDomainAddDelV2Reply{Retval: retval, BdID: id}
	return retval
}

// changeBridge: a bridge that exists is -119 whatever its flags, and so is ID 0, which always exists and cannot go
// (-121).
func (v *VPP) changeBridge(m *l2.BridgeDomainAddDelV2) (id uint32, retval int32) {
	id = m.BdID
	if id == none && m.IsAdd {
		for id = 1; v.bridgeOf(id) != nil; id++ {
		}
	}
	b := v.bridgeOf(id)
	switch {
	case m.IsAdd && b != nil:
		return id, bridgeExists
	case m.IsAdd && id > bridgeIDMax:
		return id, bridgeIDTooLarge
	case m.IsAdd:
		b = v.addBridge(id)
		b.flags, b.macAge, b.tag = requestedFlags(m), m.MacAge, truncate(m.BdTag, tagMax)
	case b == nil:
		return id, noSuchEntry
	case b.at == 0:
		return id, bridgeFixed
	case len(b.members) > 0:
		return id, bridgeInUse
	default:
		v.oldAges[b.at] = b.macAge
		v.bridges[b.at] = nil
		delete(v.bridgeBy, id)
	}
	return id, ok
}

func requestedFlags(m *l2.BridgeDomainAddDelV2) l2.BdFlags {
	var f l2.BdFlags
	for _, x := range [...]struct {
		on   bool
		flag l2.BdFlags
	}{
		{m.Learn, l2.BRIDGE_API_FLAG_LEARN}, {m.Forward, l2.BRIDGE_API_FLAG_FWD}, {m.Flood, l2.BRIDGE_API_FLAG_FLOOD},
		{m.UuFlood, l2.BRIDGE_API_FLAG_UU_FLOOD}, {m.ArpTerm, l2.BRIDGE_API_FLAG_ARP_TERM}, {m.ArpUfwd, l2.BRIDGE_API_FLAG_ARP_UFWD},
	} {
		if x.on {
			f |= x.flag
		}
	}
	return f
}

func (v *VPP) bridgeFlags(m *l2.BridgeFlags, r *l2.BridgeFlagsReply) int32 {
	bitmap, retval := v.changeFlags(m)
	*r = l2.BridgeFlagsReply{Retval: retval, ResultingFeatureBitmap: bitmap}
	return retval
}

func (v *VPP) changeFlags(m *l2.BridgeFlags) (bitmap uint32, retval int32) {
	if m.BdID == 0 {
		return 0, bridgeFixed
	}
	b := v.bridgeOf(m.BdID)
	if b == nil {
		return 0, noSuchEntry
	}
	if m.IsSet {
		b.flags |= m.Flags
	} else {
		b.flags &^= m.Flags
	}
	return uint32(b.flags), ok
}

// setBridge puts an interface into a bridge, making the bridge where it is missing, or back to L3. It leaves the bridge
// it was in first; when the new one already has a BVI and a BVI is asked for (-152), it is left in no list of members.
func (v *VPP) setBridge(m *l2.SwInterfaceSetL2Bridge) int32 {
	i := v.at(uint32(m.RxSwIfIndex))
	switch {
	case i == nil:
		return invalidIndex
	case m.PortType > l2.L2_API_PORT_TYPE_UU_FWD:
		return invalidValue
	case m.Enable && m.BdID > bridgeIDMax:
		return bridgeIDTooLarge
	}
	if i.bridged {
		v.leaveBridge(i)
	}
	if !m.Enable {
		if f := v.filters[i.index]; f != nil {
			f.acts[filterL2] = false // with all other features of bridging; VPP goes on to show the table
		}
		return ok
	}
	b := v.bridgeOf(m.BdID)
	if b == nil {
		b = v.addBridge(m.BdID)
		b.flags, b.macAge = bridgeFlagsImplied, v.oldAges[b.at]
	}
	i.bridged, i.bridge = true, b.at
	switch m.PortType {
	case l2.L2_API_PORT_TYPE_BVI:
		if b.bvi != none {
			return bridgeHasBVI
		}
		b.bvi = i.index
		v.macs[macKey{i.mac, uint16(b.at)}] = macEntry{index: i.index, static: true, bvi: true}
	case l2.L2_API_PORT_TYPE_UU_FWD:
		b.uuFwd = i.index
		i.shg = m.Shg
		return ok
	}
	v.join(b, i)
	i.shg = m.Shg
	return ok
}

// join puts an interface into the list of members: behind those of its own flood class, a BVI in front of all
// (src/vnet/l2/l2_bd.c, bd_add_member).
func (v *VPP) join(b *bridge, i *iface) {
	class, at := v.floodClass(i, v.isBVI(i)), 0
	behind := func(m uint32) bool { return v.floodClass(v.ifaces[m], m == b.bvi) <= class }
	switch {
	case class <= floodBVI:
	case len(v.unflooded) == 0: // no class has ever changed, so members are in their classes' order
		at = sort.Search(len(b.members), func(k int) bool { return !behind(b.members[k]) })
	default:
		for at < len(b.members) && behind(b.members[at]) {
			at++
		}
	}
	b.members = slices.Insert(b.members, at, i.index)
	b.view = nil
	i.member = true
}

// leaveBridge takes an interface back to L3, with the L2 FIB entry that a BVI has for itself; others through it stay.
// The bridge may be gone: VPP does not count an interface that gets unknown unicast, nor one that was refused as a
// second BVI.
func (v *VPP) leaveBridge(i *iface) {
	b := v.bridges[i.bridge]
	if b != nil && b.bvi == i.index {
		b.bvi = none
		v.unflooded[i.index] = true // nothing is flooded to it from now on, whatever it joins
		v.deleteMAC(i.mac, b.at, i.index)
	}
	if b != nil && b.uuFwd == i.index {
		b.uuFwd = none
	}
	if i.member {
		at := slices.Index(b.members, i.index)
		b.members = slices.Delete(b.members, at, at+1)
		b.view = nil
	}
	i.bridged, i.bridge, i.member, i.shg = false, 0, false, 0
}

// bridgeDump answers nothing when asked by interface: VPP has not implemented that.
func (v *VPP) bridgeDump(m *l2.BridgeDomainDump) []api.Message {
	var out []api.Message
	for _, b := range v.bridges {
		if b == nil || b.id == 0 || uint32(m.SwIfIndex) != none || m.BdID != none && m.BdID != b.id {
			continue
		}
		out = append(out, v.bridgeDetails(b))
	}
	return out
}

func (v *VPP) bridgeDetails(b *bridge) *l2.BridgeDomainDetails {
	d := &l2.BridgeDomainDetails{
		BdID: b.id, Flood: b.has(l2.BRIDGE_API_FLAG_FLOOD), UuFlood: b.has(l2.BRIDGE_API_FLAG_UU_FLOOD),
		Forward: b.has(l2.BRIDGE_API_FLAG_FWD), Learn: b.has(l2.BRIDGE_API_FLAG_LEARN),
		ArpTerm: b.has(l2.BRIDGE_API_FLAG_ARP_TERM), ArpUfwd: b.has(l2.BRIDGE_API_FLAG_ARP_UFWD),
		MacAge: b.macAge, BdTag: b.tag, BviSwIfIndex: index(b.bvi), UuFwdSwIfIndex: index(b.uuFwd),
		NSwIfs: uint32(len(b.members)), SwIfDetails: make([]l2.BridgeDomainSwIf, len(b.members)),
	}
	for n, at := range b.members {
		d.SwIfDetails[n] = l2.BridgeDomainSwIf{SwIfIndex: index(at), Shg: v.ifaces[at].shg}
	}
	return d
}

// Flood classes, in the order of members.
const (
	floodBVI = iota
	floodNormal
	floodTunnel
	floodNone
)

func (v *VPP) floodClass(i *iface, bvi bool) int {
	switch {
	case bvi:
		return floodBVI
	case i.kind == KindLoopback || len(v.unflooded) > 0 && v.unflooded[i.index]:
		return floodNone
	case i.kind == KindVXLAN:
		return floodTunnel
	}
	return floodNormal
}

// memberCrash: interfaces that VPP 25.10 cannot have in a bridge domain as what is asked for.
func (v *VPP) memberCrash(m *l2.SwInterfaceSetL2Bridge) CrashTrigger {
	i := v.at(uint32(m.RxSwIfIndex))
	b := v.bridgeOf(m.BdID)
	bvi := m.PortType == l2.L2_API_PORT_TYPE_BVI
	switch {
	case i == nil || !m.Enable:
	case i.kind == KindLocal:
		return CrashLocal0
	case bvi && !i.ethernet:
		return CrashBVI
	case (!bvi || m.BdID == 0) && i.kind == KindLoopback: // VPP's own bridge domain takes no BVI
		return CrashBridgedLoopback
	case m.PortType != l2.L2_API_PORT_TYPE_UU_FWD && b != nil && b.has(l2.BRIDGE_API_FLAG_ARP_UFWD) && b.uuFwd == none:
		return CrashARPToNowhere
	}
	return ""
}

// flagsCrash: ARP for an interface of unknown unicast that is not there. A bridge domain without members forwards
// nothing.
func (v *VPP) flagsCrash(m *l2.BridgeFlags) CrashTrigger {
	if b := v.bridgeOf(m.BdID); m.IsSet && m.Flags&l2.BRIDGE_API_FLAG_ARP_UFWD != 0 && b != nil && b.uuFwd == none && len(b.members) > 0 {
		return CrashARPToNowhere
	}
	return ""
}
