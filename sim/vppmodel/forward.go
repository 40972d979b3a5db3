package vppmodel

import (
	"encoding/binary"
	"net/netip"
)

// Frame is an Ethernet frame that leaves VPP through an interface.
type Frame struct {
	Index uint32
	Bytes []byte
}

// Forwarded is what becomes of a frame. The zero Forwarded is a drop.
type Forwarded struct {
	Frames []Frame
	// Unsure says that VPP could as well send others: a route balances over several paths.
	Unsure bool
}

// Learned answers what a bridge domain has learned of a MAC; the model learns nothing by itself. nil has learned nothing.
type Learned func(bridge uint32, mac [6]byte) (index uint32, known bool)

// stepsMax is how many interfaces and bridges one frame may meet. Loopbacks hand frames back, and VPP would go on until the TTL ends.
const stepsMax = 64

// lookupsMax is how often VPP looks a packet up before it drops it (MAX_LUKPS_PER_PACKET, src/vnet/dpo/lookup_dpo.c).
const lookupsMax = 4

// Forward is what VPP sends when an Ethernet frame comes in through an interface: IPv4 between interfaces, bridge domains and
// VXLAN tunnels over IPv4, and the ARP requests for neighbors that are unknown. What VPP answers to packets for itself is left
// out. It changes nothing.
func (v *VPP) Forward(in uint32, frame []byte, learned Learned) Forwarded {
	i := v.at(in)
	if i == nil || v.killed {
		return Forwarded{}
	}
	f := flight{VPP: v, learned: learned}
	f.receive(i, frame)
	return f.Forwarded
}

// flight is one frame under way, and its copies.
type flight struct {
	*VPP
	Forwarded
	learned Learned
	steps   int
}

// Offsets and sizes of Ethernet II and of IPv4 without options (RFC 894, RFC 791).
const (
	ethernetLen = 14
	ip4Len      = 20
	ip4TTL      = 8
	ip4Protocol = 9
	ip4Checksum = 10
	ip4Source   = 12
	ip4Target   = 16
	typeIP4     = 0x0800
	typeARP     = 0x0806
	protocolUDP = 17
)

func etherType(frame []byte) uint16 { return binary.BigEndian.Uint16(frame[12:]) }

// isGroup reports whether a MAC is multicast or broadcast.
func (m mac) isGroup() bool { return m[0]&1 != 0 }

// receive is a frame that comes in through an interface (src/vnet/ethernet/node.c).
func (f *flight) receive(i *iface, frame []byte) {
	f.steps++
	if f.steps > stepsMax || len(frame) < ethernetLen || !i.up && i.kind != KindVXLAN {
		return
	}
	switch to := mac(frame[:6]); {
	case i.bridged:
		f.bridged(i, i.shg, frame)
	case !to.isGroup() && to != i.mac:
	case etherType(frame) == typeIP4:
		f.routed(i, frame[ethernetLen:])
	}
}

// routed is an IPv4 packet that an interface hands to L3, which takes it only from interfaces that have an address or borrow one.
func (f *flight) routed(i *iface, packet []byte) {
	if len(packet) < ip4Len || !f.takesIP4(i) {
		return
	}
	f.lookedUp(i, f.table(i, v4), packet)
}

func (f *flight) takesIP4(i *iface) bool {
	if i.borrows {
		return true
	}
	_, has := firstIP4(i)
	return has
}

func firstIP4(i *iface) (netip.Addr, bool) {
	for _, p := range i.addrs {
		if p.Addr().Is4() {
			return p.Addr(), true
		}
	}
	return netip.Addr{}, false
}

