package parity

import (
	"math/rand/v2"
	"net/netip"
	"slices"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/acl"
	"go.fd.io/govpp/binapi/af_packet"
	"go.fd.io/govpp/binapi/arp"
	"go.fd.io/govpp/binapi/ethernet_types"
	"go.fd.io/govpp/binapi/fib_types"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/interface_types"
	"go.fd.io/govpp/binapi/ip"
	"go.fd.io/govpp/binapi/ip_neighbor"
	"go.fd.io/govpp/binapi/ip_types"
	"go.fd.io/govpp/binapi/l2"
	"go.fd.io/govpp/binapi/memif"
	"go.fd.io/govpp/binapi/vxlan"

	"github.com/vppdrill/vppdrill/sim/vppmodel"
)

// generator draws calls from a small world, so that they meet: a dozen addresses, four tables, three bridges.
type generator struct {
	*watch
	rand *rand.Rand
	// nat: the calls are about NAT44 too; acl: about ACLs; memif: about memif interfaces.
	nat, acl, memif bool
}

// Generate returns sequences of n calls each, one behind the other on the same VPPs, with a nil after each: there
// everything is looked at. A new sequence deletes most of what the last one left. A seed gives the same calls
// everywhere.
func Generate(seed uint64, sequences, n int) []api.Message {
	g := &generator{watch: newWatch(), rand: rand.New(rand.NewPCG(seed, 0x70617269)), nat: seed%3 == 0, acl: seed%3 == 1, memif: seed%3 == 2}
	var calls []api.Message
	for s := range sequences {
		made := 0
		call := func(m api.Message) {
			if g.hits(m) != "" {
				return
			}
			calls = append(calls, m)
			made++
			g.note(m)
		}
		if s > 0 {
			g.tidy(call)
		}
		for made < n-stageCalls {
			call(g.next())
		}
		for made < n {
			call(g.stage())
		}
		calls = append(calls, nil)
	}
	return calls
}

// tidy deletes interfaces, in their order or against it, and leaves what they leave behind.
func (g *generator) tidy(call func(api.Message)) {
	all := slices.Clone(g.live)
	if g.chance(50) {
		slices.Reverse(all)
	}
	for _, at := range all {
		i, _ := g.vpp.Interface(at)
		switch {
		case g.chance(10), i.Kind == vppmodel.KindAFPacket && g.chance(60): // it stays; the kernel takes its time over rings
		case i.Kind == vppmodel.KindLoopback:
			call(&interfaces.DeleteLoopback{SwIfIndex: index(at)})
		case i.Kind == vppmodel.KindMemif:
			call(&memif.MemifDelete{SwIfIndex: index(at)})
		case i.Kind == vppmodel.KindAFPacket:
			call(&af_packet.AfPacketDelete{HostIfName: i.Host})
		case i.Kind == vppmodel.KindVXLAN:
			call(&vxlan.VxlanAddDelTunnelV3{SrcAddress: message(i.Src), DstAddress: message(i.Dst), Vni: i.VNI, EncapVrfID: i.EncapTable,
				Instance: none, McastSwIfIndex: none, DecapNextIndex: none})
		}
	}
}

// stageCalls are the last calls of a sequence, which make it likelier that packets get somewhere.
const stageCalls = 12

