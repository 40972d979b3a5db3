package parity

import (
	"slices"

	"go.fd.io/govpp/binapi/fib_types"
	"go.fd.io/govpp/binapi/ip"
	"go.fd.io/govpp/binapi/ip_types"

	"github.com/vppdrill/vppdrill/sim/vppmodel"
)

// deadCover reports whether what an address is looked up as lost its interface, or answers with an ICMP error. deleted
// are the indices of interfaces that are gone, even where others have them now.
func deadCover(v *vppmodel.VPP, deleted map[uint32]bool, table uint32, a ip_types.Address) bool {
	q := &ip.IPRouteLookupV2{TableID: table, Prefix: ip_types.Prefix{Address: a, Len: 32}}
	if a.Af == ip_types.ADDRESS_IP6 {
		q.Prefix.Len = 128
	}
	answers, err := v.Answer(vppmodel.InProcess, q)
	if err != nil {
		panic(err)
	}
	return slices.ContainsFunc(answers[0].(*ip.IPRouteLookupV2Reply).Route.Paths, func(p fib_types.FibPath) bool {
		return deleted[p.SwIfIndex] || p.Type == fib_types.FIB_API_PATH_TYPE_ICMP_UNREACH || p.Type == fib_types.FIB_API_PATH_TYPE_ICMP_PROHIBIT
	})
}

// resolved is an address that VPP keeps a host entry for, which follows whatever covers it.
type resolved struct {
	table uint32
	addr  ip_types.Address
	// own: it is the next hop of a route that covers it.
	own bool
}

// uncovered reports whether such an address has lost its cover, so that a route without its interface covers it.
func (w *watch) uncovered(all []resolved, deleted map[uint32]bool) bool {
	return len(deleted) > 0 && slices.ContainsFunc(all, func(r resolved) bool { return deadCover(w.vpp, deleted, r.table, r.addr) })
}

// neighborBelow reports whether a route's next hop is covered by the route itself and is a neighbor's address.
func (w *watch) neighborBelow(all []resolved) bool {
	return slices.ContainsFunc(all, func(r resolved) bool {
		if !r.own {
			return false
		}
		for i := range w.vpp.Interfaces() {
			if _, there := w.vpp.Neighbor(i.Index, netAddr(r.addr)); there {
				return true
			}
		}
		return false
	})
}

// resolved are the destinations of tunnels and the recursive next hops that there are.
func (w *watch) resolved() []resolved {
	var all []resolved
	for i := range w.vpp.Interfaces() {
		if i.Kind == vppmodel.KindVXLAN {
			all = append(all, resolved{i.EncapTable, message(i.Dst), false})
		}
	}
	hops := func(r *ip.IPRouteV2) {
		for _, p := range r.Paths {
			if p.SwIfIndex == none && p.Type == fib_types.FIB_API_PATH_TYPE_NORMAL && p.Nh.Address != (ip_types.AddressUnion{}) {
				a := ip_types.Address{Af: ip_types.AddressFamily(p.Proto), Un: p.Nh.Address}
				all = append(all, resolved{p.TableID, a, p.TableID == r.TableID && keyOf(r).prefix.Contains(netAddr(a))})
			}
		}
	}
	for id := range w.vpp.Tables() {
		for _, is6 := range []bool{false, true} {
			for _, a := range w.routes(ip.IPTable{TableID: id, IsIP6: is6}) {
				hops(&a.(*ip.IPRouteV2Details).Route)
			}
		}
	}
	return all
}

// tunnelLoops reports whether a tunnel's packets go into the tunnel itself, directly or through others: VPP wraps them
// until its buffers overflow.
func tunnelLoops(v *vppmodel.VPP) bool {
	var below func(at uint32, above []uint32) bool
	below = func(at uint32, above []uint32) bool {
		if slices.Contains(above, at) {
			return true
		}
		t, _ := v.Interface(at)
		above = append(slices.Clip(above), at)
		return slices.ContainsFunc(carriers(v, t), func(at uint32) bool { return below(at, above) })
	}
	for i := range v.Interfaces() {
		if i.Kind == vppmodel.KindVXLAN && below(i.Index, nil) {
			return true
		}
	}
	return false
}

// carriers are the tunnels that a tunnel's packets go into: the interface of the route to its far end, or the tunnels
// of the bridge domain behind that.
func carriers(v *vppmodel.VPP, t vppmodel.Interface) []uint32 {
	table, to := t.EncapTable, t.Dst
	var r vppmodel.Route
	for range stepsMax {
		found := false
		if r, found = v.Route(table, to); !found {
			return nil
		}
		switch {
		case r.Action == vppmodel.Lookup:
			table = r.Lookup
		case r.Action == vppmodel.Forward && r.Index == none:
			table, to = r.Lookup, r.Via
		default:
			found = false
		}
		if !found {
			break
		}
	}
	out, there := v.Interface(r.Index)
	switch {
	case !there || r.Action != vppmodel.Forward:
	case out.Kind == vppmodel.KindVXLAN:
		return []uint32{out.Index}
	case out.BVI:
		var all []uint32
		b, _ := v.Bridge(out.Bridge)
		for _, m := range b.Members {
			if i, _ := v.Interface(m.Index); i.Kind == vppmodel.KindVXLAN {
				all = append(all, m.Index)
			}
		}
		return all
	}
	return nil
}

// stepsMax bounds how many routes lead to a tunnel's far end.
const stepsMax = 8
