package probe

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"net/netip"
	"slices"
	"strings"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/af_packet"
	"go.fd.io/govpp/binapi/fib"
	"go.fd.io/govpp/binapi/fib_types"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/interface_types"
	"go.fd.io/govpp/binapi/ip"
	"go.fd.io/govpp/binapi/ip_neighbor"
	"go.fd.io/govpp/binapi/l2"
	"go.fd.io/govpp/binapi/tapv2"
	"go.fd.io/govpp/binapi/vxlan"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire"
)

// VPP dumps a VPP and shows it as laws see it. nics are the AF_PACKET devices that stand in for physical interfaces:
// their interfaces are NICs.
func VPP(ctx context.Context, c api.Connection, nics ...string) (fact.VPP, error) {
	d, err := dumpVPP(ctx, c)
	if err != nil {
		return nil, err
	}
	return newTables(d, nics...), nil
}

// tables is one VPP at one moment.
type tables struct {
	ifaces  map[uint32]*fact.Interface
	order   []uint32
	fibs    map[uint32][]entry
	ids     []uint32
	statics []fact.Neighbor
	bridges []fact.Bridge
	l2      []fact.FIBEntry
	// guards are the classifier tables of interfaces' input ACLs, of a family or of bridged frames, classifiers what the
	// tables admit, by source.
	guards      map[guard]uint32
	classifiers map[uint32]*classifier
	nat         nat
	acls        acls
	stolen      stolen
}

// entry is one route with the next longer one around it.
type entry struct {
	fact.Route
	parent int
	// configured: somebody has typed it at VPP's command line.
	configured bool
}

// sources are FIB sources: of API routes, and of those of VPP's command line.
type sources struct{ api, cli uint8 }

// Names of the sources, src/vnet/fib/fib_source.h.
const apiName, cliName = "API", "CLI"

func sourcesOf(d *Dump) (s sources) {
	for _, m := range d.Messages {
		if m, ok := m.(*fib.FibSourceDetails); ok {
			switch m.Src.Name {
			case apiName:
				s.api = m.Src.ID
			case cliName:
				s.cli = m.Src.ID
			}
		}
	}
	return s
}

func newTables(d *Dump, nics ...string) *tables {
	t := &tables{ifaces: map[uint32]*fact.Interface{}, fibs: map[uint32][]entry{},
		guards: map[guard]uint32{}, classifiers: map[uint32]*classifier{}, acls: acls{rules: map[uint32][]fact.ACLRule{}}}
	from := sourcesOf(d)
	for _, m := range d.Messages {
		if m, ok := m.(*interfaces.SwInterfaceDetails); ok {
			t.addInterface(m)
		}
	}
	for _, m := range d.Messages {
		t.add(m, from, nics)
	}
	t.finish()
	return t
}

func (t *tables) addInterface(m *interfaces.SwInterfaceDetails) {
	i := &fact.Interface{
		Index: uint32(m.SwIfIndex), Name: m.InterfaceName, Tag: m.Tag, Type: fact.TypeNIC,
		Up: m.Flags&interface_types.IF_STATUS_API_FLAG_ADMIN_UP != 0, MAC: vppwire.MAC(m.L2Address),
	}
	if len(m.Mtu) > 2 {
		i.MTU, i.MTU4, i.MTU6, i.LinkMTU = m.Mtu[0], m.Mtu[1], m.Mtu[2], uint32(m.LinkMtu)
	}
	switch {
	case i.Name == "local0":
		i.Type = fact.TypeLocal
	case strings.EqualFold(m.InterfaceDevType, "Loopback"):
		i.Type = fact.TypeLoopback
	}
	t.ifaces[i.Index] = i
	t.order = append(t.order, i.Index)
}