// stage is a call about an AF_PACKET interface, where packets come in and out.
func (g *generator) stage() api.Message {
	var ports []vppmodel.Interface
	for i := range g.vpp.Interfaces() {
		if i.Kind == vppmodel.KindAFPacket && i.Host != "" {
			ports = append(ports, i)
		}
	}
	if len(ports) == 0 || len(ports) < 3 && g.chance(20) {
		m := g.afPacket().(*af_packet.AfPacketCreateV3)
		m.Mode = af_packet.AF_PACKET_API_MODE_ETHERNET
		return m
	}
	i := pick(g, ports...)
	if !i.Up {
		return &interfaces.SwInterfaceSetFlags{SwIfIndex: index(i.Index), Flags: interface_types.IF_STATUS_API_FLAG_ADMIN_UP}
	}
	if g.nat && len(i.Addrs) > 0 && g.chance(50) {
		return g.natStage(i.Index)
	}
	if g.acl && g.chance(15) {
		m := g.aclList().(*acl.ACLInterfaceSetACLList)
		m.SwIfIndex = index(i.Index)
		return m
	}
	is6 := g.is6()
	if len(i.Addrs) == 0 && i.Bridge == 0 {
		if g.chance(30) {
			return &l2.SwInterfaceSetL2Bridge{RxSwIfIndex: index(i.Index), BdID: pick[uint32](g, 1, 1, 2), Shg: pick[uint8](g, 0, 0, 1), Enable: true}
		}
		return &interfaces.SwInterfaceAddDelAddress{SwIfIndex: index(i.Index), IsAdd: true,
			Prefix: ip_types.AddressWithPrefix{Address: message(g.addr(is6)), Len: g.prefixLen(is6)}}
	}
	switch n := g.rand.IntN(100); {
	case n < 40:
		m := g.neighbor().(*ip_neighbor.IPNeighborAddDel)
		m.IsAdd, m.Neighbor.SwIfIndex, m.Neighbor.IPAddress = true, index(i.Index), message(g.addr(is6))
		return m
	case n < 70:
		p := fib_types.FibPath{SwIfIndex: i.Index, Weight: 1, Nh: fib_types.FibPathNh{Address: message(g.addr(is6)).Un}}
		table := i.Tables[0]
		if is6 {
			p.Proto, table = fib_types.FIB_API_PATH_NH_PROTO_IP6, i.Tables[1]
		}
		return &ip.IPRouteAddDelV2{IsAdd: true, Route: ip.IPRouteV2{TableID: table, Prefix: g.prefix(is6), Paths: []fib_types.FibPath{p}}}
	case n < 80 && i.Bridge != 0:
		return &l2.L2fibAddDel{IsAdd: true, Mac: g.aMAC(), BdID: i.Bridge, SwIfIndex: index(i.Index), StaticMac: true}
	}
	return g.next()
}

// op is one kind of call and how often it is drawn.
type op struct {
	weight int
	draw   func(*generator) api.Message
}

var ops = []op{
	{7, (*generator).loopback}, {3, (*generator).loopbackDelete}, {2, (*generator).afPacket}, {1, (*generator).afPacketDelete},
	{6, (*generator).tunnel}, {8, (*generator).flags}, {2, (*generator).interfaceTrifle}, {2, (*generator).mac},
	{9, (*generator).address}, {5, (*generator).bind}, {3, (*generator).unnumbered}, {5, (*generator).table},
	{16, (*generator).route}, {8, (*generator).lookup}, {9, (*generator).neighbor}, {1, (*generator).neighborConfig}, {1, (*generator).neighborsReplaced},
	{3, (*generator).bridge}, {1, (*generator).bridgeFlags}, {6, (*generator).member}, {6, (*generator).l2fib}, {2, (*generator).proxy},
}

func (g *generator) next() api.Message {
	ops, total := ops, 0
	if g.nat {
		ops = slices.Concat(ops, natOps)
	}
	if g.acl {
		ops = slices.Concat(ops, aclOps)
	}
	if g.memif {
		ops = slices.Concat(ops, memifOps)
	}
	for _, o := range ops {
		total += o.weight
	}
	n := g.rand.IntN(total)
	for _, o := range ops {
		if n -= o.weight; n < 0 {
			return o.draw(g)
		}
	}
	panic("parity: weights")
}

func (g *generator) chance(percent int) bool { return g.rand.IntN(100) < percent }

func pick[T any](g *generator, of ...T) T { return of[g.rand.IntN(len(of))] }

// iface is an interface that is there, most of the time.
func (g *generator) iface() index {
	if len(g.live) > 0 && !g.chance(8) {
		return index(g.live[g.rand.IntN(len(g.live))])
	}
	return pick(g, index(0), index(1), index(2), index(3), index(5), index(8), index(99), none)
}

var (
	four = []string{"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.1.1", "10.0.1.9", "10.1.0.2", "192.168.16.1", "192.168.16.2", "192.168.16.3", "172.16.0.1"}
	six  = []string{"fd00::1", "fd00::2", "fd00::3", "fd00:1::1", "fd00:1::9", "fd01::1"}
)

func (g *generator) addr(is6 bool) netip.Addr {
	if is6 {
		return netip.MustParseAddr(pick(g, six...))
	}
	return netip.MustParseAddr(pick(g, four...))
}

