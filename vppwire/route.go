package vppwire

import (
	"net/netip"
	"slices"
	"strings"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/fib"
	"go.fd.io/govpp/binapi/fib_types"
	"go.fd.io/govpp/binapi/ip"
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

func (Route) parse(p *words) Object {
	o := Route{Table: uint32(p.named("table", 32)), Prefix: p.masked()}
	switch {
	case p.has("drop"):
		o.Drop = true
	case p.has("lookup"):
		o.ToTable, o.Lookup = true, uint32(p.number(32))
	default:
		p.expect("via")
		if len(p.left) == 0 {
			p.fail("a route needs a next hop, an interface, or both")
			return o
		}
		if a, err := netip.ParseAddr(p.left[0]); err == nil && a.IsValid() {
			o.Via = p.addr()
		}
		if len(p.left) > 0 {
			o.If = p.word()
		}
	}
	return o
}

func (o Route) owner() (Key, bool) { return Key{}, false }
func (o Route) ours() bool         { return true }

func (o Route) shown() dumpStep {
	return dumpStep{dump: routeDump, num: o.Table, ip6: o.Prefix.Addr().Is6()}
}

// replaces: without the multipath flag an addition replaces all paths at once, without a gap. A route through a dead
// interface has to go first: VPP keeps its dead path, and an addition would join it.
func (o Route) replaces(old Object) bool {
	r, ok := old.(Route)
	return ok && !strings.HasPrefix(r.If, deadPrefix)
}

// lapses: with the table, whose own dump would otherwise have queued a look at its routes.
func (o Route) lapses(s *Session, st dumpStep) bool {
	in := o.shown()
	return st.dump == tableDump && (!in.ip6 || s.ip6) && !slices.Contains(s.dump.steps, in)
}

type routeMessages struct {
	route      ip.IPRouteAddDelV2
	path       [1]fib_types.FibPath
	routeReply ip.IPRouteAddDelV2Reply
	// apiSource is VPP's number of the FIB source "API", once known.
	apiSource      uint8
	apiSourceKnown bool
}

func (Route) messages() []api.Message {
	m := new(routeMessages)
	return []api.Message{&m.route, &m.routeReply}
}

func (o Route) fill(s *Session, r *request, add bool) {
	m := buffers[routeMessages](s, KindRoute)
	p := &m.path[0]
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
	m.route.Route.Paths, m.route.Route.NPaths = m.path[:], 1
	if !add { // the prefix alone says which route goes; VPP would check paths, and a dead one is an error
		m.route.Route.Paths, m.route.Route.NPaths = nil, 0
	}
	r.invoke(&m.route, &m.routeReply, &m.routeReply.Retval)
}

func (o Route) create(s *Session, r *request, _ Object) { o.fill(s, r, true) }
func (o Route) delete(s *Session, r *request) bool      { o.fill(s, r, false); return true }

// routeDump asks for one table's routes of one family; the table dump queues it.
var routeDump = &dump{reader: routeReader{}}

type routeReader struct{}

func (routeReader) messages() []api.Message {
	return []api.Message{&ip.IPRouteV2Dump{}, &ip.IPRouteV2Details{}}
}

func (routeReader) ask(s *Session, st dumpStep, r *request) {
	r.dump(&ip.IPRouteV2Dump{Src: buffers[routeMessages](s, KindRoute).apiSource, Table: ip.IPTable{TableID: st.num, IsIP6: st.ip6}})
}

func (routeReader) take(s *Session, _ dumpStep, res Result) {
	known := buffers[routeMessages](s, KindRoute)
	for _, m := range res.shown.details {
		d, ok := m.(*ip.IPRouteV2Details)
		if !ok || known.apiSourceKnown && d.Route.Src != known.apiSource || len(d.Route.Paths) == 0 {
			continue
		}
		s.observe(s.readRoute(&d.Route))
	}
}

func (s *Session) readRoute(r *ip.IPRouteV2) Route {
	p := &r.Paths[0]
	o := Route{Table: r.TableID, Prefix: fromPrefix(r.Prefix)}
	via := fromUnion(p.Nh.Address, o.Prefix.Addr().Is6())
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
	return o
}

// sourceDump tells which of VPP's route sources is the API: routes of others are not ours.
var sourceDump = &dump{whole: true, first: true, reader: sourceReader{}}

type sourceReader struct{}

func (sourceReader) messages() []api.Message {
	return []api.Message{&fib.FibSourceDump{}, &fib.FibSourceDetails{}}
}

func (sourceReader) ask(_ *Session, _ dumpStep, r *request) { r.dump(&fib.FibSourceDump{}) }

func (sourceReader) take(s *Session, _ dumpStep, res Result) {
	for _, m := range res.shown.details {
		if d, ok := m.(*fib.FibSourceDetails); ok && strings.EqualFold(d.Src.Name, "API") {
			known := buffers[routeMessages](s, KindRoute)
			known.apiSource, known.apiSourceKnown = d.Src.ID, true
		}
	}
}
