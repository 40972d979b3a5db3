package removal

import (
	"net/netip"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/af_packet"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/interface_types"
	"go.fd.io/govpp/binapi/ip"
	"go.fd.io/govpp/binapi/ip_neighbor"
	"go.fd.io/govpp/binapi/ip_types"
	"go.fd.io/govpp/binapi/l2"
	"go.fd.io/govpp/binapi/nat44_ed"
	"go.fd.io/govpp/binapi/tapv2"
	"go.fd.io/govpp/binapi/vxlan"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire"
)

// Target is the thing that a request deletes or may replace. The zero Target is none.
type Target struct {
	What fact.Thing
	// Sets: the request sets the thing, so that it takes away only what was there otherwise. Else it deletes it.
	Sets bool
	// Index is VPP's interface, none where there is none; Name a Linux link, Netns its namespace.
	Index       uint32
	Name, Netns string
	// Table is a table's or a bridge domain's ID.
	Table    uint32
	Prefix   netip.Prefix
	Addr     netip.Addr
	MAC      vppwire.MAC
	Src, Dst netip.Addr
	VNI      uint32
	// Port and Proto, of IP, are a mapping's beside Addr.
	Port  uint16
	Proto uint8
	// IP6: a table of IPv6 is meant.
	IP6 bool
}

// none is VPP's ~0: no interface.
const none = ^uint32(0)

// OfVPP reads a binary API request; false for one that takes nothing away.
func OfVPP(req api.Message) (Target, bool) {
	switch m := req.(type) {
	case *interfaces.DeleteLoopback:
		return Target{What: fact.RemovedInterface, Index: uint32(m.SwIfIndex)}, true
	case *tapv2.TapDeleteV2:
		return Target{What: fact.RemovedInterface, Index: uint32(m.SwIfIndex)}, true
	case *af_packet.AfPacketDelete:
		return Target{What: fact.RemovedInterface, Index: none, Name: m.HostIfName}, true
	case *vxlan.VxlanAddDelTunnelV3:
		return Target{What: fact.RemovedTunnel, Index: none, Src: addr(m.SrcAddress), Dst: addr(m.DstAddress), VNI: m.Vni}, !m.IsAdd
	case *interfaces.SwInterfaceSetFlags:
		return Target{What: fact.RemovedUp, Index: uint32(m.SwIfIndex)}, m.Flags&interface_types.IF_STATUS_API_FLAG_ADMIN_UP == 0
	case *interfaces.SwInterfaceSetMacAddress:
		return Target{What: fact.RemovedMAC, Sets: true, Index: uint32(m.SwIfIndex), MAC: vppwire.MAC(m.MacAddress)}, true
	case *interfaces.SwInterfaceAddDelAddress:
		return Target{What: fact.RemovedAddress, Index: uint32(m.SwIfIndex), Prefix: netip.PrefixFrom(addr(m.Prefix.Address), int(m.Prefix.Len))}, !m.IsAdd
	case *interfaces.SwInterfaceSetUnnumbered:
		return Target{What: fact.RemovedUnnumbered, Index: uint32(m.UnnumberedSwIfIndex)}, !m.IsAdd
	case *interfaces.SwInterfaceSetTable:
		return Target{What: fact.RemovedInTable, Sets: true, Index: uint32(m.SwIfIndex), Table: m.VrfID, IP6: m.IsIPv6}, true
	}
	return ofTables(req)
}

// ofTables is OfVPP for what is not an interface's own.
func ofTables(req api.Message) (Target, bool) {
	switch m := req.(type) {
	case *l2.SwInterfaceSetL2Bridge:
		return Target{What: fact.RemovedMember, Sets: m.Enable, Index: uint32(m.RxSwIfIndex), Table: m.BdID}, true
	case *l2.BridgeDomainAddDelV2:
		return Target{What: fact.RemovedBridge, Index: none, Table: m.BdID}, !m.IsAdd
	case *l2.L2fibAddDel:
		return Target{What: fact.RemovedFIB, Sets: m.IsAdd, Index: uint32(m.SwIfIndex), Table: m.BdID, MAC: vppwire.MAC(m.Mac)}, true
	case *ip.IPTableAddDelV2:
		return Target{What: fact.RemovedTable, Index: none, Table: m.Table.TableID}, !m.IsAdd
	case *ip.IPRouteAddDelV2:
		p := netip.PrefixFrom(addr(m.Route.Prefix.Address), int(m.Route.Prefix.Len)).Masked()
		t := Target{What: fact.RemovedRoute, Sets: m.IsAdd, Index: none, Table: m.Route.TableID, Prefix: p}
		if len(m.Route.Paths) > 0 {
			t.Index = m.Route.Paths[0].SwIfIndex
		}
		return t, true
	case *nat44_ed.Nat44AddDelLbStaticMapping:
		return Target{What: fact.RemovedMapping, Index: none, Addr: netip.AddrFrom4(m.ExternalAddr), Port: m.ExternalPort, Proto: m.Protocol}, !m.IsAdd
	case *ip_neighbor.IPNeighborAddDel:
		return Target{What: fact.RemovedNeighbor, Sets: m.IsAdd, Index: uint32(m.Neighbor.SwIfIndex), Addr: addr(m.Neighbor.IPAddress),
			MAC: vppwire.MAC(m.Neighbor.MacAddress)}, true
	}
	return Target{}, false
}

func addr(a ip_types.Address) netip.Addr {
	if a.Af == ip_types.ADDRESS_IP6 {
		return netip.AddrFrom16(a.Un.GetIP6())
	}
	return netip.AddrFrom4(a.Un.GetIP4())
}