func (g *generator) is6() bool { return g.chance(20) }

func message(a netip.Addr) ip_types.Address {
	return ip_types.NewAddress(a.AsSlice())
}

func (g *generator) prefixLen(is6 bool) uint8 {
	if is6 {
		return pick[uint8](g, 128, 128, 128, 64, 64, 48, 32)
	}
	return pick[uint8](g, 32, 32, 32, 24, 24, 16, 8, 31, 30)
}

func (g *generator) aMAC() ethernet_types.MacAddress {
	return ethernet_types.MacAddress{2, 0, 0, 0, 0, byte(1 + g.rand.IntN(4))}
}

func (g *generator) tableID() uint32 { return pick[uint32](g, 0, 0, 0, 1, 1, 1, 7, 9) }

func (g *generator) loopback() api.Message {
	m := &interfaces.CreateLoopbackInstance{}
	if g.chance(60) {
		m.IsSpecified, m.UserInstance = true, pick[uint32](g, 0, 1, 2, 3, 16383, 16384)
	}
	if g.chance(60) {
		m.MacAddress = g.aMAC()
	}
	return m
}

func (g *generator) loopbackDelete() api.Message {
	return &interfaces.DeleteLoopback{SwIfIndex: g.iface()}
}

func (g *generator) afPacket() api.Message {
	m := &af_packet.AfPacketCreateV3{Mode: af_packet.AF_PACKET_API_MODE_ETHERNET, HostIfName: pick(g, "vd0", "vd1", "vd2", "vd3", "vd9"),
		HwAddr: ethernet_types.MacAddress{2, 0, 0, 0, 0x0c, byte(g.rand.IntN(4))}, NumRxQueues: 1, NumTxQueues: 1}
	if g.chance(4) {
		m.Mode = pick[af_packet.AfPacketMode](g, 0, 7)
	}
	return m
}

func (g *generator) afPacketDelete() api.Message {
	return &af_packet.AfPacketDelete{HostIfName: pick(g, "vd0", "vd1", "vd2", "vd3", "vd9")}
}

func (g *generator) tunnel() api.Message {
	is6 := g.chance(25)
	m := &vxlan.VxlanAddDelTunnelV3{IsAdd: g.chance(70), SrcAddress: message(g.addr(is6)), DstAddress: message(g.addr(is6)), Vni: pick[uint32](g, 10, 10, 11),
		Instance: pick[uint32](g, none, none, 1, 2, 3), McastSwIfIndex: none, DecapNextIndex: none, EncapVrfID: pick[uint32](g, 0, 0, 0, 1, 9), IsL3: g.chance(5)}
	switch { // most of them share their ends, so that each is a packet's way
	case !is6:
		m.SrcAddress, m.DstAddress = message(netip.MustParseAddr(pick(g, "192.168.16.1", "192.168.16.2"))), message(netip.MustParseAddr(pick(g, "192.168.16.2", "192.168.16.3")))
	case g.chance(70):
		m.SrcAddress, m.DstAddress = message(netip.MustParseAddr(pick(g, "fd00::1", "fd00::2"))), message(netip.MustParseAddr(pick(g, "fd00::2", "fd00::3")))
	}
	if g.chance(3) {
		m.DstAddress = message(g.addr(!is6))
	}
	return m
}

func (g *generator) flags() api.Message {
	m := &interfaces.SwInterfaceSetFlags{SwIfIndex: g.iface()}
	if g.chance(75) {
		m.Flags = interface_types.IF_STATUS_API_FLAG_ADMIN_UP
	}
	return m
}

// interfaceTrifle is a call that nothing else depends on.
func (g *generator) interfaceTrifle() api.Message {
	at := g.iface()
	switch g.rand.IntN(4) {
	case 0:
		return &interfaces.SwInterfaceSetMtu{SwIfIndex: at, Mtu: []uint32{pick[uint32](g, 1450, 1500, 9000, 0), pick[uint32](g, 0, 0, 1400), 0, 0}}
	case 1:
		return &interfaces.SwInterfaceTagAddDel{SwIfIndex: at, IsAdd: g.chance(70), Tag: pick(g, "", "pod/a", "pod/b")}
	case 2:
		return &interfaces.SwInterfaceGetMacAddress{SwIfIndex: at}
	}
	return &interfaces.SwInterfaceGetTable{SwIfIndex: at, IsIPv6: g.is6()}
}

