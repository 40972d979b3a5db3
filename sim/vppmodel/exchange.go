package vppmodel

import (
	"slices"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/af_packet"
	"go.fd.io/govpp/binapi/arp"
	"go.fd.io/govpp/binapi/dhcp"
	"go.fd.io/govpp/binapi/fib"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/ip"
	"go.fd.io/govpp/binapi/ip_neighbor"
	"go.fd.io/govpp/binapi/l2"
	"go.fd.io/govpp/binapi/memclnt"
	"go.fd.io/govpp/binapi/tapv2"
	"go.fd.io/govpp/binapi/vpe"
	"go.fd.io/govpp/binapi/vxlan"
)

// Exchange is one request that the model answers, with zero messages of the types that are spoken.
type Exchange struct {
	Request api.Message
	// Details is what a dump consists of; nil for a plain request.
	Details api.Message
	// Reply answers a plain request, or ends a dump of the newer kind; nil for a dump that a control ping ends.
	Reply api.Message
}

// Exchanges returns everything that the model answers, in a fixed order. The caller may keep the slice, not change messages.
func Exchanges() []Exchange { return slices.Clone(exchanges) }

// Events returns what the model announces on its own, with zero messages, in a fixed order.
func Events() []api.Message {
	return []api.Message{&interfaces.SwInterfaceEvent{}, &dhcp.DHCPComplEvent{}}
}