// lookedUp is a packet in a table. in is the interface that it came in through.
func (f *flight) lookedUp(in *iface, t *table, packet []byte) {
	if f.steps++; f.steps > stepsMax {
		return
	}
	_, to := addrOfNetip(netip.AddrFrom4([4]byte(packet[ip4Target:])))
	for range lookupsMax {
		r, hop, ok := f.followed(t, to)
		if !ok || r.dropped {
			return
		}
		switch r.path.kind {
		case pathLocal:
			f.arrived(in, t, packet)
			return
		case pathLookup:
			t = f.tables[v4][r.path.table]
			continue
		case pathAttached:
			switch resolved := f.resolves(t, hop); {
			case resolved && r.source == sourceInterface:
				f.adjacent(r.path.iface, hop, packet) // by VPP's own host entry for it (src/vnet/fib/fib_entry_src_rr.c)
			case resolved:
				f.Unsure = true
			default:
				f.solicit(r.path.iface, hop)
			}
		case pathNextHop:
			f.adjacent(r.path.iface, hop, packet)
		case pathRecursive, pathDrop, pathUnreachable, pathProhibited:
		}
		return
	}
}

// resolves reports whether VPP keeps a host entry for an address of a table because something resolves through it: a tunnel's far end,
// or a recursive next hop.
func (f *flight) resolves(t *table, a addr) bool {
	for _, i := range f.ifaces {
		if i == nil {
			continue
		}
		if d, is := i.device.(*vxlanTunnel); is && d.family == t.family && d.encap == t.id && d.dst == a {
			return true
		}
	}
	for n := range f.paths.nodes {
		if p := &f.paths.nodes[n].path; p.kind == pathRecursive && p.family == t.family && p.addr == a {
			return true // whatever its table: it is one that leads here, or one whose entry does not matter
		}
	}
	return false
}

// followed is the longest match with recursive next hops followed, and the address that ARP would ask for. A recursive next hop
// takes over what its own route does, except that it stays the next hop where that is attached.
func (f *flight) followed(t *table, to addr) (r route, hop addr, ok bool) {
	r = f.lookup(t, to)
	f.doubt(t, to, r)
	hop = to
	for range stepsMax {
		if r.path.kind == pathNextHop {
			return r, r.path.addr, true
		}
		if r.path.kind != pathRecursive || r.dropped {
			return r, hop, true
		}
		hop, t = r.path.addr, f.tables[v4][r.path.table]
		r = f.lookup(t, hop)
		f.doubt(t, hop, r)
		f.doubtResolution(t, hop)
	}
	return route{}, addr{}, false
}

// doubt notes where VPP may do something else than a route says: with several paths it balances; a path whose interface was deleted
// comes to life again at times when another interface has its index; and a neighbor may attract its traffic although its subnet is
// routed by a next hop behind the same interface, where only the neighbor changed since (src/vnet/fib/fib_entry_src_adj.c:
// fib_entry_src_adj_activate asks for an attached cover, fib_entry_src_adj_reactivate does not).
func (f *flight) doubt(t *table, to addr, r route) {
	if r.dropped && f.at(r.path.iface) != nil {
		f.Unsure = true
	}
	if e, _ := t.get(r.prefix); e.source != sourceAdjacency && f.paths.nodes[e.paths].next != 0 {
		f.Unsure = true
	}
	if f.unused(t, to, r) {
		host, out := prefix{to, v4.bits()}, f.resolving(r)
		e, _ := t.get(host)
		for _, e := range append([]entry{e}, t.others[host]...) {
			f.Unsure = f.Unsure || f.refines(e.paths, out)
		}
	}
}

// unused reports whether a neighbor has the address and attracts no traffic, because its subnet is not its interface's.
func (f *flight) unused(t *table, a addr, r route) bool {
	host := prefix{a, v4.bits()}
	_, there := t.get(host)
	return there && r.prefix != host
}

// doubtResolution is doubt for what VPP keeps a host entry for, a tunnel's far end or a recursive next hop: where a neighbor has one that
// attracts no traffic, VPP takes that one and sends nothing, or the route behind it, as the order of their coming has it.
func (f *flight) doubtResolution(t *table, a addr) {
	f.Unsure = f.Unsure || f.unused(t, a, f.lookup(t, a))
}