func (g *generator) mac() api.Message {
	return &interfaces.SwInterfaceSetMacAddress{SwIfIndex: g.iface(), MacAddress: g.aMAC()}
}

func (g *generator) address() api.Message {
	is6 := g.is6()
	m := &interfaces.SwInterfaceAddDelAddress{SwIfIndex: g.iface(), IsAdd: g.chance(70),
		Prefix: ip_types.AddressWithPrefix{Address: message(g.addr(is6)), Len: g.prefixLen(is6)}}
	if g.chance(3) {
		m.Prefix.Len = 0
	}
	m.DelAll = !m.IsAdd && g.chance(15)
	return m
}

func (g *generator) bind() api.Message {
	return &interfaces.SwInterfaceSetTable{SwIfIndex: g.iface(), IsIPv6: g.is6(), VrfID: g.tableID()}
}

func (g *generator) unnumbered() api.Message {
	return &interfaces.SwInterfaceSetUnnumbered{SwIfIndex: g.iface(), UnnumberedSwIfIndex: g.iface(), IsAdd: g.chance(75)}
}

func (g *generator) table() api.Message {
	t := ip.IPTable{TableID: pick[uint32](g, 1, 1, 1, 7, 0), IsIP6: g.is6()}
	switch n := g.rand.IntN(100); {
	case n < 6:
		return &ip.IPTableFlush{Table: t}
	case n < 40:
		return &ip.IPTableAddDelV2{Table: t, CreateMfib: true}
	}
	return &ip.IPTableAddDelV2{Table: t, IsAdd: true, CreateMfib: true}
}

func (g *generator) path(is6 bool) fib_types.FibPath {
	p := fib_types.FibPath{SwIfIndex: none, Weight: 1}
	if is6 {
		p.Proto = fib_types.FIB_API_PATH_NH_PROTO_IP6
	}
	hop := func() { p.Nh.Address = message(g.addr(is6)).Un }
	switch n := g.rand.IntN(100); {
	case n < 45:
		p.SwIfIndex = uint32(g.iface())
		hop()
	case n < 55:
		p.SwIfIndex = uint32(g.iface())
	case n < 70:
		hop()
		p.TableID = g.tableID()
	case n < 85:
		p.TableID = g.tableID()
	case n < 95:
		p.Type = fib_types.FIB_API_PATH_TYPE_DROP
	default:
		p.Type = pick(g, fib_types.FIB_API_PATH_TYPE_ICMP_UNREACH, fib_types.FIB_API_PATH_TYPE_ICMP_PROHIBIT, fib_types.FIB_API_PATH_TYPE_LOCAL)
	}
	if g.chance(5) {
		p.Weight = pick[uint8](g, 0, 3)
	}
	if g.chance(3) {
		p.Preference = 1
	}
	return p
}

func (g *generator) prefix(is6 bool) ip_types.Prefix {
	p, _ := g.addr(is6).Prefix(int(g.prefixLen(is6))) // the length fits
	if g.chance(6) {
		p = netip.PrefixFrom(p.Addr(), 0)
	}
	if g.chance(5) {
		p = netip.PrefixFrom(g.addr(is6), p.Bits()) // with bits of its own behind the prefix
	}
	out := ip_types.Prefix{Address: message(p.Addr()), Len: uint8(p.Bits())}
	if g.chance(2) {
		out.Len = pick[uint8](g, 33, 129, 255)
	}
	return out
}

func (g *generator) route() api.Message {
	is6 := g.is6()
	m := &ip.IPRouteAddDelV2{IsAdd: g.chance(75), IsMultipath: g.chance(20),
		Route: ip.IPRouteV2{TableID: g.tableID(), Prefix: g.prefix(is6)}}
	for range pick(g, 1, 1, 1, 1, 1, 1, 2, 3, 0) {
		m.Route.Paths = append(m.Route.Paths, g.path(is6))
	}
	return m
}

// missing is a table that never exists.
const missing = 9

