package vppwire

import (
	"errors"
	"slices"
	"strconv"
	"time"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/af_packet"
	"go.fd.io/govpp/binapi/fib"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/ip"
	"go.fd.io/govpp/binapi/ip_neighbor"
	"go.fd.io/govpp/binapi/ip_types"
	"go.fd.io/govpp/binapi/l2"
	"go.fd.io/govpp/binapi/tapv2"
	"go.fd.io/govpp/binapi/vxlan"
)

// dumpClass is one way of looking: one dump message, or one of its kind per interface, table or namespace.
type dumpClass uint8

const (
	dumpSources dumpClass = iota + 1
	dumpInterfaces
	dumpTaps
	dumpAFPackets
	dumpTunnels
	dumpTables
	dumpInTable
	dumpAddresses
	dumpUnnumbered
	dumpBridges
	dumpFIB
	dumpNeighbors
	dumpRoutes
	dumpNeighborConfig
	dumpLinux
)

// dumpStep is one dump to make.
type dumpStep struct {
	class dumpClass
	// name is an interface or a namespace, num a table or a bridge.
	name string
	num  uint32
	ip6  bool
}

func (st dumpStep) appendText(b []byte) []byte {
	if st.name != "" {
		b = appendWord(append(b, ' '), st.name)
	}
	if st.num != 0 {
		b = appendUint(append(b, ' '), st.num)
	}
	if st.ip6 {
		b = append(b, " ip6"...)
	}
	return b
}

// dumper knows which dumps are due and what they have taught so far beyond objects.
type dumper struct {
	steps []dumpStep
	mark  uint32
	// notBefore is when a refused dump is tried again. Nothing else is done before: what is there is not known.
	notBefore time.Time
	// apiSource is VPP's number of the FIB source "API", once known.
	apiSource      uint8
	apiSourceKnown bool
	// ghosts are dead interface indexes that static neighbors still name.
	ghosts map[uint32]bool
	// macs and tags of interfaces by name, between the interface dump and the dumps that need them.
	macs map[string]MAC
	tags map[string]string
}

func (d *dumper) reset() {
	d.ghosts, d.macs, d.tags = map[uint32]bool{}, map[string]MAC{}, map[string]string{}
}

// all queues every dump of a node whose state is not known; what interfaces, tables and bridges there are adds more.
func (d *dumper) all(ip6 bool) {
	d.steps = d.steps[:0]
	clear(d.ghosts)
	for _, c := range [...]dumpClass{dumpSources, dumpInterfaces, dumpTaps, dumpAFPackets, dumpTunnels, dumpTables,
		dumpBridges, dumpNeighbors, dumpNeighborConfig} {
		d.steps = append(d.steps, dumpStep{class: c})
		if ip6 && (c == dumpNeighbors || c == dumpNeighborConfig) {
			d.steps = append(d.steps, dumpStep{class: c, ip6: true})
		}
	}
	d.steps = append(d.steps, dumpStep{class: dumpLinux})
}

// again puts a step that brought nothing back to where it was: in front.
func (d *dumper) again(st dumpStep) {
	if !slices.Contains(d.steps, st) {
		d.steps = slices.Insert(d.steps, 0, st)
	}
}

// push queues a step unless it is queued already. The interface dump comes before whatever is queued: the others name
// interfaces that it tells of.
func (d *dumper) push(st dumpStep) {
	switch {
	case slices.Contains(d.steps, st):
	case st.class == dumpInterfaces:
		d.steps = slices.Insert(d.steps, 0, st)
	default:
		d.steps = append(d.steps, st)
	}
}