// resolving is the interface that a route leads to in the end, none where it leads to none.
func (f *flight) resolving(r route) uint32 {
	for range stepsMax {
		if r.path.kind != pathRecursive {
			return r.path.iface
		}
		r = f.lookup(f.tables[v4][r.path.table], r.path.addr)
	}
	return none
}

// adjacent is a packet for a next hop out of an interface. TTL and MTU are looked at only where the neighbor is known
// (src/vnet/ip/ip4_forward.c).
func (f *flight) adjacent(at uint32, hop addr, packet []byte) {
	o := f.at(at)
	if o == nil {
		return
	}
	n, known := f.neighbors[neighborKey{hop, at, v4}]
	if !known {
		f.solicit(at, hop)
		return
	}
	if packet[ip4TTL] <= 1 || len(packet) > int(o.mtu4()) {
		f.Unsure = true // it may answer with an ICMP error
		return
	}
	frame := make([]byte, 0, ethernetLen+len(packet))
	frame = append(append(frame, n.mac[:]...), o.mac[:]...)
	frame = append(binary.BigEndian.AppendUint16(frame, typeIP4), packet...)
	frame[ethernetLen+ip4TTL]--
	checksum(frame[ethernetLen:])
	f.transmit(o, frame)
}

// mtu4 is the limit for IPv4: its own, or that of all of L3.
func (i *iface) mtu4() uint32 {
	if i.mtu[1] != 0 {
		return i.mtu[1]
	}
	return i.mtu[0]
}

// solicit sends an ARP request for an address out of an interface: none where it has no address to ask with.
func (f *flight) solicit(at uint32, target addr) {
	o := f.at(at)
	if o == nil {
		return
	}
	from := o
	if o.borrows {
		from = f.at(o.donor)
	}
	if from == nil {
		return
	}
	source, has := firstIP4(from)
	if !has {
		return
	}
	frame := append([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, o.mac[:]...)
	frame = append(frame, 0x08, 0x06, 0, 1, 0x08, 0, 6, 4, 0, 1) // ARP, Ethernet, IPv4, their lengths, request (RFC 826)
	frame = append(append(frame, o.mac[:]...), source.AsSlice()...)
	frame = append(append(frame, make([]byte, 6)...), target.netip(v4).AsSlice()...)
	f.transmit(o, frame)
}

// complain sends an ICMP error to where a packet came from: none where the interface has no address to send it from. What is in it
// does not matter here; where it goes may cause ARP requests.
func (f *flight) complain(in *iface, packet []byte) {
	if !f.takesIP4(in) {
		return
	}
	icmp := make([]byte, ip4Len)
	icmp[0], icmp[ip4TTL], icmp[ip4Protocol] = versionLen5, 64, 1
	copy(icmp[ip4Target:], packet[ip4Source:ip4Source+4])
	f.lookedUp(in, f.table(in, v4), icmp)
}

// transmit sends a frame out of an interface. Tunnels have an output node of their own, which does not ask whether they are up, and
// neither does the one where their packets come in (src/plugins/vxlan/encap.c and decap.c).
func (f *flight) transmit(o *iface, frame []byte) {
	f.steps++
	if f.steps > stepsMax || !o.up && o.kind != KindVXLAN {
		return
	}
	switch o.kind {
	case KindAFPacket, KindTap, KindNIC:
		f.Frames = append(f.Frames, Frame{o.index, frame})
	case KindVXLAN:
		f.wrapped(o, frame)
	case KindLoopback:
		if f.isBVI(o) {
			f.bridged(o, 0, frame) // a BVI's own split horizon group does not count (src/vnet/l2/l2_input.c)
		} else {
			f.receive(o, frame) // a loopback hears what it sends
		}
	case KindLocal:
	}
}

// checksum writes an IPv4 header's.
func checksum(packet []byte) {
	packet[ip4Checksum], packet[ip4Checksum+1] = 0, 0
	var sum uint32
	for n := 0; n < ip4Len; n += 2 {
		sum += uint32(binary.BigEndian.Uint16(packet[n:]))
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	binary.BigEndian.PutUint16(packet[ip4Checksum:], ^uint16(sum))
}
