package vppmodel

import (
	"strconv"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/vxlan"
)

const (
	vxlanPort = 4789 // IANA; VPP uses it for IPv6 too (src/vnet/udp/udp_local.h)
	// decapL2 is what ^0 stands for: hand decapsulated frames to l2-input.
	decapL2 = 1
)

// vxlanTunnel is what a tunnel has beside an interface.
type vxlanTunnel struct {
	src, dst         addr
	family           family
	srcPort, dstPort uint16
	vni, encap       uint32
	mcast, decap     uint32
	slot             uint32 // in VPP's pool of tunnels
}

// tunnelKey is VPP's key of a tunnel. The destination port is no part of it; neither is the source address of an IPv6
// tunnel, nor of one to a multicast group (src/plugins/vxlan/vxlan.c).
type tunnelKey struct {
	src, dst   addr
	vni, encap uint32
	port       uint16
	family     family
}

// tunnelKey4 is the same without the padding of IPv6: a node in a mesh holds a thousand.
type tunnelKey4 struct {
	src, dst, vni, encap uint32
	port                 uint32
}

// tunnels finds tunnels by key, and knows which instances and slots are taken.
type tunnels struct {
	four  map[tunnelKey4]uint32
	six   map[tunnelKey]uint32
	names map[uint32]struct{}
	slots indexPool
	pages pages[vxlanTunnel] // by slot
}

func (s *tunnels) init() {
	s.four = make(map[tunnelKey4]uint32)
	s.six = make(map[tunnelKey]uint32)
	s.names = make(map[uint32]struct{})
}

func (k tunnelKey) short() tunnelKey4 {
	return tunnelKey4{uint32(k.src.hi >> 32), uint32(k.dst.hi >> 32), k.vni, k.encap, uint32(k.port)}
}

func (s *tunnels) find(k tunnelKey) (uint32, bool) {
	if k.family == v4 {
		at, found := s.four[k.short()]
		return at, found
	}
	at, found := s.six[k]
	return at, found
}

func (s *tunnels) set(k tunnelKey, at uint32) {
	if k.family == v4 {
		s.four[k.short()] = at
	} else {
		s.six[k] = at
	}
}

func (s *tunnels) remove(k tunnelKey) {
	if k.family == v4 {
		delete(s.four, k.short())
	} else {
		delete(s.six, k)
	}
}

func (t *vxlanTunnel) key() tunnelKey {
	k := tunnelKey{src: t.src, dst: t.dst, vni: t.vni, encap: t.encap, port: t.srcPort, family: t.family}
	if t.family == v6 || t.dst.isMulticast(t.family) {
		k.src = addr{}
	}
	return k
}

func (v *VPP) vxlanAddDel(m *vxlan.VxlanAddDelTunnelV3, r *vxlan.VxlanAddDelTunnelV3Reply) int32 {
	at, retval := v.changeTunnel(m)
	*r = vxlan.VxlanAddDelTunnelV3Reply{Retval: retval, SwIfIndex: index(at)}
	return retval
}

// changeTunnel checks in VPP's order: table, families, equal ends, multicast interface, then the key. A new tunnel is
// up.
func (v *VPP) changeTunnel(m *vxlan.VxlanAddDelTunnelV3) (at uint32, retval int32) {
	f, src := decode(m.SrcAddress)
	g, dst := decode(m.DstAddress)
	t := vxlanTunnel{src: src, dst: dst, family: f, srcPort: m.SrcPort, dstPort: m.DstPort, vni: m.Vni, encap: m.EncapVrfID,
		mcast: uint32(m.McastSwIfIndex), decap: m.DecapNextIndex}
	switch {
	case v.tables[f][t.encap] == nil:
		return none, noSuchFIB
	case f != g:
		return none, invalidValue
	case src == dst:
		return none, sameSrcDst
	case dst.isMulticast(f) && v.at(t.mcast) == nil:
		return none, invalidIndex
	}
	if t.srcPort == 0 {
		t.srcPort = vxlanPort
	}
	if t.dstPort == 0 {
		t.dstPort = vxlanPort
	}
	at, exists := v.tunnels.find(t.key())
	switch {
	case !m.IsAdd && !exists:
		return none, noSuchEntry
	case !m.IsAdd:
		v.deleteTunnel(v.ifaces[at])
		return at, ok
	case exists:
		return none, tunnelExists
	}
	return v.createTunnel(t, m.Instance, !m.IsL3)
}

func (v *VPP) createTunnel(t vxlanTunnel, instance uint32, ethernet bool) (at uint32, retval int32) {
	if t.decap == none {
		t.decap = decapL2
	}
	if t.decap != decapL2 {
		return none, invalidDecapNext
	}
	t.slot = v.tunnels.slots.get()
	if instance == none {
		instance = t.slot
	}
	if _, used := v.tunnels.names[instance]; used {
		v.tunnels.slots.put(t.slot)
		return none, instanceInUse
	}
	v.tunnels.names[instance] = struct{}{}
	kept := v.tunnels.pages.at(t.slot)
	*kept = t
	added := iface{kind: KindVXLAN, name: "vxlan_tunnel" + strconv.FormatUint(uint64(instance), 10),
		instance: instance, ethernet: ethernet, device: kept}
	if ethernet {
		added.mac = v.drawMAC()
	}
	i := v.addInterface(added)
	v.tunnels.set(t.key(), i.index)
	v.setUp(i, true)
	v.tellInterface(i, v.flags(i), false)
	return i.index, ok
}

func (v *VPP) deleteTunnel(i *iface) {
	t := i.device.(*vxlanTunnel)
	v.tunnels.remove(t.key())
	v.tunnels.slots.put(t.slot)
	delete(v.tunnels.names, i.instance)
	v.deleteInterface(i)
}

func (v *VPP) vxlanDump(m *vxlan.VxlanTunnelV2Dump) []api.Message {
	var out []api.Message
	for _, i := range v.ifaces {
		if i == nil || i.kind != KindVXLAN || uint32(m.SwIfIndex) != none && uint32(m.SwIfIndex) != i.index {
			continue
		}
		t := i.device.(*vxlanTunnel)
		out = append(out, &vxlan.VxlanTunnelV2Details{
			SwIfIndex: index(i.index), Instance: i.instance, SrcAddress: t.src.api(t.family), DstAddress: t.dst.api(t.family),
			SrcPort: t.srcPort, DstPort: t.dstPort, McastSwIfIndex: index(t.mcast), EncapVrfID: t.encap,
			DecapNextIndex: t.decap, Vni: t.vni,
		})
	}
	return out
}

// tunnelCrash: a far end that is routed nowhere.
func (v *VPP) tunnelCrash(m *vxlan.VxlanAddDelTunnelV3) CrashTrigger {
	f, dst := decode(m.DstAddress)
	if t := v.tables[f][m.EncapVrfID]; m.IsAdd && t != nil && v.leadsNowhere(t, dst) {
		return CrashDeadCover
	}
	return ""
}