// doubtObject queues the dumps that tell what became of o.
func (s *Session) doubtObject(o Object) {
	k := o.Key()
	d := &s.dump
	switch k.Kind {
	case KindVeth:
		d.push(dumpStep{class: dumpLinux})
		if v := o.(Veth); v.PeerNetns != "" {
			d.push(dumpStep{class: dumpLinux, name: v.PeerNetns})
		}
	case KindLinuxLink, KindOffload, KindLinuxAddress, KindLinuxRoute, KindLinuxNeighbor:
		d.push(dumpStep{class: dumpLinux, name: k.Netns})
	case KindLoopback, KindTag, KindMAC, KindMTU, KindUp:
		d.push(dumpStep{class: dumpInterfaces})
	case KindTap:
		d.push(dumpStep{class: dumpInterfaces})
		d.push(dumpStep{class: dumpTaps})
	case KindAFPacket:
		d.push(dumpStep{class: dumpInterfaces})
		d.push(dumpStep{class: dumpAFPackets})
	case KindVXLAN:
		d.push(dumpStep{class: dumpInterfaces})
		d.push(dumpStep{class: dumpTunnels})
	case KindTable:
		d.push(dumpStep{class: dumpTables})
	case KindInTable:
		d.push(dumpStep{class: dumpInTable, name: k.Name, ip6: k.Num == 6})
	case KindAddress:
		d.push(dumpStep{class: dumpAddresses, name: k.Name, ip6: k.Prefix.Addr().Is6()})
	case KindUnnumbered:
		d.push(dumpStep{class: dumpUnnumbered})
	case KindBridge, KindBridgeMember:
		d.push(dumpStep{class: dumpBridges})
	case KindFIB:
		d.push(dumpStep{class: dumpFIB, num: k.Num})
	case KindNeighbor:
		d.push(dumpStep{class: dumpNeighbors, ip6: k.Prefix.Addr().Is6()})
	case KindRoute:
		d.push(dumpStep{class: dumpRoutes, num: k.Num, ip6: k.Prefix.Addr().Is6()})
	case KindNeighborConfig:
		d.push(dumpStep{class: dumpNeighborConfig, ip6: k.Num == 6})
	default:
		panic("vppwire: no dump tells about " + k.String())
	}
}

// nextDump fills the call with the next dump that is due.
func (s *Session) nextDump() bool {
	d := &s.dump
	for len(d.steps) > 0 {
		st := d.steps[0]
		d.steps = d.steps[1:]
		if (st.class == dumpInTable || st.class == dumpAddresses) && !s.known(st.name) {
			s.reconcile(st, d.mark+1) // the interface is gone, and with it what hung on it
			d.mark++
			continue
		}
		s.call.verb, s.call.step = VerbDump, st
		s.fillDump(st)
		return true
	}
	return false
}

func (s *Session) known(name string) bool { _, ok := s.ifIndex[name]; return ok }

func (s *Session) fillDump(st dumpStep) {
	r, m := &s.call, &s.msg
	af := ip_types.ADDRESS_IP4
	if st.ip6 {
		af = ip_types.ADDRESS_IP6
	}
	dump := func(name string, req api.Message) { r.name, r.req = name, req }
	switch st.class {
	case dumpSources:
		dump("fib_source_dump", &fib.FibSourceDump{})
	case dumpInterfaces:
		dump("sw_interface_dump", &interfaces.SwInterfaceDump{SwIfIndex: allInterfacesIndex})
	case dumpTaps:
		dump("sw_interface_tap_v2_dump", &tapv2.SwInterfaceTapV2Dump{SwIfIndex: allInterfacesIndex})
	case dumpAFPackets:
		dump("af_packet_dump", &af_packet.AfPacketDump{})
	case dumpTunnels:
		dump("vxlan_tunnel_v2_dump", &vxlan.VxlanTunnelV2Dump{SwIfIndex: allInterfacesIndex})
	case dumpTables:
		dump("ip_table_dump", &ip.IPTableDump{})
	case dumpInTable:
		m.getTable = interfaces.SwInterfaceGetTable{SwIfIndex: s.swIfIndex(st.name), IsIPv6: st.ip6}
		r.invoke("sw_interface_get_table", &m.getTable, &m.getTableReply, &m.getTableReply.Retval)
	case dumpAddresses:
		dump("ip_address_dump", &ip.IPAddressDump{SwIfIndex: s.swIfIndex(st.name), IsIPv6: st.ip6})
	case dumpUnnumbered:
		dump("ip_unnumbered_dump", &ip.IPUnnumberedDump{SwIfIndex: allInterfacesIndex})
	case dumpBridges:
		dump("bridge_domain_dump", &l2.BridgeDomainDump{BdID: allInterfaces, SwIfIndex: allInterfacesIndex})
	case dumpFIB:
		dump("l2_fib_table_dump", &l2.L2FibTableDump{BdID: st.num})
	case dumpNeighbors:
		dump("ip_neighbor_dump", &ip_neighbor.IPNeighborDump{SwIfIndex: allInterfacesIndex, Af: af})
	case dumpRoutes:
		dump("ip_route_v2_dump", &ip.IPRouteV2Dump{Src: s.dump.apiSource, Table: ip.IPTable{TableID: st.num, IsIP6: st.ip6}})
	case dumpNeighborConfig:
		m.neighborGet.Af = af
		r.invoke("ip_neighbor_config_get", &m.neighborGet, &m.neighborGetRep, &m.neighborGetRep.Retval)
	case dumpLinux:
		r.name = "linux_dump"
	default:
		panic("vppwire: unknown dump " + strconv.Itoa(int(st.class)))
	}
}

