package parity

import (
	"net/netip"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/ip"
	"go.fd.io/govpp/binapi/ip_types"

	"github.com/vppdrill/vppdrill/sim/vppmodel"
)

// pastHops are the next hops of routes by the life of the interface that they were first behind. VPP 25.10 may keep what it knew of one
// when its interface is deleted and no route has it any more: whatever names the same address behind the next interface of that index is
// then sent from the old one's MAC.
type pastHops struct {
	alive map[uint32]bool
	life  map[uint32]int // of an index
	first map[nextHop]int
}

type nextHop struct {
	index uint32
	addr  netip.Addr
}

func newPastHops() *pastHops {
	return &pastHops{alive: map[uint32]bool{}, life: map[uint32]int{}, first: map[nextHop]int{}}
}

// note follows a call that the model has answered.
func (h *pastHops) note(v *vppmodel.VPP, m api.Message) {
	now := map[uint32]bool{}
	for i := range v.Interfaces() {
		now[i.Index] = true
	}
	for at := range h.alive {
		if !now[at] {
			h.life[at]++
		}
	}
	h.alive = now
	route, is := m.(*ip.IPRouteAddDelV2)
	if !is || !route.IsAdd {
		return
	}
	for _, p := range route.Route.Paths {
		hop := nextHop{p.SwIfIndex, netAddr(ip_types.Address{Af: ip_types.AddressFamily(p.Proto), Un: p.Nh.Address})}
		if _, named := h.first[hop]; !named && now[hop.index] {
			h.first[hop] = h.life[hop.index]
		}
	}
}

// outlived reports whether a next hop was named in an earlier life of its interface's index.
func (h *pastHops) outlived(index uint32, addr netip.Addr) bool {
	life, named := h.first[nextHop{index, addr}]
	return named && life < h.life[index]
}
