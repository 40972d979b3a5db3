package vppwire

import (
	"net/netip"

	"go.fd.io/govpp/binapi/af_packet"
	"go.fd.io/govpp/binapi/ethernet_types"
	"go.fd.io/govpp/binapi/fib_types"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/ip"
	"go.fd.io/govpp/binapi/ip_neighbor"
	"go.fd.io/govpp/binapi/ip_types"
	"go.fd.io/govpp/binapi/l2"
	"go.fd.io/govpp/binapi/tapv2"
	"go.fd.io/govpp/binapi/vxlan"
)

// messages are one Session's request and reply buffers. At most one call is outstanding, so each type is needed once.
type messages struct {
	setFlags        interfaces.SwInterfaceSetFlags
	setFlagsReply   interfaces.SwInterfaceSetFlagsReply
	setTable        interfaces.SwInterfaceSetTable
	setTableReply   interfaces.SwInterfaceSetTableReply
	getTable        interfaces.SwInterfaceGetTable
	getTableReply   interfaces.SwInterfaceGetTableReply
	address         interfaces.SwInterfaceAddDelAddress
	addressReply    interfaces.SwInterfaceAddDelAddressReply
	unnumbered      interfaces.SwInterfaceSetUnnumbered
	unnumberedReply interfaces.SwInterfaceSetUnnumberedReply
	mtu             interfaces.SwInterfaceSetMtu
	mtuReply        interfaces.SwInterfaceSetMtuReply
	mac             interfaces.SwInterfaceSetMacAddress
	macReply        interfaces.SwInterfaceSetMacAddressReply
	tag             interfaces.SwInterfaceTagAddDel
	tagReply        interfaces.SwInterfaceTagAddDelReply
	loopback        interfaces.CreateLoopbackInstance
	loopbackReply   interfaces.CreateLoopbackInstanceReply
	loopbackDel     interfaces.DeleteLoopback
	loopbackDelRep  interfaces.DeleteLoopbackReply
	tap             tapv2.TapCreateV3
	tapReply        tapv2.TapCreateV3Reply
	tapDel          tapv2.TapDeleteV2
	tapDelReply     tapv2.TapDeleteV2Reply
	afPacket        af_packet.AfPacketCreateV3
	afPacketReply   af_packet.AfPacketCreateV3Reply
	afPacketDel     af_packet.AfPacketDelete
	afPacketDelRep  af_packet.AfPacketDeleteReply
	table           ip.IPTableAddDelV2
	tableReply      ip.IPTableAddDelV2Reply
	route           ip.IPRouteAddDelV2
	routePath       [1]fib_types.FibPath
	routeReply      ip.IPRouteAddDelV2Reply
	neighbor        ip_neighbor.IPNeighborAddDel
	neighborReply   ip_neighbor.IPNeighborAddDelReply
	neighborConf    ip_neighbor.IPNeighborConfig
	neighborConfRep ip_neighbor.IPNeighborConfigReply
	neighborGet     ip_neighbor.IPNeighborConfigGet
	neighborGetRep  ip_neighbor.IPNeighborConfigGetReply
	bridge          l2.BridgeDomainAddDelV2
	bridgeReply     l2.BridgeDomainAddDelV2Reply
	member          l2.SwInterfaceSetL2Bridge
	memberReply     l2.SwInterfaceSetL2BridgeReply
	fib             l2.L2fibAddDel
	fibReply        l2.L2fibAddDelReply
	vxlan           vxlan.VxlanAddDelTunnelV3
	vxlanReply      vxlan.VxlanAddDelTunnelV3Reply
}

// allInterfaces is VPP's ~0: every interface in a dump, no interface in a path, "choose" for an instance.
const allInterfaces = ^uint32(0)

func toMAC(m MAC) ethernet_types.MacAddress { return ethernet_types.MacAddress(m) }

func toAddress(a netip.Addr) (out ip_types.Address) {
	if a.Is4() {
		out.Af = ip_types.ADDRESS_IP4
		b := a.As4()
		copy(out.Un.XXX_UnionData[:], b[:])
		return out
	}
	out.Af = ip_types.ADDRESS_IP6
	b := a.As16()
	copy(out.Un.XXX_UnionData[:], b[:])
	return out
}

func fromAddress(a ip_types.Address) netip.Addr { return fromUnion(a.Un, a.Af == ip_types.ADDRESS_IP6) }

func fromUnion(u ip_types.AddressUnion, is6 bool) netip.Addr {
	if is6 {
		return netip.AddrFrom16(u.XXX_UnionData)
	}
	return netip.AddrFrom4([4]byte(u.XXX_UnionData[:4]))
}

func toPrefix(p netip.Prefix) ip_types.Prefix {
	return ip_types.Prefix{Address: toAddress(p.Addr()), Len: uint8(p.Bits())}
}

func fromPrefix(p ip_types.Prefix) netip.Prefix {
	return netip.PrefixFrom(fromAddress(p.Address), int(p.Len))
}

// full is a as a prefix of its whole length.
func full(a netip.Addr) netip.Prefix { return netip.PrefixFrom(a, a.BitLen()) }
