package vppwire

import (
	"net/netip"
	"strconv"
	"strings"

	"go.fd.io/govpp/binapi/af_packet"
	"go.fd.io/govpp/binapi/fib"
	"go.fd.io/govpp/binapi/fib_types"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/interface_types"
	"go.fd.io/govpp/binapi/ip"
	"go.fd.io/govpp/binapi/ip_neighbor"
	"go.fd.io/govpp/binapi/l2"
	"go.fd.io/govpp/binapi/tapv2"
	"go.fd.io/govpp/binapi/vxlan"
)

// DevicePrefix begins the name of every Linux device that we create for a pod; HostVPPDevice and HostLinuxDevice are the
// two ends of the VPP-host interconnect, HostLinuxDevice being the one that Linux uses (upstream's names).
const (
	DevicePrefix    = "vd"
	HostVPPDevice   = "vpp2"
	HostLinuxDevice = "vpp1"
)

// ownDevice reports whether a link of the host's namespace is ours by its name.
func ownDevice(name string) bool {
	return strings.HasPrefix(name, DevicePrefix) || name == HostVPPDevice || name == HostLinuxDevice
}

// ownInterface reports whether a VPP interface is ours by its name: the kinds that we create. A NIC is not.
func ownInterface(name string) bool {
	if device, ok := strings.CutPrefix(name, afPacketPrefix); ok {
		return ownDevice(device)
	}
	_, ok := interfaceKey(name)
	return ok
}

// owned reports whether an object that a dump found, and that nobody wants, is ours to delete. VPP belongs to us: every
// API route, table, bridge and static neighbor of ours is. A NIC's settings and Linux beyond our links are not.
func owned(o Object) bool {
	switch o := o.(type) {
	case Up:
		return ownInterface(o.If)
	case Tag:
		return ownInterface(o.If)
	case MTU:
		return ownInterface(o.If)
	case HardwareAddress:
		return false
	case InTable:
		return ownInterface(o.If)
	case Unnumbered:
		return ownInterface(o.If)
	case Veth:
		return ownDevice(o.Device)
	case LinkState:
		return o.Netns != "" || ownDevice(o.Name)
	case Offload:
		return o.Netns != "" || ownDevice(o.Name)
	case LinuxAddress:
		return o.Netns != "" || ownDevice(o.Link)
	case LinuxRoute:
		return o.Netns != "" || ownDevice(o.Link)
	case LinuxNeighborEntry:
		return o.Netns != "" || ownDevice(o.Link)
	case NeighborConfig:
		return false
	}
	return true
}

func (s *Session) decode(st dumpStep, r Result) {
	switch st.class {
	case dumpInterfaces:
		s.decodeInterfaces(r)
		return
	case dumpInTable:
		if r.index != 0 {
			s.saw(InTable{If: st.name, Table: r.index, IP6: st.ip6})
		}
		return
	case dumpNeighborConfig:
		c := &s.msg.neighborGetRep
		s.saw(NeighborConfig{IP6: st.ip6, MaxNumber: c.MaxNumber, MaxAge: c.MaxAge})
		return
	case dumpLinux:
		s.decodeLinux(st.name, r.shown.linux)
		return
	}
	for _, m := range r.shown.details {
		switch d := m.(type) {
		case *fib.FibSourceDetails:
			if strings.EqualFold(d.Src.Name, "API") {
				s.dump.apiSource, s.dump.apiSourceKnown = d.Src.ID, true
			}
		case *tapv2.SwInterfaceTapV2Details:
			s.decodeTap(d)
		case *af_packet.AfPacketDetails:
			if name := AFPacketName(d.HostIfName); ownInterface(name) {
				s.saw(AFPacket{Device: d.HostIfName, MAC: s.dump.macs[name]})
			}
		case *vxlan.VxlanTunnelV2Details:
			s.saw(VXLAN{Instance: d.Instance, Src: fromAddress(d.SrcAddress), Dst: fromAddress(d.DstAddress), VNI: d.Vni, Table: d.EncapVrfID})
		case *ip.IPTableDetails:
			if d.Table.TableID != 0 {
				s.saw(Table{ID: d.Table.TableID, IP6: d.Table.IsIP6})
			}
			if !d.Table.IsIP6 || s.ip6 {
				s.dump.push(dumpStep{class: dumpRoutes, num: d.Table.TableID, ip6: d.Table.IsIP6})
			}
		case *ip.IPAddressDetails:
			s.decodeAddress(st, d)
		case *ip.IPUnnumberedDetails:
			name := s.interfaceName(uint32(d.SwIfIndex))
			s.saw(Unnumbered{If: name, Donor: s.interfaceName(uint32(d.IPSwIfIndex)), Table: s.tableOf(name, false)})
		case *l2.BridgeDomainDetails:
			s.decodeBridge(d)
		case *l2.L2FibTableDetails:
			if d.StaticMac && !d.BviMac {
				s.saw(FIB{Bridge: st.num, MAC: MAC(d.Mac), If: s.interfaceName(uint32(d.SwIfIndex))})
			}
		case *ip_neighbor.IPNeighborDetails:
			s.decodeNeighbor(d)
		case *ip.IPRouteV2Details:
			s.decodeRoute(&d.Route)
		}
	}
}

