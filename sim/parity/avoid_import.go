package parity

import (
	"net/netip"
	"slices"

	"go.fd.io/govpp/binapi/fib_types"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/ip"
	"go.fd.io/govpp/binapi/ip_types"

	"github.com/vppdrill/vppdrill/sim/vppmodel"
)

// routeKey is one prefix of one table.
type routeKey struct {
	tableKey
	prefix netip.Prefix
}

func keyOf(r *ip.IPRouteV2) routeKey {
	p, _ := netAddr(r.Prefix.Address).Prefix(int(r.Prefix.Len)) // one that is too long is refused, and imports nothing
	return routeKey{tableKey{r.TableID, r.Prefix.Address.Af == ip_types.ADDRESS_IP6}, p}
}

// attachedAcross reports whether one of a route's paths is attached to an interface of another table. VPP marks such a
// route as one that imports: it brings along what the interface's table has below the same prefix
// (src/vnet/fib/fib_entry_src.c, fib_entry_flags_update).
func (w *watch) attachedAcross(r *ip.IPRouteV2) bool {
	f := family(r.Prefix.Address.Af == ip_types.ADDRESS_IP6)
	return slices.ContainsFunc(r.Paths, func(p fib_types.FibPath) bool {
		i, there := w.vpp.Interface(p.SwIfIndex)
		return there && p.Nh.Address == (ip_types.AddressUnion{}) && i.Tables[f] != r.TableID
	})
}

// besideOthers reports whether a route has other paths than the attached one, before the call or after it. Taking the
// only path away is as good as deleting the route.
func (w *watch) besideOthers(m *ip.IPRouteAddDelV2) bool {
	if !m.IsMultipath {
		return m.IsAdd && len(m.Route.Paths) > 1
	}
	had := w.pathsOf(keyOf(&m.Route))
	return m.IsAdd || len(m.Route.Paths) > 1 || len(had) > 1 || len(had) == 1 && had[0].SwIfIndex != m.Route.Paths[0].SwIfIndex
}

// pathsOf are the paths of a client's route.
func (w *watch) pathsOf(k routeKey) []fib_types.FibPath {
	for _, a := range w.routes(ip.IPTable{TableID: k.id, IsIP6: k.is6}) {
		if have := &a.(*ip.IPRouteV2Details).Route; keyOf(have) == k {
			return have.Paths
		}
	}
	return nil
}

// subnet is an address with its length.
func subnet(p ip_types.AddressWithPrefix) netip.Prefix {
	return netip.PrefixFrom(netAddr(p.Address), int(p.Len))
}

// netAddr is message's way back.
func netAddr(a ip_types.Address) netip.Addr {
	if a.Af == ip_types.ADDRESS_IP6 {
		return netip.AddrFrom16(a.Un.XXX_UnionData)
	}
	return netip.AddrFrom4([4]byte(a.Un.XXX_UnionData[:4]))
}

// attachment is a route's attached path. One that has been across tables counts as such until the route is created
// again: VPP does not always notice the change.
type attachment struct {
	iface  uint32
	across bool
	from   []uint32 // the tables that it may import from
}

// noteRoute remembers where a client's route is attached.
func (w *watch) noteRoute(m *ip.IPRouteAddDelV2) {
	k := keyOf(&m.Route)
	if !m.IsMultipath {
		delete(w.attached, k)
	}
	if !m.IsAdd {
		return
	}
	for _, p := range m.Route.Paths {
		if _, there := w.vpp.Interface(p.SwIfIndex); there && p.Nh.Address == (ip_types.AddressUnion{}) {
			w.attached[k] = attachment{iface: p.SwIfIndex}
		}
	}
}

// noteImports remembers which of them are across tables now.
func (w *watch) noteImports() {
	for k, a := range w.attached { // in any order: each by itself
		if i, there := w.vpp.Interface(a.iface); there && i.Tables[family(k.is6)] != k.id && !slices.Contains(a.from, i.Tables[family(k.is6)]) {
			w.attached[k] = attachment{a.iface, true, append(a.from, i.Tables[family(k.is6)])}
		}
	}
}

// exports reports whether a route may import from a table.
func (w *watch) exports(t tableKey) bool {
	for k, a := range w.attached { // in any order: one is enough
		if k.is6 == t.is6 && slices.Contains(a.from, t.id) {
			return true
		}
	}
	return false
}

// hitsBind is hits for an interface that moves to another table: routes attached to it may become imports.
func (w *watch) hitsBind(m *interfaces.SwInterfaceSetTable) string {
	var moved []routeKey
	for k, a := range w.attached { // in any order: any that hits is enough, and says the same
		if a.iface == uint32(m.SwIfIndex) && k.is6 == m.IsIPv6 && k.id != m.VrfID {
			moved = append(moved, k)
		}
	}
	for _, k := range moved {
		switch {
		case w.shadowed(k) || len(w.pathsOf(k)) > 1:
			return "shadowed-import"
		case w.importsOverlap(k):
			return "import-of-import"
		case slices.ContainsFunc(moved, func(l routeKey) bool { return k.id != l.id && k.prefix.Overlaps(l.prefix) }):
			return "import-of-import"
		}
	}
	return ""
}

// importsOverlap reports whether a route of another table imports too, and for addresses that k has as well.
func (w *watch) importsOverlap(k routeKey) bool {
	for l, a := range w.attached { // in any order: one is enough
		if a.across && l.is6 == k.is6 && l.id != k.id && l.prefix.Overlaps(k.prefix) {
			return true
		}
	}
	return false
}

// importsAt reports whether an address of an interface would get an entry of a prefix at which a client's route
// imports.
func (w *watch) importsAt(i vppmodel.Interface, p netip.Prefix) bool {
	for k, a := range w.attached { // in any order: one is enough
		if a.across && k.id == i.Tables[family(k.is6)] && connects(p, k.prefix) {
			return true
		}
	}
	return false
}

// shadowed reports whether an interface has an entry of a route's prefix.
func (w *watch) shadowed(k routeKey) bool {
	for i := range w.vpp.Interfaces() {
		if i.Tables[family(k.is6)] == k.id && slices.ContainsFunc(i.Addrs, func(p netip.Prefix) bool { return connects(p, k.prefix) }) {
			return true
		}
	}
	return false
}

// connects reports whether an interface's address makes an entry of a prefix: its subnet, or a host entry in it.
func connects(addr, of netip.Prefix) bool {
	return addr.Masked() == of || of.IsSingleIP() && addr.Contains(of.Addr())
}

func family(is6 bool) int {
	if is6 {
		return 1
	}
	return 0
}