func (t *tables) add(m api.Message, from sources, nics []string) {
	if t.addClassifier(m) || t.addNAT(m) || t.addACL(m) || t.addSTN(m) {
		return
	}
	switch m := m.(type) {
	case *af_packet.AfPacketDetails:
		if i := t.ifaces[uint32(m.SwIfIndex)]; i != nil {
			if i.Host = m.HostIfName; !slices.Contains(nics, i.Host) {
				i.Type = fact.TypeAFPacket
			}
		}
	case *tapv2.SwInterfaceTapV2Details:
		if i := t.ifaces[m.SwIfIndex]; i != nil {
			i.Type, i.Host, i.HostNetns = fact.TypeTap, m.HostIfName, m.HostNamespace
		}
	case *vxlan.VxlanTunnelV2Details:
		if i := t.ifaces[uint32(m.SwIfIndex)]; i != nil {
			i.Type, i.Src, i.Dst, i.VNI, i.EncapTable = fact.TypeVXLAN, address(m.SrcAddress), address(m.DstAddress), m.Vni, m.EncapVrfID
		}
	case tableOf:
		if i := t.ifaces[m.index]; i != nil && m.ip6 {
			i.Table6 = m.VrfID
		} else if i != nil {
			i.Table4 = m.VrfID
		}
	case *ip.IPAddressDetails:
		if i, a := t.ifaces[uint32(m.SwIfIndex)], address(m.Prefix.Address); i != nil && !(a.Is6() && a.IsLinkLocalUnicast()) {
			i.Addrs = append(i.Addrs, netip.PrefixFrom(address(m.Prefix.Address), int(m.Prefix.Len)))
		}
	case *ip.IPUnnumberedDetails:
		if i := t.ifaces[uint32(m.SwIfIndex)]; i != nil {
			i.Unnumbered, i.HasUnnumbered = uint32(m.IPSwIfIndex), true
		}
	case *ip.IPTableDetails:
		if !slices.Contains(t.ids, m.Table.TableID) {
			t.ids = append(t.ids, m.Table.TableID)
		}
	case *ip.IPRouteV2Details:
		r := route(&m.Route, from.api)
		t.fibs[r.Table] = append(t.fibs[r.Table], entry{Route: r, configured: from.cli != 0 && m.Route.Src == from.cli})
	case *ip_neighbor.IPNeighborDetails:
		n := m.Neighbor
		if n.Flags&ip_neighbor.IP_API_NEIGHBOR_FLAG_STATIC != 0 {
			t.statics = append(t.statics, fact.Neighbor{Index: uint32(n.SwIfIndex), Addr: address(n.IPAddress), MAC: vppwire.MAC(n.MacAddress)})
		}
	case *l2.BridgeDomainDetails:
		t.addBridge(m)
	case *l2.L2FibTableDetails:
		if m.StaticMac || m.BviMac {
			t.l2 = append(t.l2, fact.FIBEntry{Bridge: m.BdID, MAC: vppwire.MAC(m.Mac), Index: uint32(m.SwIfIndex), BVI: m.BviMac,
				Static: m.StaticMac, Filter: m.FilterMac})
		}
	}
}

func (t *tables) addBridge(m *l2.BridgeDomainDetails) {
	if m.BdID == 0 {
		return // VPP's own
	}
	b := fact.Bridge{ID: m.BdID, Learn: m.Learn, Flood: m.Flood, UUFlood: m.UuFlood, Forward: m.Forward, ARPTerm: m.ArpTerm,
		ARPUnknown: m.ArpUfwd}
	if i := t.ifaces[uint32(m.UuFwdSwIfIndex)]; i != nil {
		b.Unknown, b.HasUnknown, i.Unlisted = i.Index, true, true
	}
	for _, s := range m.SwIfDetails {
		member := fact.BridgeMember{Index: uint32(s.SwIfIndex), BVI: s.SwIfIndex == m.BviSwIfIndex, SHG: s.Shg}
		b.Members = append(b.Members, member)
		if i := t.ifaces[member.Index]; i != nil {
			i.Bridge, i.BVI, i.SHG = m.BdID, member.BVI, member.SHG
		}
	}
	slices.SortFunc(b.Members, func(x, y fact.BridgeMember) int { return cmp.Compare(x.Index, y.Index) })
	t.bridges = append(t.bridges, b)
}

// route reduces a route to its first path: the agent makes none with more. VPP tells a connected route with the
// interface's own host bits.
func route(r *ip.IPRouteV2, source uint8) fact.Route {
	out := fact.Route{Table: r.TableID, Prefix: prefix(r.Prefix).Masked(), API: r.Src == source, Action: fact.ActionDrop, Index: ^uint32(0)}
	if len(r.Paths) == 0 {
		return out
	}
	p := &r.Paths[0]
	out.Index = p.SwIfIndex
	switch p.Type {
	case fib_types.FIB_API_PATH_TYPE_LOCAL:
		out.Action = fact.ActionLocal
	case fib_types.FIB_API_PATH_TYPE_NORMAL:
		via := netip.AddrFrom4(p.Nh.Address.GetIP4())
		if out.Prefix.Addr().Is6() {
			via = netip.AddrFrom16(p.Nh.Address.GetIP6())
		}
		switch {
		case !via.IsUnspecified():
			out.Action, out.Via, out.Lookup = fact.ActionForward, via, p.TableID
		case p.SwIfIndex == ^uint32(0):
			out.Action, out.Lookup = fact.ActionLookup, p.TableID
		default:
			out.Action = fact.ActionForward
		}
	}
	return out
}

