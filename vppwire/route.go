package vppwire

import (
	"net/netip"
	"strings"

	"go.fd.io/govpp/binapi/fib_types"
)

// Route is a static route of one path. Exactly one of three forms: Drop; Lookup in another table; a next hop, where an
// empty If is resolved recursively in the same table.
type Route struct {
	Table  uint32
	Prefix netip.Prefix // masked
	Drop   bool
	// ToTable looks the packet up again in table Lookup.
	ToTable bool
	Lookup  uint32
	Via     netip.Addr
	If      string
}

// Key implements Object.
func (o Route) Key() Key { return Key{Kind: KindRoute, Num: o.Table, Prefix: o.Prefix} }

// AppendNeeds implements Object.
func (o Route) AppendNeeds(keys []Key) []Key {
	ip6 := o.Prefix.Addr().Is6()
	keys = needTable(keys, o.Table, ip6)
	if o.ToTable {
		keys = needTable(keys, o.Lookup, ip6)
	}
	if o.If != "" {
		keys = needInterface(keys, o.If)
	}
	return keys
}

// AppendText implements Object: "route table 1 10.1.2.0/24 via 192.168.30.2 loop0", "… drop", "… lookup 0".
func (o Route) AppendText(b []byte) []byte {
	b = appendNumber(append(b, "route"...), "table", uint64(o.Table))
	b = o.Prefix.AppendTo(append(b, ' '))
	switch {
	case o.Drop:
		return append(b, " drop"...)
	case o.ToTable:
		return appendNumber(b, "lookup", uint64(o.Lookup))
	}
	b = append(b, " via"...)
	if o.Via.IsValid() {
		b = o.Via.AppendTo(append(b, ' '))
	}
	if o.If != "" {
		b = appendWord(append(b, ' '), o.If)
	}
	return b
}

func (o Route) sweptBy() (Key, bool) { return Key{}, false }

// replaces: without the multipath flag an addition replaces all paths at once, without a gap. A route through a dead
// interface has to go first: VPP keeps its dead path, and an addition would join it.
func (o Route) replaces(old Object) bool {
	r, ok := old.(Route)
	return ok && !strings.HasPrefix(r.If, deadPrefix)
}

func (o Route) fill(s *Session, r *request, add bool) {
	m := &s.msg
	p := &m.routePath[0]
	*p = fib_types.FibPath{SwIfIndex: allInterfaces}
	if o.Prefix.Addr().Is6() {
		p.Proto = fib_types.FIB_API_PATH_NH_PROTO_IP6
	}
	switch {
	case o.Drop:
		p.Type = fib_types.FIB_API_PATH_TYPE_DROP
	case o.ToTable:
		p.TableID = o.Lookup
	default:
		p.TableID = o.Table
		if o.Via.IsValid() {
			p.Nh.Address = toAddress(o.Via).Un
		}
		if o.If != "" {
			p.SwIfIndex = uint32(s.swIfIndex(o.If))
		}
	}
	m.route.IsAdd, m.route.IsMultipath = add, false
	m.route.Route.TableID, m.route.Route.Prefix = o.Table, toPrefix(o.Prefix)
	m.route.Route.Paths, m.route.Route.NPaths = m.routePath[:], 1
	if !add { // the prefix alone says which route goes; VPP would check paths, and a dead one is an error
		m.route.Route.Paths, m.route.Route.NPaths = nil, 0
	}
	r.invoke("ip_route_add_del_v2", &m.route, &m.routeReply, &m.routeReply.Retval)
}

func (o Route) write(s *Session, r *request, _ Object) { o.fill(s, r, true) }
func (o Route) erase(s *Session, r *request) bool      { o.fill(s, r, false); return true }
