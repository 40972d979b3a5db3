package vppmodel

import (
	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/fib_types"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/ip"
	"go.fd.io/govpp/binapi/ip_neighbor"
	"go.fd.io/govpp/binapi/l2"
	"go.fd.io/govpp/binapi/vxlan"
)

// Doom names what a real VPP 25.10 dies of, or what breaks its memory so that it dies later. The empty Doom is none. Each was seen
// on a real one; sim/parity/transcript has the same names with the whole story.
type Doom string

// What a real VPP 25.10 dies of.
const (
	DoomLocal0           Doom = "local0"                    // a neighbor on local0, or local0 in a bridge domain
	DoomNeighbor         Doom = "neighbor-without-ethernet" // a neighbor on an interface without Ethernet
	DoomBVI              Doom = "bvi-without-ethernet"      // an interface without Ethernet becomes a BVI
	DoomBridgedLoopback  Doom = "bridged-loopback"          // a loopback is an ordinary member of a bridge domain, and hears itself
	DoomARPToNowhere     Doom = "arp-to-nowhere"            // ARP is for the interface of unknown unicast, and there is none
	DoomTableOfTunnel    Doom = "table-of-tunnel"           // the table that a tunnel sends through goes
	DoomTableInUse       Doom = "table-in-use"              // the table that an interface is bound to goes
	DoomTableWithRoutes  Doom = "table-deleted-with-routes" // a table goes before its routes, which a later table may inherit
	DoomDeadNeighbor     Doom = "dead-neighbor"             // an address is a static neighbor on an interface that is gone, and one on another
	DoomDeadFlushed      Doom = "dead-path-flushed"         // a table is flushed that has routes out of an interface that is gone
	DoomDeadCover        Doom = "dead-cover"                // something resolves through a route out of an interface that is gone
	DoomDeadCopied       Doom = "dead-path-copied"          // a path is added to or taken from such a route
	DoomUnreachable      Doom = "unreachable-paths"         // a path answers with an ICMP error
	DoomAttachedBeside   Doom = "attached-beside-others"    // a path is attached to an interface of another table, beside other paths
	DoomBelowRoute       Doom = "neighbor-below-its-route"  // a recursive route goes that covers its next hop, which is a neighbor
	DoomBorrowerWithOwn  Doom = "borrower-with-addresses"   // an interface borrows addresses and has or lends some
	DoomAddressOtherwise Doom = "address-of-other-length"   // an address is deleted with another length than it has
)

// Foresee says what a real VPP would die of if it were asked m now, or because of it some time later. It looks at what there is,
// not at what has been: sim/parity knows some more that only a history tells, all of them about routes attached to an interface of
// another table. m itself is not performed.
func (v *VPP) Foresee(m api.Message) Doom {
	switch m := m.(type) {
	case *ip_neighbor.IPNeighborAddDel:
		if m.IsAdd {
			return v.foreseeNeighbor(&m.Neighbor)
		}
	case *l2.SwInterfaceSetL2Bridge:
		return v.foreseeMember(m)
	case *l2.BridgeFlags: // a bridge domain without members forwards nothing
		if b := v.bridgeOf(m.BdID); m.IsSet && m.Flags&l2.BRIDGE_API_FLAG_ARP_UFWD != 0 && b != nil && b.uuFwd == none && len(b.members) > 0 {
			return DoomARPToNowhere
		}
	case *ip.IPTableAddDelV2:
		if !m.IsAdd {
			return v.foreseeTable(&m.Table)
		}
	case *ip.IPTableFlush:
		if t := v.tables[familyOf(m.Table.IsIP6)][m.Table.TableID]; t != nil && v.hasDead(t) {
			return DoomDeadFlushed
		}
	case *vxlan.VxlanAddDelTunnelV3:
		f, dst := decode(m.DstAddress)
		if t := v.tables[f][m.EncapVrfID]; m.IsAdd && t != nil && v.leadsNowhere(t, dst) {
			return DoomDeadCover
		}
	case *interfaces.SwInterfaceAddDelAddress:
		return v.foreseeAddress(m)
	case *interfaces.SwInterfaceSetUnnumbered:
		b, d := v.at(uint32(m.UnnumberedSwIfIndex)), v.at(uint32(m.SwIfIndex))
		if m.IsAdd && b != nil && d != nil && (len(b.addrs) > 0 || b == d || d.borrows || v.lends(b)) {
			return DoomBorrowerWithOwn
		}
	case *ip.IPRouteAddDelV2:
		return v.foreseeRoute(m)
	}
	return ""
}

func (v *VPP) foreseeNeighbor(n *ip_neighbor.IPNeighbor) Doom {
	i := v.at(uint32(n.SwIfIndex))
	switch {
	case i == nil:
		return ""
	case i.kind == KindLocal:
		return DoomLocal0
	case !i.ethernet:
		return DoomNeighbor
	}
	f, a := decode(n.IPAddress)
	for at := range uint32(len(v.neighborsOn)) {
		if v.neighborsOn[at] == 0 || v.at(at) != nil {
			continue
		}
		if old, left := v.neighbors[neighborKey{a, at, f}]; left && old.static {
			return DoomDeadNeighbor
		}
	}
	return ""
}

