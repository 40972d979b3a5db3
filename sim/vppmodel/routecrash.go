package vppmodel

import (
	"go.fd.io/govpp/binapi/fib_types"
	"go.fd.io/govpp/binapi/ip"
)

// routeCrash: what VPP 25.10 dies of when a route comes or goes.
func (v *VPP) routeCrash(m *ip.IPRouteAddDelV2) CrashTrigger {
	f, a := decode(m.Route.Prefix.Address)
	t := v.tables[f][m.Route.TableID]
	if t == nil || m.Route.Prefix.Len > f.bits() {
		return ""
	}
	pfx := prefix{a.mask(m.Route.Prefix.Len), m.Route.Prefix.Len}
	e, there := t.sourced(pfx, sourceAPI)
	if there && v.coversNeighbor(t, pfx, e) {
		return CrashBelowRoute
	}
	if !m.IsAdd && !m.IsMultipath {
		return ""
	}
	for n := range m.Route.Paths {
		p := &m.Route.Paths[n]
		hop := addrOf(f, p.Nh.Address.XXX_UnionData)
		switch i := v.at(p.SwIfIndex); {
		case p.Type == fib_types.FIB_API_PATH_TYPE_ICMP_UNREACH || p.Type == fib_types.FIB_API_PATH_TYPE_ICMP_PROHIBIT:
			return CrashUnreachable
		case p.Type != fib_types.FIB_API_PATH_TYPE_NORMAL:
		case i != nil && hop.isZero() && i.tables[f] != t.id && (m.IsMultipath || len(m.Route.Paths) > 1):
			return CrashAttachedBeside
		case p.SwIfIndex == none && !hop.isZero():
			if via := v.tables[f][p.TableID]; via != nil && v.leadsNowhere(via, hop) {
				return CrashDeadCover
			}
		}
	}
	if m.IsMultipath && there {
		for n := e.paths; n != 0; n = v.paths.nodes[n].next {
			if v.paths.nodes[n].dead {
				return CrashDeadCopied
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
