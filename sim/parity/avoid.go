package parity

import (
	"slices"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/fib_types"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/ip"
	"go.fd.io/govpp/binapi/ip_neighbor"
	"go.fd.io/govpp/binapi/ip_types"
	"go.fd.io/govpp/binapi/l2"
	"go.fd.io/govpp/binapi/vxlan"

	"github.com/vppdrill/vppdrill/sim/vppmodel"
)

// watch follows calls on a model of its own and knows which next one would run into a gap that no answer can be compared
// behind: most of them end VPP. What is asked and what a difference is shrunk to keep clear of them.
type watch struct {
	vpp *vppmodel.VPP
	// live are the interfaces that there are, without local0, and deleted the indices that one had that is gone.
	live    []uint32
	deleted map[uint32]bool
	// locked are the tables that clients hold.
	locked map[tableKey]bool
	// heard are the addresses that were neighbors, with the interface that had them last.
	heard map[ip_types.Address]index
}

type tableKey struct {
	id  uint32
	is6 bool
}

func newWatch() *watch {
	return &watch{vpp: NewModel().(model).VPP, deleted: map[uint32]bool{}, locked: map[tableKey]bool{}, heard: map[ip_types.Address]index{}}
}

// clearOfGaps reports whether none of the calls runs into a gap.
func clearOfGaps(calls []api.Message) bool {
	w := newWatch()
	for _, m := range calls {
		if m != nil && w.hits(m) != "" {
			return false
		}
		w.note(m)
	}
	return true
}

// note performs a call.
func (w *watch) note(m api.Message) {
	if m == nil {
		return
	}
	_, _ = w.vpp.Answer(vppmodel.InProcess, m) // a refusal is as good as an answer
	switch m := m.(type) {
	case *ip.IPTableAddDelV2:
		w.locked[tableKey{m.Table.TableID, m.Table.IsIP6}] = m.IsAdd
	case *ip_neighbor.IPNeighborAddDel:
		if m.IsAdd {
			w.heard[m.Neighbor.IPAddress] = m.Neighbor.SwIfIndex
		}
	}
	for _, at := range w.live {
		if _, alive := w.vpp.Interface(at); !alive {
			w.deleted[at] = true
		}
	}
	w.live = w.live[:0]
	for i := range w.vpp.Interfaces() {
		if i.Index > 0 {
			w.live = append(w.live, i.Index)
		}
	}
}

// hits names the gap that a call would run into, if there is one: see transcript's gaps for what they are.
func (w *watch) hits(m api.Message) string {
	switch m := m.(type) {
	case *interfaces.SwInterfaceSetUnnumbered:
		if m.IsAdd && w.chained(uint32(m.UnnumberedSwIfIndex), uint32(m.SwIfIndex)) {
			return "borrower-with-addresses"
		}
	case *interfaces.SwInterfaceAddDelAddress:
		return w.hitsAddress(m)
	case *interfaces.SwInterfaceSetTable:
		if t := (tableKey{m.VrfID, m.IsIPv6}); t.id != 0 && t.id != missing && !w.locked[t] {
			return "table-in-use" // this table goes with its last user
		}
	case *l2.SwInterfaceSetL2Bridge:
		i, there := w.vpp.Interface(uint32(m.RxSwIfIndex))
		switch bvi := m.PortType == l2.L2_API_PORT_TYPE_BVI; {
		case m.RxSwIfIndex == 0:
			return "local0"
		case !there || !m.Enable:
		case bvi && i.MAC == [6]byte{}:
			return "bvi-without-ethernet"
		case !bvi && i.Kind == vppmodel.KindLoopback:
			return "bridged-loopback"
		}
	case *ip_neighbor.IPNeighborAddDel:
		return w.hitsNeighbor(m)
	case *vxlan.VxlanAddDelTunnelV3:
		t := tableKey{m.EncapVrfID, m.DstAddress.Af == ip_types.ADDRESS_IP6}
		switch {
		case !m.IsAdd:
		case w.deadCover(m.EncapVrfID, m.DstAddress):
			return "dead-cover"
		case t.id != 0 && t.id != missing && !w.locked[t]:
			return "table-of-tunnel" // this table goes with its last user
		}
	case *ip.IPTableAddDelV2:
		if !m.IsAdd && len(w.routes(m.Table)) > 0 {
			return "table-deleted-with-routes"
		}
		for i := range w.vpp.Interfaces() {
			switch bound := i.Tables[0]; {
			case m.IsAdd || m.Table.TableID == 0:
			case i.Kind == vppmodel.KindVXLAN && i.EncapTable == m.Table.TableID:
				return "table-of-tunnel"
			case bound == m.Table.TableID && !m.Table.IsIP6, i.Tables[1] == m.Table.TableID && m.Table.IsIP6:
				return "table-in-use"
			}
		}
	case *ip.IPTableFlush:
		for t := range w.vpp.Tables() {
			if w.fragile(ip.IPTable{TableID: t}) || w.fragile(ip.IPTable{TableID: t, IsIP6: true}) {
				return "dead-path-flushed"
			}
		}
	case *ip.IPRouteAddDelV2:
		return w.hitsRoute(m)
	}
	return ""
}

// chained reports whether a borrower has addresses, lends them to others, or is to borrow from one that borrows.
func (w *watch) chained(borrower, donor uint32) bool {
	b, there := w.vpp.Interface(borrower)
	d, _ := w.vpp.Interface(donor)
	if !there || len(b.Addrs) > 0 || borrower == donor || d.Borrows {
		return there
	}
	for i := range w.vpp.Interfaces() {
		if i.Borrows && i.Unnumbered == borrower {
			return true
		}
	}
	return false
}