// deadPrefix begins the name of an index that no interface has.
const deadPrefix = "#"

// interfaceName is the name of an index; "#7" for an index that no interface has, as left behind by a deleted one.
func (s *Session) interfaceName(index uint32) string {
	if name, ok := s.ifName[index]; ok {
		return name
	}
	return deadPrefix + strconv.FormatUint(uint64(index), 10)
}

// tableOf is the table that an interface is known to be in.
func (s *Session) tableOf(name string, ip6 bool) uint32 {
	k := inTableKey(name, ip6)
	if n := s.find(s.ident(&k)); n != 0 {
		if t, ok := s.at(n).have.(InTable); ok {
			return t.Table
		}
	}
	return 0
}

func (s *Session) decodeInterfaces(r Result) {
	seen := map[string]bool{}
	for _, m := range r.shown.details {
		d, ok := m.(*interfaces.SwInterfaceDetails)
		if !ok || d.InterfaceName == "local0" {
			continue
		}
		name := d.InterfaceName
		fresh := !s.known(name)
		seen[name] = true
		s.bind(name, uint32(d.SwIfIndex))
		if strings.HasPrefix(name, loopbackPrefix) {
			s.saw(Loopback{Instance: instance(name, loopbackPrefix), MAC: MAC(d.L2Address)})
		}
		if d.Flags&interface_types.IF_STATUS_API_FLAG_ADMIN_UP != 0 {
			s.saw(Up{If: name})
		}
		if strings.HasPrefix(name, vxlanPrefix) {
			continue // nothing else of a tunnel is ever set
		}
		s.dump.macs[name], s.dump.tags[name] = MAC(d.L2Address), d.Tag
		if d.Tag != "" && !strings.HasPrefix(name, tapPrefix) {
			s.saw(Tag{If: name, Text: d.Tag})
		}
		if len(d.Mtu) > 0 && d.Mtu[0] != 0 {
			s.saw(MTU{If: name, Bytes: d.Mtu[0]})
		}
		s.saw(HardwareAddress{If: name, MAC: MAC(d.L2Address)})
		if fresh {
			s.dumpL3(name)
		}
	}
	s.dump.push(dumpStep{class: dumpUnnumbered}) // after the tables that it depends on
	s.unbindUnseen(seen)
}

// dumpL3 queues the dumps of one interface's layer 3 settings, which VPP tells only one interface at a time.
func (s *Session) dumpL3(name string) {
	s.dump.push(dumpStep{class: dumpInTable, name: name})
	s.dump.push(dumpStep{class: dumpAddresses, name: name})
	if s.ip6 {
		s.dump.push(dumpStep{class: dumpInTable, name: name, ip6: true})
		s.dump.push(dumpStep{class: dumpAddresses, name: name, ip6: true})
	}
}

func (s *Session) unbindUnseen(seen map[string]bool) {
	if len(seen) == len(s.ifIndex) {
		return
	}
	var gone []string
	//vppdrill:unordered each name is unbound on its own; the order leaves no trace
	for name := range s.ifIndex {
		if !seen[name] {
			gone = append(gone, name)
		}
	}
	for _, name := range gone {
		s.unbind(name)
	}
}

func (s *Session) decodeTap(d *tapv2.SwInterfaceTapV2Details) {
	name := TapName(d.ID)
	s.saw(Tap{
		ID: d.ID, MAC: s.dump.macs[name], Host: d.HostIfName, Netns: d.HostNamespace, HostMAC: MAC(d.HostMacAddr),
		HostMTU: d.HostMtuSize, RxRing: d.RxRingSz, TxRing: d.TxRingSz, Tag: s.dump.tags[name],
	})
}

