package vppmodel

import (
	"slices"

	"go.fd.io/govpp/binapi/fib_types"
	"go.fd.io/govpp/binapi/ip"
	"go.fd.io/govpp/binapi/ip_types"
)

// routeChange is ip_route_add_del of either version. src 0 is the API's own source.
type routeChange struct {
	isAdd, isMultipath bool
	table              uint32
	prefix             ip_types.Prefix
	paths              []fib_types.FibPath
	src                uint8
}

// routeAddDel follows src/vnet/ip/ip_api.c and src/vnet/fib/fib_api.c, the order of checks included: table, then each
// path (also when deleting), then prefix length, then number of paths. Deleting what is not there is success.
func (v *VPP) routeAddDel(c routeChange) (retval int32, statsIndex uint32) {
	f, a := decode(c.prefix.Address)
	t := v.tables[f][c.table]
	if t == nil {
		return noSuchFIB, none
	}
	v.paths.scratch = v.paths.scratch[:0]
	for i := range c.paths {
		p, retval := v.decodePath(&c.paths[i])
		if retval != ok {
			return retval, none
		}
		v.paths.scratch = append(v.paths.scratch, p)
	}
	if c.prefix.Len > f.bits() {
		return invalidPrefixLen, none
	}
	src := sourceAPI
	if c.src != 0 {
		src = source(c.src)
	}
	pfx := prefix{a.mask(c.prefix.Len), c.prefix.Len}
	paths := v.paths.scratch
	attached := func() bool { return src == sourceAPI && len(paths) > 0 && paths[len(paths)-1].attaches() }
	e := entry{source: src, attached: attached()} // by the order in which they were given, where they are taken away
	if len(paths) > 1 {
		slices.SortStableFunc(paths, func(p, q path) int { return p.compareGiven(q, f, pfx) })
	}
	if c.isAdd {
		e.attached = attached()
	}
	for i := range paths {
		paths[i].fit(f, pfx, a)
	}
	if len(paths) == 0 && (c.isAdd || c.isMultipath) {
		return noPathsInRoute, none
	}
	switch {
	case c.isMultipath && c.isAdd:
		paths = v.withMembers(t, pfx, src, paths)
	case c.isMultipath:
		paths = v.withoutMembers(t, pfx, src, paths)
		if len(paths) == 0 {
			v.unroute(t, pfx, src)
			return ok, none
		}
	case !c.isAdd:
		v.unroute(t, pfx, src)
		return ok, none
	}
	list := v.setRouteAs(t, pfx, a, e, paths)
	if !c.isAdd {
		list = none
	}
	return ok, list
}

// setRoute makes the paths those of e's source. The new list is found before the old one is let go: a dead list is
// joined again by the very route that holds it.
func (v *VPP) setRoute(t *table, pfx prefix, e entry, paths []path) uint32 {
	if len(paths) > 1 {
		slices.SortStableFunc(paths, path.compare)
	}
	e.paths = v.hold(paths)
	if old, replaced := t.put(pfx, e); replaced {
		v.release(old.paths)
	}
	return e.paths
}

// setRouteAs is setRoute for a prefix that was given as an address and a length.
func (v *VPP) setRouteAs(t *table, pfx prefix, given addr, e entry, paths []path) uint32 {
	if given != pfx.addr {
		if _, there := t.get(pfx); !there {
			if t.names == nil {
				t.names = make(map[prefix]addr)
			}
			t.names[pfx] = given
		}
	}
	return v.setRoute(t, pfx, e, paths)
}

func (v *VPP) unroute(t *table, pfx prefix, src source) {
	if old, found := t.remove(pfx, src, 0); found {
		v.release(old.paths)
	}
}

// decodePath checks a path as fib_api_path_decode does.
func (v *VPP) decodePath(m *fib_types.FibPath) (path, int32) {
	p := path{iface: m.SwIfIndex, weight: max(m.Weight, 1), preference: m.Preference}
	switch m.Proto {
	case fib_types.FIB_API_PATH_NH_PROTO_IP4:
	case fib_types.FIB_API_PATH_NH_PROTO_IP6:
		p.family = v6
	case fib_types.FIB_API_PATH_NH_PROTO_MPLS, fib_types.FIB_API_PATH_NH_PROTO_ETHERNET, fib_types.FIB_API_PATH_NH_PROTO_BIER:
		return p, badNextHopFamily // a gap: VPP has these
	default:
		return p, unspecified
	}
	if m.NLabels > 0 {
		return p, unimplemented
	}
	switch m.Type {
	case fib_types.FIB_API_PATH_TYPE_DROP:
		p.kind, p.iface = pathDrop, none
	case fib_types.FIB_API_PATH_TYPE_ICMP_UNREACH:
		p.kind, p.iface = pathUnreachable, none
	case fib_types.FIB_API_PATH_TYPE_ICMP_PROHIBIT:
		p.kind, p.iface = pathProhibited, none
	case fib_types.FIB_API_PATH_TYPE_LOCAL:
		p.kind = pathLocal
	case fib_types.FIB_API_PATH_TYPE_NORMAL:
		return v.decodeNormal(p, m)
	default:
		return p, unimplemented
	}
	return p, ok
}