func (w *watch) hitsAddress(m *interfaces.SwInterfaceAddDelAddress) string {
	i, there := w.vpp.Interface(uint32(m.SwIfIndex))
	switch {
	case !there || m.DelAll:
	case m.IsAdd && i.Borrows:
		return "borrower-with-addresses"
	case m.IsAdd && m.Prefix.Address.Af == ip_types.ADDRESS_IP4 && w.deadCover(i.Tables[0], m.Prefix.Address):
		return "dead-cover"
	case m.IsAdd && m.Prefix.Address.Af == ip_types.ADDRESS_IP6 && w.deadCover(i.Tables[1], m.Prefix.Address):
		return "dead-cover"
	case m.IsAdd && m.Prefix.Len > 32 && m.Prefix.Address.Af == ip_types.ADDRESS_IP4:
		return "address-length-33"
	case m.IsAdd:
	default:
		for _, p := range i.Addrs {
			if message(p.Addr()) == m.Prefix.Address && uint8(p.Bits()) != m.Prefix.Len {
				return "address-of-other-length"
			}
		}
	}
	return ""
}

func (w *watch) hitsNeighbor(m *ip_neighbor.IPNeighborAddDel) string {
	if !m.IsAdd {
		return ""
	}
	if m.Neighbor.SwIfIndex == 0 {
		return "local0"
	}
	for n := range w.vpp.Neighbors() { // the static ones
		if index(n.Index) != m.Neighbor.SwIfIndex && message(n.Addr) == m.Neighbor.IPAddress {
			return "dead-neighbor"
		}
	}
	static := m.Neighbor.Flags&ip_neighbor.IP_API_NEIGHBOR_FLAG_STATIC != 0
	if at, heard := w.heard[m.Neighbor.IPAddress]; heard && static && at != m.Neighbor.SwIfIndex {
		return "dead-neighbor"
	}
	return ""
}

func (w *watch) hitsRoute(m *ip.IPRouteAddDelV2) string {
	is6 := m.Route.Prefix.Address.Af == ip_types.ADDRESS_IP6
	local := false
	for _, p := range m.Route.Paths {
		switch p.Type {
		case fib_types.FIB_API_PATH_TYPE_LOCAL:
			local = true
		case fib_types.FIB_API_PATH_TYPE_ICMP_UNREACH, fib_types.FIB_API_PATH_TYPE_ICMP_PROHIBIT:
			return "unreachable-paths"
		case fib_types.FIB_API_PATH_TYPE_NORMAL:
			if a := (ip_types.Address{Af: m.Route.Prefix.Address.Af, Un: p.Nh.Address}); p.SwIfIndex == none && a.Un != (ip_types.AddressUnion{}) && w.deadCover(p.TableID, a) {
				return "dead-cover"
			}
		}
	}
	switch {
	case local && (m.IsMultipath || len(m.Route.Paths) > 1):
		return "mixed-local-paths"
	case m.IsMultipath && w.fragile(ip.IPTable{TableID: m.Route.TableID, IsIP6: is6}):
		return "dead-path-copied"
	case m.IsAdd && m.Route.TableID != 0 && m.Route.TableID != missing && !w.locked[tableKey{m.Route.TableID, is6}]:
		return "table-deleted-with-routes" // this table goes with its last user
	}
	return ""
}

// apiSource is the number of FIB_SOURCE_API.
const apiSource = 8

// routes are the clients' routes of a table.
func (w *watch) routes(t ip.IPTable) []api.Message {
	all, err := w.vpp.Answer(vppmodel.InProcess, &ip.IPRouteV2Dump{Table: t})
	if err != nil {
		panic(err)
	}
	return slices.DeleteFunc(all, func(a api.Message) bool { return a.(*ip.IPRouteV2Details).Route.Src != apiSource })
}

// fragile reports whether a table has routes that no path may be added to or taken from: one with a path whose interface
// was deleted, even where another one has its index now, or a local one.
func (w *watch) fragile(t ip.IPTable) bool {
	return slices.ContainsFunc(w.routes(t), func(a api.Message) bool {
		return slices.ContainsFunc(a.(*ip.IPRouteV2Details).Route.Paths, func(p fib_types.FibPath) bool {
			return w.deleted[p.SwIfIndex] || p.Type == fib_types.FIB_API_PATH_TYPE_LOCAL
		})
	})
}

// deadCover reports whether what an address is looked up as lost its interface, or answers with an ICMP error.
func (w *watch) deadCover(table uint32, a ip_types.Address) bool {
	q := &ip.IPRouteLookupV2{TableID: table, Prefix: ip_types.Prefix{Address: a, Len: 32}}
	if a.Af == ip_types.ADDRESS_IP6 {
		q.Prefix.Len = 128
	}
	answers, err := w.vpp.Answer(vppmodel.InProcess, q)
	if err != nil {
		panic(err)
	}
	return slices.ContainsFunc(answers[0].(*ip.IPRouteLookupV2Reply).Route.Paths, func(p fib_types.FibPath) bool {
		return w.deleted[p.SwIfIndex] || p.Type == fib_types.FIB_API_PATH_TYPE_ICMP_UNREACH || p.Type == fib_types.FIB_API_PATH_TYPE_ICMP_PROHIBIT
	})
}