// finish sorts everything and finds the route around each route.
func (t *tables) finish() {
	slices.Sort(t.order)
	t.sortSources()
	t.nat.finish()
	slices.Sort(t.ids)
	slices.SortFunc(t.statics, func(a, b fact.Neighbor) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), a.Addr.Compare(b.Addr))
	})
	slices.SortFunc(t.bridges, func(a, b fact.Bridge) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(t.l2, func(a, b fact.FIBEntry) int {
		return cmp.Or(cmp.Compare(a.Bridge, b.Bridge), bytes.Compare(a.MAC[:], b.MAC[:]))
	})
	for _, fib := range t.fibs { //vppdrill:unordered each table by itself
		slices.SortFunc(fib, func(a, b entry) int {
			return cmp.Or(a.Prefix.Addr().Compare(b.Prefix.Addr()), a.Prefix.Bits()-b.Prefix.Bits())
		})
		for i := range fib {
			p := i - 1
			for p >= 0 && !fib[p].Prefix.Contains(fib[i].Prefix.Addr()) {
				p = fib[p].parent
			}
			fib[i].parent = p
		}
	}
}

// Interfaces implements fact.VPP.
func (t *tables) Interfaces() iter.Seq[fact.Interface] {
	return func(yield func(fact.Interface) bool) {
		for _, index := range t.order {
			if !yield(*t.ifaces[index]) {
				return
			}
		}
	}
}

// Interface implements fact.VPP.
func (t *tables) Interface(index uint32) (fact.Interface, bool) {
	if i := t.ifaces[index]; i != nil {
		return *i, true
	}
	return fact.Interface{}, false
}

// Route implements fact.VPP.
func (t *tables) Route(table uint32, dst netip.Addr) (fact.Route, bool) {
	if !slices.Contains(t.ids, table) {
		return fact.Route{}, false
	}
	fib := t.fibs[table]
	i, found := slices.BinarySearchFunc(fib, dst, func(e entry, a netip.Addr) int { return e.Prefix.Addr().Compare(a) })
	for found && i+1 < len(fib) && fib[i+1].Prefix.Addr() == dst {
		i++ // the longest of those that begin with dst
	}
	if !found {
		i--
	}
	for ; i >= 0; i = fib[i].parent {
		if fib[i].Prefix.Contains(dst) {
			return fib[i].Route, true
		}
	}
	everything := netip.IPv4Unspecified()
	if dst.Is6() {
		everything = netip.IPv6Unspecified()
	}
	return fact.Route{Table: table, Prefix: netip.PrefixFrom(everything, 0), Action: fact.ActionDrop}, true
}

// Routes implements fact.VPP.
func (t *tables) Routes(table uint32) iter.Seq[fact.Route] {
	return func(yield func(fact.Route) bool) {
		for _, e := range t.fibs[table] {
			if e.API && !yield(e.Route) {
				return
			}
		}
	}
}

// Tables implements fact.VPP.
func (t *tables) Tables() iter.Seq[uint32] { return slices.Values(t.ids) }

// Neighbor implements fact.VPP.
func (t *tables) Neighbor(index uint32, addr netip.Addr) (vppwire.MAC, bool) {
	for _, n := range t.statics {
		if n.Index == index && n.Addr == addr {
			return n.MAC, true
		}
	}
	return vppwire.MAC{}, false
}

// Neighbors implements fact.VPP.
func (t *tables) Neighbors() iter.Seq[fact.Neighbor] { return slices.Values(t.statics) }

// Bridge implements fact.VPP.
func (t *tables) Bridge(id uint32) (fact.Bridge, bool) {
	for _, b := range t.bridges {
		if b.ID == id {
			return b, true
		}
	}
	return fact.Bridge{}, false
}

// Bridges implements fact.VPP.
func (t *tables) Bridges() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for _, b := range t.bridges {
			if !yield(b.ID) {
				return
			}
		}
	}
}

// FIB implements fact.VPP.
func (t *tables) FIB(bridge uint32, mac vppwire.MAC) (fact.FIBEntry, bool) {
	for _, e := range t.l2 {
		if e.Bridge == bridge && e.MAC == mac {
			return e, true
		}
	}
	return fact.FIBEntry{}, false
}

// FIBs implements fact.VPP.
func (t *tables) FIBs() iter.Seq[fact.FIBEntry] { return slices.Values(t.l2) }

// Tunnel implements fact.VPP.
func (t *tables) Tunnel(local, remote netip.Addr, vni uint32) (uint32, bool) {
	for _, index := range t.order {
		if i := t.ifaces[index]; i.Type == fact.TypeVXLAN && i.Src == local && i.Dst == remote && i.VNI == vni {
			return index, true
		}
	}
	return 0, false
}