func (v *VPP) foreseeMember(m *l2.SwInterfaceSetL2Bridge) Doom {
	i := v.at(uint32(m.RxSwIfIndex))
	b := v.bridgeOf(m.BdID)
	bvi := m.PortType == l2.L2_API_PORT_TYPE_BVI
	switch {
	case i == nil || !m.Enable:
	case i.kind == KindLocal:
		return DoomLocal0
	case bvi && !i.ethernet:
		return DoomBVI
	case !bvi && i.kind == KindLoopback:
		return DoomBridgedLoopback
	case m.PortType != l2.L2_API_PORT_TYPE_UU_FWD && b != nil && b.has(l2.BRIDGE_API_FLAG_ARP_UFWD) && b.uuFwd == none:
		return DoomARPToNowhere
	}
	return ""
}

func (v *VPP) foreseeTable(m *ip.IPTable) Doom {
	f := familyOf(m.IsIP6)
	t := v.tables[f][m.TableID]
	if t == nil || t.id == 0 {
		return ""
	}
	for _, i := range v.ifaces {
		if i == nil {
			continue
		}
		if d, is := i.device.(*vxlanTunnel); is && d.family == f && d.encap == t.id {
			return DoomTableOfTunnel
		}
		if i.tables[f] == t.id {
			return DoomTableInUse
		}
	}
	if len(t.prefixes(func(e entry) bool { return e.source.isClient() })) > 0 {
		return DoomTableWithRoutes
	}
	return ""
}

func (v *VPP) foreseeAddress(m *interfaces.SwInterfaceAddDelAddress) Doom {
	i := v.at(uint32(m.SwIfIndex))
	if i == nil || m.DelAll {
		return ""
	}
	f, a := decode(m.Prefix.Address)
	switch {
	case m.IsAdd && i.borrows:
		return DoomBorrowerWithOwn
	case m.IsAdd && v.leadsNowhere(v.table(i, f), a):
		return DoomDeadCover
	case m.IsAdd:
		return ""
	}
	for _, p := range i.addrs {
		if p.Addr() == a.netip(f) && p.Bits() != int(m.Prefix.Len) {
			return DoomAddressOtherwise
		}
	}
	return ""
}

func (v *VPP) foreseeRoute(m *ip.IPRouteAddDelV2) Doom {
	f, a := decode(m.Route.Prefix.Address)
	t := v.tables[f][m.Route.TableID]
	if t == nil || m.Route.Prefix.Len > f.bits() {
		return ""
	}
	pfx := prefix{a.mask(m.Route.Prefix.Len), m.Route.Prefix.Len}
	e, there := t.sourced(pfx, sourceAPI)
	if there && v.coversNeighbor(t, pfx, e) {
		return DoomBelowRoute
	}
	if !m.IsAdd && !m.IsMultipath {
		return ""
	}
	for n := range m.Route.Paths {
		p := &m.Route.Paths[n]
		hop := addrOf(f, p.Nh.Address.XXX_UnionData)
		switch i := v.at(p.SwIfIndex); {
		case p.Type == fib_types.FIB_API_PATH_TYPE_ICMP_UNREACH || p.Type == fib_types.FIB_API_PATH_TYPE_ICMP_PROHIBIT:
			return DoomUnreachable
		case p.Type != fib_types.FIB_API_PATH_TYPE_NORMAL:
		case i != nil && hop.isZero() && i.tables[f] != t.id && (m.IsMultipath || len(m.Route.Paths) > 1):
			return DoomAttachedBeside
		case p.SwIfIndex == none && !hop.isZero():
			if via := v.tables[f][p.TableID]; via != nil && v.leadsNowhere(via, hop) {
				return DoomDeadCover
			}
		}
	}
	if m.IsMultipath && there {
		for n := e.paths; n != 0; n = v.paths.nodes[n].next {
			if v.paths.nodes[n].dead {
				return DoomDeadCopied
			}
		}
	}
	return ""
}

// coversNeighbor reports whether a route's next hop is covered by the route itself and is a neighbor's address.
func (v *VPP) coversNeighbor(t *table, pfx prefix, e entry) bool {
	for n := e.paths; n != 0; n = v.paths.nodes[n].next {
		p := &v.paths.nodes[n].path
		if p.kind != pathRecursive || p.table != t.id || p.addr.mask(pfx.bits) != pfx.addr {
			continue
		}
		if _, there := t.sourced(prefix{p.addr, t.family.bits()}, sourceAdjacency); there {
			return true
		}
	}
	return false
}

// leadsNowhere reports whether an address is looked up as a route out of an interface that is gone, or one that answers with an ICMP
// error.
func (v *VPP) leadsNowhere(t *table, a addr) bool {
	r := v.lookup(t, a)
	return r.dropped || r.path.kind == pathUnreachable || r.path.kind == pathProhibited
}

// hasDead reports whether a client's route of a table has lost an interface.
func (v *VPP) hasDead(t *table) bool {
	return len(t.prefixes(func(e entry) bool {
		if !e.source.isClient() {
			return false
		}
		_, alive := v.paths.working(e.paths)
		return !alive
	})) > 0
}

// lends reports whether another interface borrows an interface's addresses.
func (v *VPP) lends(i *iface) bool {
	for _, o := range v.ifaces {
		if o != nil && o.borrows && o.donor == i.index {
			return true
		}
	}
	return false
}