var exchanges = []Exchange{
	{Request: &memclnt.ControlPing{}, Reply: &memclnt.ControlPingReply{}},
	{Request: &vpe.ShowVersion{}, Reply: &vpe.ShowVersionReply{}},

	{Request: &interfaces.SwInterfaceDump{}, Details: &interfaces.SwInterfaceDetails{}},
	{Request: &interfaces.SwInterfaceSetFlags{}, Reply: &interfaces.SwInterfaceSetFlagsReply{}},
	{Request: &interfaces.SwInterfaceTagAddDel{}, Reply: &interfaces.SwInterfaceTagAddDelReply{}},
	{Request: &interfaces.SwInterfaceAddDelAddress{}, Reply: &interfaces.SwInterfaceAddDelAddressReply{}},
	{Request: &interfaces.SwInterfaceSetTable{}, Reply: &interfaces.SwInterfaceSetTableReply{}},
	{Request: &interfaces.SwInterfaceGetTable{}, Reply: &interfaces.SwInterfaceGetTableReply{}},
	{Request: &interfaces.SwInterfaceSetUnnumbered{}, Reply: &interfaces.SwInterfaceSetUnnumberedReply{}},
	{Request: &interfaces.SwInterfaceSetMtu{}, Reply: &interfaces.SwInterfaceSetMtuReply{}},
	{Request: &interfaces.HwInterfaceSetMtu{}, Reply: &interfaces.HwInterfaceSetMtuReply{}},
	{Request: &interfaces.SwInterfaceSetMacAddress{}, Reply: &interfaces.SwInterfaceSetMacAddressReply{}},
	{Request: &interfaces.SwInterfaceGetMacAddress{}, Reply: &interfaces.SwInterfaceGetMacAddressReply{}},
	{Request: &interfaces.SwInterfaceSetRxMode{}, Reply: &interfaces.SwInterfaceSetRxModeReply{}},
	{Request: &interfaces.SwInterfaceTxPlacementGet{}, Details: &interfaces.SwInterfaceTxPlacementDetails{},
		Reply: &interfaces.SwInterfaceTxPlacementGetReply{}},
	{Request: &interfaces.WantInterfaceEvents{}, Reply: &interfaces.WantInterfaceEventsReply{}},

	{Request: &interfaces.CreateLoopback{}, Reply: &interfaces.CreateLoopbackReply{}},
	{Request: &interfaces.CreateLoopbackInstance{}, Reply: &interfaces.CreateLoopbackInstanceReply{}},
	{Request: &interfaces.DeleteLoopback{}, Reply: &interfaces.DeleteLoopbackReply{}},
	{Request: &tapv2.TapCreateV3{}, Reply: &tapv2.TapCreateV3Reply{}},
	{Request: &tapv2.TapDeleteV2{}, Reply: &tapv2.TapDeleteV2Reply{}},
	{Request: &tapv2.SwInterfaceTapV2Dump{}, Details: &tapv2.SwInterfaceTapV2Details{}},
	{Request: &af_packet.AfPacketCreateV3{}, Reply: &af_packet.AfPacketCreateV3Reply{}},
	{Request: &af_packet.AfPacketDelete{}, Reply: &af_packet.AfPacketDeleteReply{}},
	{Request: &af_packet.AfPacketDump{}, Details: &af_packet.AfPacketDetails{}},
	{Request: &vxlan.VxlanAddDelTunnelV3{}, Reply: &vxlan.VxlanAddDelTunnelV3Reply{}},
	{Request: &vxlan.VxlanTunnelV2Dump{}, Details: &vxlan.VxlanTunnelV2Details{}},

	{Request: &ip.IPTableAddDel{}, Reply: &ip.IPTableAddDelReply{}},
	{Request: &ip.IPTableAddDelV2{}, Reply: &ip.IPTableAddDelV2Reply{}},
	{Request: &ip.IPTableFlush{}, Reply: &ip.IPTableFlushReply{}},
	{Request: &ip.IPTableDump{}, Details: &ip.IPTableDetails{}},
	{Request: &ip.IPRouteAddDel{}, Reply: &ip.IPRouteAddDelReply{}},
	{Request: &ip.IPRouteAddDelV2{}, Reply: &ip.IPRouteAddDelV2Reply{}},
	{Request: &ip.IPRouteDump{}, Details: &ip.IPRouteDetails{}},
	{Request: &ip.IPRouteV2Dump{}, Details: &ip.IPRouteV2Details{}},
	{Request: &ip.IPRouteLookup{}, Reply: &ip.IPRouteLookupReply{}},
	{Request: &ip.IPRouteLookupV2{}, Reply: &ip.IPRouteLookupV2Reply{}},
	{Request: &ip.IPAddressDump{}, Details: &ip.IPAddressDetails{}},
	{Request: &ip.IPUnnumberedDump{}, Details: &ip.IPUnnumberedDetails{}},
	{Request: &fib.FibSourceDump{}, Details: &fib.FibSourceDetails{}},
	{Request: &ip_neighbor.IPNeighborAddDel{}, Reply: &ip_neighbor.IPNeighborAddDelReply{}},
	{Request: &ip_neighbor.IPNeighborDump{}, Details: &ip_neighbor.IPNeighborDetails{}},
	{Request: &ip_neighbor.IPNeighborConfig{}, Reply: &ip_neighbor.IPNeighborConfigReply{}},
	{Request: &ip_neighbor.IPNeighborConfigGet{}, Reply: &ip_neighbor.IPNeighborConfigGetReply{}},
	{Request: &arp.ProxyArpAddDel{}, Reply: &arp.ProxyArpAddDelReply{}},
	{Request: &arp.ProxyArpDump{}, Details: &arp.ProxyArpDetails{}},
	{Request: &arp.ProxyArpIntfcEnableDisable{}, Reply: &arp.ProxyArpIntfcEnableDisableReply{}},
	{Request: &arp.ProxyArpIntfcDump{}, Details: &arp.ProxyArpIntfcDetails{}},
	{Request: &dhcp.DHCPClientConfig{}, Reply: &dhcp.DHCPClientConfigReply{}},
	{Request: &dhcp.DHCPClientDump{}, Details: &dhcp.DHCPClientDetails{}},

	{Request: &l2.BridgeDomainAddDelV2{}, Reply: &l2.BridgeDomainAddDelV2Reply{}},
	{Request: &l2.BridgeFlags{}, Reply: &l2.BridgeFlagsReply{}},
	{Request: &l2.BridgeDomainDump{}, Details: &l2.BridgeDomainDetails{}},
	{Request: &l2.SwInterfaceSetL2Bridge{}, Reply: &l2.SwInterfaceSetL2BridgeReply{}},
	{Request: &l2.L2fibAddDel{}, Reply: &l2.L2fibAddDelReply{}},
	{Request: &l2.L2FibTableDump{}, Details: &l2.L2FibTableDetails{}},
}
