package parity

import (
	"maps"
	"slices"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/acl"
	"go.fd.io/govpp/binapi/af_packet"
	"go.fd.io/govpp/binapi/fib_types"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/ip"
	"go.fd.io/govpp/binapi/ip_neighbor"
	"go.fd.io/govpp/binapi/ip_types"
	"go.fd.io/govpp/binapi/l2"
	"go.fd.io/govpp/binapi/memif"
	"go.fd.io/govpp/binapi/nat44_ed"
	"go.fd.io/govpp/binapi/nat_types"
	"go.fd.io/govpp/binapi/vxlan"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/sim/vppmodel"
)

// watch follows calls on a model of its own and knows which next one would run into a gap that no answer can be
// compared behind: most of them end VPP. What is asked and what a difference is shrunk to keep clear of them.
type watch struct {
	vpp *vppmodel.VPP
	// calls are what it was asked, and made is one more that hits has made already and note is yet to note.
	calls []api.Message
	made  api.Message
	// live are the interfaces that there are, without local0, and deleted the indices that one had that is gone.
	live    []uint32
	deleted map[uint32]bool
	// locked are the tables that clients hold.
	locked map[tableKey]bool
	// heard are the addresses that were neighbors, with the interface that had them last.
	heard map[ip_types.Address]index
	// attached are the clients' routes that are attached to an interface.
	attached map[routeKey]attachment
}

type tableKey struct {
	id  uint32
	is6 bool
}

