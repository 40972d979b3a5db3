package parity

import (
	"net/netip"

	"go.fd.io/govpp/api"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/ip"
	"go.fd.io/govpp/binapi/ip_neighbor"

	"github.com/vppdrill/vppdrill/sim/vppmodel"
)

// refinements are the neighbors of which VPP may still think as before about whether they attract their traffic: what
// decides has changed, and neither the neighbor nor the routes and addresses that cover it (vppmodel.Refining).
type refinements struct {
	refines map[nextHop]bool
	stale   map[netip.Addr]bool
}

func newRefinements() *refinements {
	return &refinements{refines: map[nextHop]bool{}, stale: map[netip.Addr]bool{}}
}

// note follows a call that the model has answered.
func (r *refinements) note(v *vppmodel.VPP, m api.Message) {
	now := map[nextHop]bool{}
	for n, refines := range v.Refining() {
		at := nextHop{n.Index, n.Addr}
		now[at] = refines
		if was, known := r.refines[at]; known && was != refines && !asksAgain(m, n.Addr) {
			r.stale[n.Addr] = true
		}
	}
	for at := range r.refines {
		if _, there := now[at]; !there {
			delete(r.stale, at.addr)
		}
	}
	r.refines = now
}

// asksAgain reports whether a call has VPP look at the neighbors of an address anew.
func asksAgain(m api.Message, a netip.Addr) bool {
	switch m := m.(type) {
	case *ip.IPRouteAddDelV2:
		return netip.PrefixFrom(netAddr(m.Route.Prefix.Address), int(m.Route.Prefix.Len)).Contains(a)
	case *interfaces.SwInterfaceAddDelAddress:
		return m.DelAll || subnet(m.Prefix).Contains(a)
	case *ip_neighbor.IPNeighborAddDel:
		return netAddr(m.Neighbor.IPAddress) == a
	case *interfaces.SwInterfaceSetUnnumbered:
		return false
	}
	return true
}
