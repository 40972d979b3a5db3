package parity

import (
	"net/netip"
	"slices"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/ip_types"
	"go.fd.io/govpp/binapi/nat44_ed"
	"go.fd.io/govpp/binapi/nat_types"

	"github.com/vppdrill/vppdrill/sim/vppmodel"
)

// natOps are drawn beside ops in a third of all chains.
var natOps = []op{
	{4, (*generator).natPlugin}, {8, (*generator).natSide}, {1, (*generator).natOutput}, {2, (*generator).natAddress}, {2, (*generator).natForwarding},
	{1, (*generator).natTimeouts}, {3, (*generator).natIdentity}, {9, (*generator).natService}, {7, (*generator).natLocal},
}

// outer are the addresses that NAT serves; no other call names them, as VPP makes them its own in the tables of outside
// interfaces.
var outer = []string{"10.96.0.1", "10.96.0.2", "10.96.0.3"}

// natTwice is what clients become that are translated too, and natPool what leaves by an output interface gets.
const natTwice, natPool = "10.97.0.1", "10.97.0.2"

const udpNumber, tcpNumber = 17, 6

func ip4Of(text string) ip_types.IP4Address { return netip.MustParseAddr(text).As4() }

func (g *generator) natPlugin() api.Message {
	m := &nat44_ed.Nat44EdPluginEnableDisable{Enable: g.chance(85), Sessions: pick[uint32](g, 0, 1000, 1024)}
	if g.chance(10) {
		m.Flags = pick(g, nat44_ed.NAT44_IS_STATIC_MAPPING_ONLY, nat44_ed.NAT44_IS_CONNECTION_TRACKING)
	}
	return m
}

func (g *generator) natSide() api.Message {
	return &nat44_ed.Nat44InterfaceAddDelFeature{IsAdd: g.chance(80), Flags: pick(g, nat_types.NAT_IS_INSIDE, nat_types.NAT_IS_OUTSIDE), SwIfIndex: g.iface()}
}

func (g *generator) natOutput() api.Message {
	return &nat44_ed.Nat44EdAddDelOutputInterface{IsAdd: g.chance(40), SwIfIndex: g.iface()}
}

func (g *generator) natAddress() api.Message {
	m := &nat44_ed.Nat44AddDelAddressRange{IsAdd: g.chance(70), VrfID: none, FirstIPAddress: ip4Of(natTwice), Flags: nat_types.NAT_IS_TWICE_NAT}
	if g.chance(25) {
		m.FirstIPAddress, m.Flags = ip4Of(natPool), 0
	}
	m.LastIPAddress = m.FirstIPAddress
	return m
}

func (g *generator) natForwarding() api.Message {
	return &nat44_ed.Nat44ForwardingEnableDisable{Enable: g.chance(80)}
}

func (g *generator) natTimeouts() api.Message {
	return &nat44_ed.NatSetTimeouts{UDP: pick[uint32](g, 300, 301), TCPEstablished: pick[uint32](g, 7440, 10800), TCPTransitory: 240, ICMP: 60}
}

// natTable is one that stays while NAT names it.
func (g *generator) natTable() uint32 {
	if g.locked[tableKey{1, false}] && g.chance(30) {
		return 1
	}
	return 0
}

func (g *generator) natIdentity() api.Message {
	m := &nat44_ed.Nat44AddDelIdentityMapping{IsAdd: g.chance(70), IPAddress: ip4Of(pick(g, outer...)), SwIfIndex: none, VrfID: g.natTable()}
	if m.Flags = nat_types.NAT_IS_ADDR_ONLY; g.chance(60) {
		m.Flags, m.Protocol, m.Port = 0, pick[uint8](g, udpNumber, udpNumber, tcpNumber), pick[uint16](g, 80, 4789)
	}
	return m
}

func (g *generator) natLocalOf(weight uint8) nat44_ed.Nat44LbAddrPort {
	return nat44_ed.Nat44LbAddrPort{Addr: ip4Of(pick(g, four...)), Port: pick[uint16](g, 80, 8080), Probability: weight, VrfID: g.natTable()}
}