func (v *VPP) decodeNormal(p path, m *fib_types.FibPath) (path, int32) {
	p.addr = addrOf(p.family, m.Nh.Address.XXX_UnionData)
	if m.SwIfIndex != none {
		if v.at(m.SwIfIndex) == nil {
			return p, noInterface
		}
		p.kind = pathNextHop
		if p.addr.isZero() {
			p.kind = pathAttached
		}
		return p, ok
	}
	if m.RpfID != 0 && m.RpfID != none {
		return p, unimplemented
	}
	t := v.tables[p.family][m.TableID]
	if t == nil {
		return p, noSuchFIB
	}
	p.table, p.fib, p.kind = m.TableID, uint16(t.at), pathRecursive
	if p.addr.isZero() {
		p.kind = pathLookup
	}
	return p, ok
}

// fit adapts a path to its route as fib_table_route_path_fixup does: a host route out of an interface is adjacent to
// its own address, and a recursive path through its own prefix, as that was given, is a drop.
func (p *path) fit(f family, pfx prefix, given addr) {
	switch {
	case p.kind == pathAttached && pfx.bits == f.bits():
		p.kind, p.addr, p.family = pathNextHop, pfx.addr, f
	case p.kind == pathRecursive && p.addr == given:
		*p = path{kind: pathDrop, iface: none, family: p.family, weight: p.weight, preference: p.preference}
	}
}

// withMembers returns a source's present paths and those of more that are not among them
// (fib_path_list_copy_and_path_add: the new ones are not compared with each other).
func (v *VPP) withMembers(t *table, pfx prefix, src source, more []path) []path {
	e, found := t.sourced(pfx, src)
	if !found {
		return more
	}
	present := v.members(e.paths)
	all := slices.Clone(present)
	for _, p := range more {
		if !slices.ContainsFunc(present, p.like) {
			all = append(all, p)
		}
	}
	return all
}

// withoutMembers returns a source's present paths, each of less taken away once; the last one moves to its place, as
// VPP's vectors do, which shows where the order of equal paths is concerned.
func (v *VPP) withoutMembers(t *table, pfx prefix, src source, less []path) []path {
	e, found := t.sourced(pfx, src)
	if !found {
		return nil
	}
	left := v.members(e.paths)
	for _, p := range less {
		if i := slices.IndexFunc(left, p.like); i >= 0 {
			left[i] = left[len(left)-1]
			left = left[:len(left)-1]
		}
	}
	return left
}

func (v *VPP) members(list uint32) []path {
	var all []path
	for i := list; i != 0; i = v.paths.nodes[i].next {
		all = append(all, v.paths.nodes[i].path)
	}
	return all
}

// encodePaths returns the paths of an entry as dumps show them: as configured, even where the interface is gone.
func (v *VPP) encodePaths(t *table, pfx prefix, e entry) []fib_types.FibPath {
	if e.source == sourceAdjacency {
		return v.encodeAdjacencies(t, pfx, e)
	}
	out := make([]fib_types.FibPath, 0, 1)
	for i := e.paths; i != 0; i = v.paths.nodes[i].next {
		out = append(out, v.paths.nodes[i].path.encode())
	}
	return out
}

// encodeAdjacencies returns one path for each neighbor of the address.
func (v *VPP) encodeAdjacencies(t *table, pfx prefix, e entry) []fib_types.FibPath {
	f, ifaces := t.family, []uint32{e.paths}
	for _, o := range t.others[pfx] {
		if o.source == sourceAdjacency {
			ifaces = append(ifaces, o.paths)
		}
	}
	slices.Sort(ifaces)
	out := make([]fib_types.FibPath, len(ifaces))
	for i, at := range ifaces {
		out[i] = fib_types.FibPath{SwIfIndex: at, Weight: 1, Proto: fib_types.FibPathNhProto(f),
			Nh: fib_types.FibPathNh{Address: pfx.addr.union(f)}}
	}
	return out
}

func (p *path) encode() fib_types.FibPath {
	m := fib_types.FibPath{SwIfIndex: p.iface, Weight: p.weight, Preference: p.preference,
		Proto: fib_types.FibPathNhProto(p.family)}
	switch p.kind {
	case pathDrop:
		m.Type = fib_types.FIB_API_PATH_TYPE_DROP
	case pathUnreachable:
		m.Type = fib_types.FIB_API_PATH_TYPE_ICMP_UNREACH
	case pathProhibited:
		m.Type = fib_types.FIB_API_PATH_TYPE_ICMP_PROHIBIT
	case pathLocal:
		if p.private && p.iface == none {
			break // VPP's own entries of this kind have a forwarding object and no path that could be named
		}
		m.Type = fib_types.FIB_API_PATH_TYPE_LOCAL
		m.Nh.Address = p.addr.union(p.family)
	case pathLookup:
		m.TableID = p.table
	case pathRecursive:
		m.TableID = p.table
		m.Nh.Address = p.addr.union(p.family)
	case pathNextHop:
		m.Nh.Address = p.addr.union(p.family)
	case pathAttached:
	}
	return m
}

func (v *VPP) routeV2(m *ip.IPRouteAddDelV2, r *ip.IPRouteAddDelV2Reply) int32 {
	retval, stats := v.routeAddDel(routeChange{m.IsAdd, m.IsMultipath, m.Route.TableID, m.Route.Prefix, m.Route.Paths, m.Route.Src})
	*r = ip.IPRouteAddDelV2Reply{Retval: retval, StatsIndex: stats}
	return retval
}

func (v *VPP) routeV1(m *ip.IPRouteAddDel, r *ip.IPRouteAddDelReply) int32 {
	retval, stats := v.routeAddDel(routeChange{m.IsAdd, m.IsMultipath, m.Route.TableID, m.Route.Prefix, m.Route.Paths, 0})
	*r = ip.IPRouteAddDelReply{Retval: retval, StatsIndex: stats}
	return retval
}