func (g *generator) lookup() api.Message {
	is6 := g.is6()
	m := &ip.IPRouteLookupV2{TableID: g.tableID(), Prefix: ip_types.Prefix{Address: message(g.addr(is6)), Len: 32}}
	if is6 {
		m.Prefix.Len = 128
	}
	if g.chance(20) {
		m.Exact = 1
	}
	return m
}

func (g *generator) neighbor() api.Message {
	m := &ip_neighbor.IPNeighborAddDel{IsAdd: g.chance(75), Neighbor: ip_neighbor.IPNeighbor{SwIfIndex: g.iface(), MacAddress: g.aMAC(), IPAddress: message(g.addr(g.is6()))}}
	if g.chance(60) {
		m.Neighbor.Flags |= ip_neighbor.IP_API_NEIGHBOR_FLAG_STATIC
	}
	if g.chance(10) {
		m.Neighbor.Flags |= ip_neighbor.IP_API_NEIGHBOR_FLAG_NO_FIB_ENTRY
	}
	return m
}

func (g *generator) neighborsReplaced() api.Message {
	switch n := g.rand.IntN(6); {
	case n < 2:
		return &ip_neighbor.IPNeighborReplaceBegin{}
	case n < 3:
		return &ip_neighbor.IPNeighborReplaceEnd{}
	}
	return &ip_neighbor.IPNeighborFlush{Af: pick[ip_types.AddressFamily](g, 0, 0, 1), SwIfIndex: pick(g, g.iface(), none)}
}

func (g *generator) neighborConfig() api.Message {
	c := &ip_neighbor.IPNeighborConfig{Af: pick[ip_types.AddressFamily](g, 0, 0, 1), MaxNumber: pick[uint32](g, 50000, 0, 3), MaxAge: pick[uint32](g, 0, 600)}
	if c.Af == ip_types.ADDRESS_IP6 {
		c.MaxNumber = max(c.MaxNumber, 50000) // VPP hears of more neighbors of IPv6 than it is told: gap subnet-neighbor
	}
	return c
}

func (g *generator) bridgeID() uint32 { return pick[uint32](g, 1, 1, 1, 2, 2, 3, 0, 1<<24) }

func (g *generator) bridge() api.Message {
	return &l2.BridgeDomainAddDelV2{BdID: g.bridgeID(), IsAdd: g.chance(70), Flood: g.chance(50), UuFlood: g.chance(50), Forward: g.chance(80),
		Learn: g.chance(30), ArpTerm: g.chance(20), ArpUfwd: g.chance(20), MacAge: pick[uint8](g, 0, 0, 5), BdTag: pick(g, "", "bd")}
}

func (g *generator) bridgeFlags() api.Message {
	return &l2.BridgeFlags{BdID: g.bridgeID(), IsSet: g.chance(50), Flags: pick(g, l2.BRIDGE_API_FLAG_LEARN, l2.BRIDGE_API_FLAG_FWD,
		l2.BRIDGE_API_FLAG_FLOOD, l2.BRIDGE_API_FLAG_UU_FLOOD, l2.BRIDGE_API_FLAG_ARP_TERM, l2.BRIDGE_API_FLAG_ARP_UFWD)}
}

func (g *generator) member() api.Message {
	return &l2.SwInterfaceSetL2Bridge{RxSwIfIndex: g.iface(), BdID: g.bridgeID(), PortType: pick(g, l2.L2_API_PORT_TYPE_NORMAL, l2.L2_API_PORT_TYPE_NORMAL,
		l2.L2_API_PORT_TYPE_BVI, l2.L2_API_PORT_TYPE_UU_FWD), Shg: pick[uint8](g, 0, 1), Enable: g.chance(80)}
}

func (g *generator) l2fib() api.Message {
	return &l2.L2fibAddDel{Mac: g.aMAC(), BdID: g.bridgeID(), SwIfIndex: g.iface(), IsAdd: g.chance(70), StaticMac: g.chance(90), FilterMac: g.chance(5)}
}

func (g *generator) proxy() api.Message {
	if g.chance(50) {
		return &arp.ProxyArpIntfcEnableDisable{SwIfIndex: g.iface(), Enable: g.chance(70)}
	}
	low, high := g.addr(false).As4(), g.addr(false).As4()
	return &arp.ProxyArpAddDel{IsAdd: g.chance(70), Proxy: arp.ProxyArp{TableID: g.tableID(), Low: low, Hi: high}}
}