// feedDump takes a dump's answer: what it shows is there, and what it would show and does not, is not.
func (s *Session) feedDump(r Result, now time.Time) {
	st := s.call.step
	if r.Err != nil && !st.gone(r.Err) {
		s.dump.again(st)
		s.dump.notBefore = now.Add(retryFirst)
		return
	}
	s.dump.mark++
	mark := s.dump.mark
	s.decode(st, r)
	s.reconcile(st, mark)
	if len(s.dump.steps) == 0 {
		clear(s.dump.macs)
		clear(s.dump.tags)
	}
}

// gone reports whether a refused dump says that what it asks about does not exist: then nothing on it does.
func (st dumpStep) gone(err error) bool {
	switch st.class {
	case dumpLinux:
		return errors.Is(err, ErrNoNamespace)
	case dumpInTable, dumpAddresses:
		return errors.Is(err, api.INVALID_SW_IF_INDEX)
	}
	return false
}

// saw notes that a dump showed o. What we neither want nor own is none of our business.
func (s *Session) saw(o Object) {
	k := o.Key()
	id := s.ident(&k)
	n := s.find(id)
	if n == 0 || s.at(n).want == nil && s.at(n).have == nil {
		if !owned(o) {
			return
		}
		if n == 0 {
			n = s.add(id)
		}
	}
	s.at(n).mark = s.dump.mark
	s.setHave(n, o)
}

// reconcile forgets what step st would have shown, had it been there.
func (s *Session) reconcile(st dumpStep, mark uint32) {
	if st.class == dumpLinux && st.name != "" {
		if ns := int(s.names.number(st.name)); ns >= len(s.inNetns) || s.inNetns[ns] == 0 {
			return // a new pod's namespace: nothing to forget, and a node has thousands of entries to look through
		}
	}
	for n := uint32(1); n <= s.used; n++ {
		e := s.at(n)
		if e.have != nil && e.mark != mark && st.covers(s, e.have) {
			s.forget(n)
		}
	}
}

// covers reports whether the step would have shown o.
func (st dumpStep) covers(s *Session, have Object) bool {
	switch o := have.(type) {
	case Loopback:
		return st.class == dumpInterfaces
	case Up:
		return st.class == dumpInterfaces
	case MTU:
		return st.class == dumpInterfaces
	case HardwareAddress:
		return st.class == dumpInterfaces
	case Tag:
		return st.class == dumpInterfaces
	case Tap:
		return st.class == dumpTaps
	case AFPacket:
		return st.class == dumpAFPackets
	case VXLAN:
		return st.class == dumpTunnels
	case Table:
		return st.class == dumpTables
	case InTable:
		return st.class == dumpInTable && st.name == o.If && st.ip6 == o.IP6 || st.class == dumpInterfaces && !s.known(o.If)
	case Address:
		return st.class == dumpAddresses && st.name == o.If && st.ip6 == o.Addr.Addr().Is6() || st.class == dumpInterfaces && !s.known(o.If)
	case Unnumbered:
		return st.class == dumpUnnumbered
	case Bridge, Member:
		return st.class == dumpBridges
	case FIB:
		return st.class == dumpFIB && st.num == o.Bridge
	case Neighbor:
		return st.class == dumpNeighbors && st.ip6 == o.Addr.Is6()
	case Route:
		ip6 := o.Prefix.Addr().Is6()
		return st.class == dumpRoutes && st.num == o.Table && st.ip6 == ip6 ||
			st.class == dumpTables && (!ip6 || s.ip6) && !slices.Contains(s.dump.steps, dumpStep{class: dumpRoutes, num: o.Table, ip6: ip6})
	case NeighborConfig:
		return st.class == dumpNeighborConfig && st.ip6 == o.IP6
	case Veth:
		return st.class == dumpLinux && st.name == ""
	case LinkState:
		return st.class == dumpLinux && st.name == o.Netns
	case Offload:
		return st.class == dumpLinux && st.name == o.Netns
	case LinuxAddress:
		return st.class == dumpLinux && st.name == o.Netns
	case LinuxRoute:
		return st.class == dumpLinux && st.name == o.Netns
	case LinuxNeighborEntry:
		return st.class == dumpLinux && st.name == o.Netns
	}
	panic("vppwire: unknown object " + have.Key().String())
}
