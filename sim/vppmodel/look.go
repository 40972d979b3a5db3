package vppmodel

import (
	"bytes"
	"iter"
	"net/netip"
)

// Interface is one interface as it is now. Addrs is VPP's own slice: do not change it.
type Interface struct {
	Index      uint32
	Name, Tag  string
	Kind       Kind
	Up         bool
	MAC        [6]byte
	MTU        uint32    // of all of L3, in bytes
	MTU4, MTU6 uint32    // of IPv4 and IPv6, where they are not 0
	LinkMTU    uint32    // the device's own
	Tables     [2]uint32 // IPv4, IPv6
	Addrs      []netip.Prefix
	Unnumbered uint32 // the interface it borrows addresses from, only with Borrows
	Borrows    bool
	NAT        uint8 // 1 inside, 2 outside, 4 output
	Filtered   bool  // IPv4 packets that come in, or frames in a bridge domain, are looked up in a classifier table
	Filtered6  bool  // IPv6 packets are
	// Bridge is the ID of the bridge domain that lists it as a member, 0 for none. Member: it is one, of VPP's own where
	// Bridge is 0.
	Bridge uint32
	Member bool
	BVI    bool
	SHG    uint8
	// Unlisted: a bridge domain's interface that is none of its members, such as the one for unknown unicast.
	Unlisted bool
	// Host is the Linux end of a tap, the device below an AF_PACKET interface or a memif's program while it is connected, HostNetns its namespace as an absolute
	// path. Host is empty where that device is known to be gone.
	Host, HostNetns string
	// Src, Dst, VNI and EncapTable belong to VXLAN tunnels.
	Src, Dst        netip.Addr
	VNI, EncapTable uint32
}

// Interface returns a live interface.
func (v *VPP) Interface(at uint32) (Interface, bool) {
	i := v.at(at)
	if i == nil {
		return Interface{}, false
	}
	return v.look(i), true
}

// Stolen finds the interface of an STN rule.
func (v *VPP) Stolen(addr netip.Addr) (at uint32, found bool) {
	at, found = v.stolen[addr]
	return at, found
}

// ProxiesARP reports whether VPP answers ARP requests for an address by an interface: it is on there, and the address in a range of the
// interface's table (src/vnet/arp/arp_proxy.c, 25.10).
func (v *VPP) ProxiesARP(at uint32, addr netip.Addr) bool {
	i := v.at(at)
	if i == nil || !v.proxied[at] || !addr.Is4() {
		return false
	}
	a := addr.As4()
	for _, r := range v.proxies {
		low, high := r.low.bytes(v4), r.high.bytes(v4)
		if v.placed[r.place] == i.tables[v4] && bytes.Compare(low[:4], a[:]) <= 0 && bytes.Compare(a[:], high[:4]) <= 0 {
			return true
		}
	}
	return false
}

// Interfaces yields all interfaces in ascending index order, local0 first.
func (v *VPP) Interfaces() iter.Seq[Interface] {
	return func(yield func(Interface) bool) {
		for _, i := range v.ifaces {
			if i != nil && !yield(v.look(i)) {
				return
			}
		}
	}
}

func (v *VPP) look(i *iface) Interface {
	o := Interface{Index: i.index, Name: i.name, Tag: i.tag, Kind: i.kind, Up: i.up, MAC: i.mac, MTU: i.mtu[0], MTU4: i.mtu[1], MTU6: i.mtu[2], LinkMTU: uint32(i.linkMTU), Tables: i.tables,
		Addrs: i.addrs, Unnumbered: i.donor, Borrows: i.borrows, BVI: v.isBVI(i), SHG: i.shg, Member: i.member,
		Unlisted: i.bridged && !i.member}
	if f := v.filters[i.index]; f != nil {
		o.Filtered, o.Filtered6 = f.acts[filterOf(i, false)], f.acts[filterIP6]
	}
	if v.nat.on {
		o.NAT = v.nat.sidesOf(i.index)
	}
	if i.member {
		o.Bridge = v.bridges[i.bridge].id
	}
	switch d := i.device.(type) {
	case *tap:
		o.Host, o.HostNetns = d.linuxName(), d.path()
	case *afPacket:
		if d.sits(v) {
			o.Host = d.hostName
		}
	case *memifPort:
		if host, able := v.host.(MemifHost); able && v.memifMet(d) {
			o.Host, o.HostNetns = host.MemifEnd(v.memifs[d.socket].file)
		}
	case *vxlanTunnel:
		o.Src, o.Dst, o.VNI, o.EncapTable = d.src.netip(d.family), d.dst.netip(d.family), d.vni, d.encap
	}
	return o
}

// AFPackets is how many AF_PACKET interfaces there are, with those whose device is gone.
func (v *VPP) AFPackets() int { return len(v.packets) }

// AFPacket finds the AF_PACKET interface that sits on a device of the host.
func (v *VPP) AFPacket(device string) (index uint32, ok bool) {
	for _, i := range v.ifaces {
		if i == nil {
			continue
		}
		if d, is := i.device.(*afPacket); is && d.hostName == device && d.sits(v) {
			return i.index, true
		}
	}
	return 0, false
}

// Tunnel finds the VXLAN tunnel that takes a packet from remote to local on the usual port, whatever its encap table;
// of several, the one with the smallest.
func (v *VPP) Tunnel(local, remote netip.Addr, vni uint32) (uint32, bool) {
	f, src := addrOfNetip(local)
	g, dst := addrOfNetip(remote)
	if f != g {
		return 0, false
	}
	t := vxlanTunnel{src: src, dst: dst, family: f, srcPort: vxlanPort, vni: vni}
	at, found := v.tunnels.find(t.key())
	if !found && len(v.tables[f]) > 1 {
		for id := range v.Tables() {
			t.encap = id
			if at, found = v.tunnels.find(t.key()); found {
				break
			}
		}
	}
	if !found || v.ifaces[at].device.(*vxlanTunnel).src != src {
		return 0, false
	}
	return at, true
}