func (s *Session) decodeAddress(st dumpStep, d *ip.IPAddressDetails) {
	p := netip.PrefixFrom(fromAddress(d.Prefix.Address), int(d.Prefix.Len))
	if p.Addr().Is6() && p.Addr().IsLinkLocalUnicast() {
		return // VPP's own
	}
	s.saw(Address{If: st.name, Addr: p, Table: s.tableOf(st.name, st.ip6)})
}

func (s *Session) decodeBridge(d *l2.BridgeDomainDetails) {
	if d.BdID == 0 {
		return // VPP's own
	}
	odd := d.Learn || d.Flood || d.UuFlood || d.ArpTerm || !d.Forward
	s.saw(Bridge{ID: d.BdID, odd: odd})
	for _, m := range d.SwIfDetails {
		s.saw(Member{Bridge: d.BdID, If: s.interfaceName(uint32(m.SwIfIndex)), BVI: m.SwIfIndex == d.BviSwIfIndex, SHG: m.Shg})
	}
	s.dump.push(dumpStep{class: dumpFIB, num: d.BdID})
}

func (s *Session) decodeNeighbor(d *ip_neighbor.IPNeighborDetails) {
	n := d.Neighbor
	if n.Flags&ip_neighbor.IP_API_NEIGHBOR_FLAG_STATIC == 0 {
		return
	}
	name, ok := s.ifName[uint32(n.SwIfIndex)]
	if !ok {
		s.dump.ghosts[uint32(n.SwIfIndex)] = true
		return
	}
	s.saw(Neighbor{If: name, Addr: fromAddress(n.IPAddress), MAC: MAC(n.MacAddress)})
}

func (s *Session) decodeRoute(r *ip.IPRouteV2) {
	if s.dump.apiSourceKnown && r.Src != s.dump.apiSource || len(r.Paths) == 0 {
		return
	}
	p := &r.Paths[0]
	prefix := fromPrefix(r.Prefix)
	o := Route{Table: r.TableID, Prefix: prefix}
	via := fromUnion(p.Nh.Address, prefix.Addr().Is6())
	switch {
	case p.Type == fib_types.FIB_API_PATH_TYPE_DROP:
		o.Drop = true
	case p.SwIfIndex == allInterfaces && via.IsUnspecified():
		o.ToTable, o.Lookup = true, p.TableID
	default:
		if !via.IsUnspecified() {
			o.Via = via
		}
		if p.SwIfIndex != allInterfaces {
			o.If = s.interfaceName(p.SwIfIndex)
		}
	}
	s.saw(o)
}

func (s *Session) decodeLinux(netns string, state LinuxState) {
	for _, l := range state.Links {
		if netns == "" && l.Type == "veth" && l.Name != HostLinuxDevice {
			s.saw(Veth{Device: l.Name, Peer: l.Peer, PeerNetns: l.PeerNetns})
		}
		if l.Up {
			s.saw(LinkState{Netns: netns, Name: l.Name, MTU: l.MTU, MAC: l.MAC})
		}
		if l.OffloadOff {
			s.saw(Offload{Netns: netns, Name: l.Name})
		}
		for _, a := range l.Addrs {
			if !a.Addr().IsLinkLocalUnicast() {
				s.saw(LinuxAddress{Netns: netns, Link: l.Name, Addr: a})
			}
		}
	}
	for _, r := range state.Routes {
		if !connected(state.Links, r) {
			s.saw(LinuxRoute{Netns: netns, Link: r.Link, Dst: r.Dst, Via: r.Via})
		}
	}
	for _, n := range state.Neighbors {
		s.saw(LinuxNeighborEntry{Netns: netns, Link: n.Link, Addr: n.Addr, MAC: n.MAC})
	}
}

// connected reports whether the kernel made the route for an address of the link.
func connected(links []LinuxLink, r HostRoute) bool {
	if r.Via.IsValid() {
		return false
	}
	if r.Dst.Addr().IsLinkLocalUnicast() {
		return true
	}
	for _, l := range links {
		if l.Name != r.Link {
			continue
		}
		for _, a := range l.Addrs {
			if a.Masked() == r.Dst {
				return true
			}
		}
	}
	return false
}