func newWatch() *watch {
	return &watch{vpp: NewModel().(model).VPP, deleted: map[uint32]bool{}, locked: map[tableKey]bool{}, heard: map[ip_types.Address]index{},
		attached: map[routeKey]attachment{}}
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

// note performs a call, the one that hits was asked about if it was asked.
func (w *watch) note(m api.Message) {
	if m == nil {
		return
	}
	w.calls = append(w.calls, m)
	if w.made != m {
		_, _ = w.vpp.Answer(vppmodel.InProcess, m) // a refusal is as good as an answer
	}
	w.made = nil
	switch m := m.(type) {
	case *ip.IPTableAddDelV2:
		w.locked[tableKey{m.Table.TableID, m.Table.IsIP6}] = m.IsAdd
	case *ip_neighbor.IPNeighborAddDel:
		if m.IsAdd {
			w.heard[m.Neighbor.IPAddress] = m.Neighbor.SwIfIndex
		}
	case *ip.IPRouteAddDelV2:
		w.noteRoute(m)
	}
	w.noteImports()
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
	if gap := w.hitsNow(m); gap != "" {
		return gap
	}
	return w.hitsAfter(m)
}

// hitsAfter makes a call to see what it leads to, and takes it back where that is a gap.
func (w *watch) hitsAfter(m api.Message) string {
	_, _ = w.vpp.Answer(vppmodel.InProcess, m) // a refusal is as good as an answer
	deleted := maps.Clone(w.deleted)
	for _, at := range w.live {
		if _, alive := w.vpp.Interface(at); !alive {
			deleted[at] = true
		}
	}
	gap := ""
	switch all := w.resolved(); {
	case w.uncovered(all, deleted):
		gap = "dead-cover"
	case w.neighborBelow(all):
		gap = "neighbor-below-its-route"
	case tunnelLoops(w.vpp):
		gap = "tunnel-in-itself"
	}
	if gap == "" {
		w.made = m
		return ""
	}
	w.vpp = NewModel().(model).VPP
	for _, m := range w.calls {
		_, _ = w.vpp.Answer(vppmodel.InProcess, m)
	}
	return gap
}

// hitsNow is hits as far as the state before the call shows it.
func (w *watch) hitsNow(m api.Message) string {
	switch m := m.(type) {
	case *interfaces.SwInterfaceSetUnnumbered:
		if m.IsAdd && w.chained(uint32(m.UnnumberedSwIfIndex), uint32(m.SwIfIndex)) {
			return "borrower-with-addresses"
		}
	case *interfaces.SwInterfaceAddDelAddress:
		return w.hitsAddress(m)
	case *interfaces.SwInterfaceSetTable:
		if gap := w.hitsBind(m); gap != "" {
			return gap
		}
		if i, there := w.vpp.Interface(uint32(m.SwIfIndex)); there && i.NAT != 0 && !m.IsIPv6 {
			return "nat-moved"
		}
		if t := (tableKey{m.VrfID, m.IsIPv6}); t.id != 0 && t.id != missing && !w.locked[t] {
			return "table-in-use" // this table goes with its last user
		}
	case *nat44_ed.Nat44InterfaceAddDelFeature:
		asked := uint8(fact.NATOutside)
		if m.Flags&nat_types.NAT_IS_INSIDE != 0 {
			asked = uint8(fact.NATInside)
		}
		if i, there := w.vpp.Interface(uint32(m.SwIfIndex)); there && !m.IsAdd && i.NAT != 0 && i.NAT&asked == 0 {
			return "nat-side"
		}
	case *acl.ACLInterfaceSetACLList, *acl.ACLInterfaceAddDel, *ip_neighbor.IPNeighborFlush, *ip_neighbor.IPNeighborReplaceEnd,
		*memif.MemifCreateV2, *memif.MemifCreate, *memif.MemifSocketFilenameAddDelV2, *memif.MemifSocketFilenameAddDel:
		return string(w.vpp.PredictCrash(m))
	case *l2.BridgeFlags:
		if b, there := w.bridge(m.BdID); there && m.IsSet && m.Flags&l2.BRIDGE_API_FLAG_ARP_UFWD != 0 && b.NSwIfs > 0 && b.UuFwdSwIfIndex == none {
			return "arp-to-nowhere"
		}
	case *memif.MemifDelete:
		if w.takesARP(m.SwIfIndex) {
			return "arp-to-nowhere"
		}
	case *interfaces.DeleteLoopback:
		if w.takesARP(m.SwIfIndex) {
			return "arp-to-nowhere"
		}
	case *af_packet.AfPacketDelete:
		for i := range w.vpp.Interfaces() {
			if i.Kind == vppmodel.KindAFPacket && i.Host == m.HostIfName && w.takesARP(index(i.Index)) {
				return "arp-to-nowhere"
			}
		}
	case *l2.SwInterfaceSetL2Bridge:
		b, _ := w.bridge(m.BdID)
		if w.takesARP(m.RxSwIfIndex) || m.Enable && m.PortType != l2.L2_API_PORT_TYPE_UU_FWD && b.ArpUfwd && b.UuFwdSwIfIndex == none {
			return "arp-to-nowhere"
		}
		i, there := w.vpp.Interface(uint32(m.RxSwIfIndex))
		switch bvi := m.PortType == l2.L2_API_PORT_TYPE_BVI; {
		case m.RxSwIfIndex == 0:
			return "local0"
		case !there || !m.Enable:
		case bvi && i.MAC == [6]byte{}:
			return "bvi-without-ethernet"
		case (!bvi || m.BdID == 0) && i.Kind == vppmodel.KindLoopback: // VPP's own bridge domain takes no BVI
			return "bridged-loopback"
		}
	case *ip_neighbor.IPNeighborAddDel:
		return w.hitsNeighbor(m)
	case *vxlan.VxlanAddDelTunnelV3:
		if !m.IsAdd {
			at, there := w.vpp.Tunnel(netAddr(m.SrcAddress), netAddr(m.DstAddress), m.Vni)
			if there && w.takesARP(index(at)) {
				return "arp-to-nowhere"
			}
		}
		t := tableKey{m.EncapVrfID, m.DstAddress.Af == ip_types.ADDRESS_IP6}
		switch {
		case !m.IsAdd:
		case deadCover(w.vpp, w.deleted, m.EncapVrfID, m.DstAddress):
			return "dead-cover"
		case t.id != 0 && t.id != missing && !w.locked[t]:
			return "table-of-tunnel" // this table goes with its last user
		}
	case *ip.IPTableAddDelV2:
		switch {
		case m.IsAdd:
		case !m.Table.IsIP6 && m.Table.TableID != 0 && w.natNames(m.Table.TableID):
			return "nat-table"
		case len(w.routes(m.Table)) > 0:
			return "table-deleted-with-routes"
		case w.exports(tableKey{m.Table.TableID, m.Table.IsIP6}):
			return "exporting-table"
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
	return w.hitsNAT(m)
}

// bridge is what VPP shows of a bridge domain.
func (w *watch) bridge(id uint32) (*l2.BridgeDomainDetails, bool) {
	all, err := w.vpp.Answer(vppmodel.InProcess, &l2.BridgeDomainDump{BdID: id, SwIfIndex: none})
	if err != nil {
		panic(err)
	}
	if id == none || len(all) == 0 {
		return &l2.BridgeDomainDetails{}, false
	}
	return all[0].(*l2.BridgeDomainDetails), true
}

// takesARP reports whether a bridge domain sends ARP to an interface alone, and would send it nowhere without that one.
func (w *watch) takesARP(at index) bool {
	for id := range w.vpp.Bridges() {
		if b, _ := w.bridge(id); b.ArpUfwd && b.UuFwdSwIfIndex == at {
			return true
		}
	}
	return false
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
	case m.IsAdd && w.importsAt(i, subnet(m.Prefix)):
		return "shadowed-import"
	case m.IsAdd && m.Prefix.Address.Af == ip_types.ADDRESS_IP4 && deadCover(w.vpp, w.deleted, i.Tables[0], m.Prefix.Address):
		return "dead-cover"
	case m.IsAdd && m.Prefix.Address.Af == ip_types.ADDRESS_IP6 && deadCover(w.vpp, w.deleted, i.Tables[1], m.Prefix.Address):
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
	switch i, there := w.vpp.Interface(uint32(m.Neighbor.SwIfIndex)); {
	case m.Neighbor.SwIfIndex == 0:
		return "local0"
	case there && i.MAC == [6]byte{}:
		return "neighbor-without-ethernet"
	}
	for n := range w.vpp.Neighbors() { // the static ones
		if index(n.Index) != m.Neighbor.SwIfIndex && message(n.Addr) == m.Neighbor.IPAddress {
			return "dead-neighbor"
		}
	}
	static := m.Neighbor.Flags&ip_neighbor.IP_API_NEIGHBOR_FLAG_STATIC != 0
	for i := range w.vpp.Interfaces() {
		if _, two := w.vpp.Neighbor(i.Index, netAddr(m.Neighbor.IPAddress)); two && static && index(i.Index) != m.Neighbor.SwIfIndex {
			return "dead-neighbor" // once both interfaces are gone, the static one first
		}
	}
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
			if a := (ip_types.Address{Af: m.Route.Prefix.Address.Af, Un: p.Nh.Address}); p.SwIfIndex == none && a.Un != (ip_types.AddressUnion{}) && deadCover(w.vpp, w.deleted, p.TableID, a) {
				return "dead-cover"
			}
		}
	}
	switch {
	case local && (m.IsMultipath || len(m.Route.Paths) > 1):
		return "mixed-local-paths"
	case w.attachedAcross(&m.Route) && w.besideOthers(m):
		return "attached-beside-others"
	case m.IsAdd && w.attachedAcross(&m.Route) && w.shadowed(keyOf(&m.Route)):
		return "shadowed-import"
	case m.IsAdd && w.attachedAcross(&m.Route) && w.importsOverlap(keyOf(&m.Route)):
		return "import-of-import"
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

// fragile reports whether a table has routes that no path may be added to or taken from: one with a path whose
// interface was deleted, even where another one has its index now, or a local one.
func (w *watch) fragile(t ip.IPTable) bool {
	return slices.ContainsFunc(w.routes(t), func(a api.Message) bool {
		return slices.ContainsFunc(a.(*ip.IPRouteV2Details).Route.Paths, func(p fib_types.FibPath) bool {
			return w.deleted[p.SwIfIndex] || p.Type == fib_types.FIB_API_PATH_TYPE_LOCAL
		})
	})
}
