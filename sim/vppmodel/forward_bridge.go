package vppmodel

import (
	"encoding/binary"
	"net/netip"

	"go.fd.io/govpp/binapi/l2"
)

// bridged is a frame that comes into a bridge domain through a member; shg is its split horizon group there
// (src/vnet/l2/l2_input.c and l2_fwd.c).
func (f *flight) bridged(in *iface, shg uint8, frame []byte) {
	if !in.member {
		// VPP does not tell the interface for unknown unicast, which is no member, what its bridge domain does, nor that it is gone: it
		// drops all that comes in there, or follows what it finds in memory.
		f.Unsure = true
		return
	}
	b := f.bridges[in.bridge]
	to := mac(frame[:6])
	if to.isGroup() {
		switch {
		case etherType(frame) == typeARP && b.has(l2.BRIDGE_API_FLAG_ARP_UFWD):
			f.switched(macEntry{index: b.uuFwd}, shg, frame)
		case b.has(l2.BRIDGE_API_FLAG_FLOOD):
			f.flooded(b, in, shg, frame)
		}
		return
	}
	if b.has(l2.BRIDGE_API_FLAG_FWD) {
		if e, known := f.sendsTo(b, to); known {
			if !e.filter && e.index != in.index {
				f.switched(e, shg, frame)
			}
			return
		}
	}
	switch {
	case b.uuFwd != none:
		f.switched(macEntry{index: b.uuFwd}, shg, frame)
	case b.has(l2.BRIDGE_API_FLAG_UU_FLOOD), b.has(l2.BRIDGE_API_FLAG_FLOOD) && !b.has(l2.BRIDGE_API_FLAG_FWD):
		f.flooded(b, in, shg, frame) // without forwarding, a frame's next feature is flooding, whatever its MAC
	}
}

// sendsTo is the L2 FIB entry of a MAC. VPP moves one that is not static to wherever it hears the MAC, and forgets what it learned when
// interfaces or bridge domains change: such a one only says that a frame's way is not sure.
func (f *flight) sendsTo(b *bridge, m mac) (macEntry, bool) {
	e, known := f.macs[macKey{m, uint16(b.at)}]
	if known && e.static {
		return e, true
	}
	if f.learned != nil {
		e = macEntry{}
		e.index, known = f.learned(b.id, m)
	}
	f.Unsure = f.Unsure || known
	return e, known
}

// switched is a frame for one interface. It need not be a member of the bridge domain, only of any.
func (f *flight) switched(e macEntry, shg uint8, frame []byte) {
	o := f.at(e.index)
	switch {
	case e.bvi && (o == nil || !f.isBVI(o)):
		f.Unsure = true // VPP 25.10 dies of it, where the interface is gone
	case o == nil:
	case e.bvi:
		f.toBVI(o, frame)
	case o.bridged && !o.member: // one that was refused as a second BVI keeps the group of the bridge domain that it was in before
		f.Unsure = true
	case o.bridged && (shg == 0 || shg != o.shg):
		f.transmit(o, frame)
	}
}

// flooded is a frame for all members but the one it came from.
func (f *flight) flooded(b *bridge, in *iface, shg uint8, frame []byte) {
	for _, at := range b.members {
		o := f.ifaces[at]
		switch {
		case at == in.index, f.floodClass(o) == floodNone, shg != 0 && shg == o.shg:
		case at == b.bvi:
			f.toBVI(o, frame)
		default:
			f.transmit(o, frame)
		}
	}
}

// toBVI hands a frame to L3 (src/vnet/l2/l2_bvi.h).
func (f *flight) toBVI(o *iface, frame []byte) {
	if to := mac(frame[:6]); !to.isGroup() && to != o.mac {
		return
	}
	f.steps++
	if f.steps <= stepsMax && etherType(frame) == typeIP4 {
		f.routed(o, frame[ethernetLen:])
	}
}

// Sizes and values of VXLAN (RFC 7348) over UDP.
const (
	udpLen       = 8
	vxlanLen     = 8
	vxlanFlags   = 0x08
	vxlanTTL     = 254 // src/plugins/vxlan/vxlan.c, vxlan_rewrite
	wrapperLen   = ip4Len + udpLen + vxlanLen
	udpTarget    = ip4Len + 2
	vniAt        = ip4Len + udpLen + 4
	versionLen5  = 0x45
	headerOffset = ip4Len + udpLen
)

// wrapped is a frame that goes into a tunnel. The UDP source port, which VPP draws from a hash of the frame, stays 0.
func (f *flight) wrapped(o *iface, frame []byte) {
	t := o.device.(*vxlanTunnel)
	table := f.tables[t.family][t.encap]
	if t.family != v4 || table == nil {
		return
	}
	packet := make([]byte, wrapperLen, wrapperLen+len(frame))
	packet[0], packet[ip4TTL], packet[ip4Protocol] = versionLen5, vxlanTTL, protocolUDP
	binary.BigEndian.PutUint16(packet[2:], uint16(wrapperLen+len(frame)))
	copy(packet[ip4Source:], t.src.netip(v4).AsSlice())
	copy(packet[ip4Target:], t.dst.netip(v4).AsSlice())
	binary.BigEndian.PutUint16(packet[udpTarget:], t.dstPort)
	binary.BigEndian.PutUint16(packet[ip4Len+4:], uint16(udpLen+vxlanLen+len(frame)))
	packet[headerOffset] = vxlanFlags
	binary.BigEndian.PutUint32(packet[vniAt:], t.vni<<8)
	packet = append(packet, frame...)
	checksum(packet)
	f.doubtResolution(table, t.dst)
	f.lookedUp(o, table, packet)
}

// arrived is a packet for VPP itself: a tunnel's, or nothing that anything here answers. VPP takes a packet only from a source
// that it has a way back to and that is not its own (src/vnet/ip/ip4_forward.c, ip4_local_check_src).
func (f *flight) arrived(in *iface, t *table, packet []byte) {
	if packet[ip4Protocol] != protocolUDP {
		return
	}
	_, remote := addrOfNetip(netip.AddrFrom4([4]byte(packet[ip4Source:])))
	_, own := addrOfNetip(netip.AddrFrom4([4]byte(packet[ip4Target:])))
	back, _, ok := f.followed(t, remote)
	if !ok || back.dropped || back.path.kind == pathLocal || back.path.kind == pathDrop {
		return
	}
	port := binary.BigEndian.Uint16(packet[udpTarget:])
	if port != vxlanPort || len(f.tunnels.four) == 0 {
		f.complain(in, packet)
		return
	}
	k := tunnelKey{src: own, dst: remote, vni: binary.BigEndian.Uint32(packet[vniAt:]) >> 8, encap: in.tables[v4], port: port, family: v4}
	at, found := f.tunnels.find(k)
	if !found || len(packet) < wrapperLen+ethernetLen || !f.ifaces[at].bridged {
		return
	}
	f.receive(f.ifaces[at], packet[wrapperLen:])
}