// natService is a mapping, mostly as the wiring makes them: of one endpoint and a placeholder that is never drawn.
func (g *generator) natService() api.Message {
	m := &nat44_ed.Nat44AddDelLbStaticMapping{IsAdd: g.chance(75), ExternalAddr: ip4Of(pick(g, outer...)), ExternalPort: pick[uint16](g, 80, 443),
		Protocol: pick[uint8](g, udpNumber, udpNumber, udpNumber, tcpNumber),
		Flags:    nat_types.NAT_IS_OUT2IN_ONLY | pick(g, 0, 0, nat_types.NAT_IS_TWICE_NAT, nat_types.NAT_IS_SELF_TWICE_NAT)}
	if g.chance(5) {
		m.Flags &^= nat_types.NAT_IS_OUT2IN_ONLY // refused without the address in the pool
	}
	m.Locals = append(m.Locals, nat44_ed.Nat44LbAddrPort{Addr: m.ExternalAddr, Port: m.ExternalPort}, g.natLocalOf(5))
	switch n := g.rand.IntN(100); {
	case n < 5:
		m.Locals = m.Locals[1:]
	case n < 20:
		m.Locals = append(m.Locals, g.natLocalOf(pick[uint8](g, 1, 5)))
	}
	return m
}

// natLocal adds or takes away an endpoint, mostly of a mapping that there is.
func (g *generator) natLocal() api.Message {
	m := &nat44_ed.Nat44LbStaticMappingAddDelLocal{IsAdd: g.chance(55), ExternalAddr: ip4Of(pick(g, outer...)), ExternalPort: 80, Protocol: udpNumber, Local: g.natLocalOf(5)}
	c, _ := g.vpp.NAT()
	all := slices.DeleteFunc(c.Mappings, func(o vppmodel.NATMapping) bool { return o.Identity })
	if len(all) == 0 || g.chance(10) {
		return m
	}
	o := pick(g, all...)
	m.ExternalAddr, m.ExternalPort, m.Protocol = o.Addr.As4(), o.Port, o.Proto
	if !m.IsAdd {
		l := pick(g, o.Locals...)
		m.Local = nat44_ed.Nat44LbAddrPort{Addr: l.Addr.Addr().As4(), Port: l.Addr.Port(), Probability: l.Weight, VrfID: l.Table}
	}
	return m
}

// natStage brings NAT on the way to translate something, nil once it does.
func (g *generator) natStage(port uint32) api.Message {
	i, _ := g.vpp.Interface(port)
	switch c, on := g.vpp.NAT(); {
	case !on:
		return &nat44_ed.Nat44EdPluginEnableDisable{Enable: true}
	case !c.Forwarding:
		return &nat44_ed.Nat44ForwardingEnableDisable{Enable: true}
	case len(c.Twice) == 0 && g.chance(50):
		return &nat44_ed.Nat44AddDelAddressRange{IsAdd: true, VrfID: none, FirstIPAddress: ip4Of(natTwice), LastIPAddress: ip4Of(natTwice), Flags: nat_types.NAT_IS_TWICE_NAT}
	case i.NAT == 0 || i.NAT == natOutsideBit:
		return &nat44_ed.Nat44InterfaceAddDelFeature{IsAdd: true, Flags: nat_types.NAT_IS_INSIDE, SwIfIndex: index(port)}
	case i.NAT == natInsideBit:
		return &nat44_ed.Nat44InterfaceAddDelFeature{IsAdd: true, Flags: nat_types.NAT_IS_OUTSIDE, SwIfIndex: index(port)}
	}
	return g.natService()
}

// natInsideBit and natOutsideBit are what Interface.NAT of the model says.
const natInsideBit, natOutsideBit = 1, 2

// hitsNAT is hitsNow for what NAT makes deadly or leaves behind.
func (w *watch) hitsNAT(m api.Message) string {
	switch m := m.(type) {
	case *nat44_ed.Nat44AddDelLbStaticMapping, *nat44_ed.Nat44LbStaticMappingAddDelLocal:
		return string(w.vpp.PredictCrash(m))
	}
	return ""
}

// natNames reports whether NAT names a table of IPv4.
func (w *watch) natNames(table uint32) bool {
	c, _ := w.vpp.NAT()
	return slices.ContainsFunc(c.Mappings, func(m vppmodel.NATMapping) bool {
		return m.Identity || slices.ContainsFunc(m.Locals, func(l vppmodel.NATLocal) bool { return l.Table == table })
	})
}
