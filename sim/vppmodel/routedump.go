package vppmodel

import (
	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/ip"
)

// winners lists the prefixes whose winning source is src; 0 is any, as in ip_route_v2_dump.
func (t *table) winners(src uint8) []prefix {
	return t.prefixes(func(e entry) bool { return src == 0 || e.source == source(src) })
}

func (v *VPP) routeV2Dump(m *ip.IPRouteV2Dump) []api.Message {
	f := familyOf(m.Table.IsIP6)
	t := v.tables[f][m.Table.TableID]
	if t == nil {
		return nil
	}
	ps := t.winners(m.Src)
	details := make([]ip.IPRouteV2Details, len(ps))
	out := make([]api.Message, len(ps))
	for i, p := range ps {
		e, _ := t.get(p)
		paths := v.encodePaths(t, p, e)
		details[i].Route = ip.IPRouteV2{TableID: t.id, Prefix: t.shown(p).api(f), Src: uint8(e.source), NPaths: uint8(len(paths)), Paths: paths}
		out[i] = &details[i]
	}
	return out
}

func (v *VPP) routeV1Dump(m *ip.IPRouteDump) []api.Message {
	out := v.routeV2Dump(&ip.IPRouteV2Dump{Table: m.Table})
	for i, d := range out {
		r := &d.(*ip.IPRouteV2Details).Route
		out[i] = &ip.IPRouteDetails{Route: ip.IPRoute{TableID: r.TableID, Prefix: r.Prefix, NPaths: r.NPaths, Paths: r.Paths}}
	}
	return out
}

// routeLookup is the control plane's lookup: the longest entry that covers a prefix, whether it forwards or not.
func (v *VPP) routeLookup(m *ip.IPRouteLookupV2) (o ip.IPRouteV2, retval int32) {
	f, a := decode(m.Prefix.Address)
	t := v.tables[f][m.TableID]
	if t == nil {
		return o, noSuchFIB
	}
	for _, n := range t.lengths {
		if n > m.Prefix.Len || m.Exact != 0 && n != m.Prefix.Len {
			continue
		}
		p := prefix{a.mask(n), n}
		if e, found := t.get(p); found {
			paths := v.encodePaths(t, p, e)
			return ip.IPRouteV2{TableID: t.id, Prefix: t.shown(p).api(f), Src: uint8(e.source), NPaths: uint8(len(paths)), Paths: paths}, ok
		}
	}
	return o, noSuchEntry
}

func (v *VPP) routeLookupV2(m *ip.IPRouteLookupV2, r *ip.IPRouteLookupV2Reply) int32 {
	route, retval := v.routeLookup(m)
	*r = ip.IPRouteLookupV2Reply{Retval: retval, Route: route}
	return retval
}

func (v *VPP) routeLookupV1(m *ip.IPRouteLookup, r *ip.IPRouteLookupReply) int32 {
	o, retval := v.routeLookup(&ip.IPRouteLookupV2{TableID: m.TableID, Exact: m.Exact, Prefix: m.Prefix})
	*r = ip.IPRouteLookupReply{Retval: retval, Route: ip.IPRoute{TableID: o.TableID, Prefix: o.Prefix, NPaths: o.NPaths, Paths: o.Paths}}
	return retval
}
