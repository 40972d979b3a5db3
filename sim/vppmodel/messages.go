package vppmodel

import (
	"slices"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/acl"
	"go.fd.io/govpp/binapi/af_packet"
	"go.fd.io/govpp/binapi/arp"
	"go.fd.io/govpp/binapi/classify"
	"go.fd.io/govpp/binapi/dhcp"
	"go.fd.io/govpp/binapi/fib"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/ip"
	"go.fd.io/govpp/binapi/ip_neighbor"
	"go.fd.io/govpp/binapi/l2"
	"go.fd.io/govpp/binapi/memif"
	"go.fd.io/govpp/binapi/nat44_ed"
	"go.fd.io/govpp/binapi/stn"
	"go.fd.io/govpp/binapi/tapv2"
	"go.fd.io/govpp/binapi/vxlan"
)

// messages is everything that the model answers, an object's messages together: what its reply is, the handler, what a
// real VPP would die of (dies), and where the model differs (but). The handlers are in their objects' files.
var messages = []message{
	// The process: process.go.
	filled(reads, (*VPP).controlPing),
	filled(reads, (*VPP).showVersion),

	// Interfaces of every kind: interface.go, address.go, txplacement.go, client.go.
	dumped[interfaces.SwInterfaceDetails]((*VPP).interfaceDump).but("sw_interface_details has no link speed and duplex."),
	plainly[interfaces.SwInterfaceSetFlagsReply](changes, (*VPP).setFlags),
	plainly[interfaces.SwInterfaceTagAddDelReply](changes, (*VPP).tagAddDel),
	dies(plainly[interfaces.SwInterfaceAddDelAddressReply](changes, (*VPP).addDelAddress), (*VPP).addressCrash),
	plainly[interfaces.SwInterfaceSetTableReply](changes, (*VPP).setTable),
	filled(reads, (*VPP).getTable),
	dies(plainly[interfaces.SwInterfaceSetUnnumberedReply](changes, (*VPP).setUnnumbered), (*VPP).unnumberedCrash).
		but("An interface made unnumbered while it has addresses keeps them; VPP loses track of them."),
	plainly[interfaces.SwInterfaceSetMtuReply](changes, (*VPP).setMTU),
	plainly[interfaces.HwInterfaceSetMtuReply](changes, (*VPP).setHardwareMTU).
		but("hw_interface_set_mtu does not check limits of drivers; NICs always have a carrier."),
	plainly[interfaces.SwInterfaceSetMacAddressReply](changes, (*VPP).setMAC).
		but("Setting the MAC of an AF_PACKET interface leaves its Linux device alone; VPP changes that too."),
	filled(reads, (*VPP).getMAC),
	plainly[interfaces.SwInterfaceSetRxModeReply](changes, (*VPP).setRxMode),
	ended[interfaces.SwInterfaceTxPlacementDetails, interfaces.SwInterfaceTxPlacementGetReply]((*VPP).txPlacementGet),
	plainly[interfaces.WantInterfaceEventsReply](reads, (*VPP).wantInterfaceEvents),

	// Loopbacks: loopback.go.
	filled(changes, (*VPP).createLoopback),
	filled(changes, (*VPP).createLoopbackInstance),
	plainly[interfaces.DeleteLoopbackReply](changes, (*VPP).deleteLoopback),

	// Taps: tap.go.
	filled(changes, (*VPP).createTap).but("Tap creation needs no /dev/net/tun or vhost-net; host_bridge is recorded, not acted on; " +
		"host addresses and gateways reach a Host only when it implements TapAddresser."),
	plainly[tapv2.TapDeleteV2Reply](changes, (*VPP).deleteTap),
	dumped[tapv2.SwInterfaceTapV2Details]((*VPP).tapDump),

	// AF_PACKET interfaces: afpacket.go.
	dies(filled(changes, (*VPP).createAFPacket), (*VPP).afPacketCrash).but("AF_PACKET frame and block sizes, checksum flags and bridges as host devices are not checked."),
	plainly[af_packet.AfPacketDeleteReply](changes, (*VPP).deleteAFPacket),
	dumped[af_packet.AfPacketDetails]((*VPP).afPacketDump),

	// memif interfaces and their sockets: memif.go, memifsocket.go.
	dies(filled(changes, (*VPP).memifSocket2), (*VPP).memifSocketCrash).but("A memif socket is named by a path, or by a kind that VPP knows; what stands behind a kind is not checked."),
	dies(plainly[memif.MemifSocketFilenameAddDelReply](changes, (*VPP).memifSocket1), (*VPP).memifSocket1Crash),
	dumped[memif.MemifSocketFilenameDetails]((*VPP).memifSocketDump),
	dies(filled(changes, (*VPP).createMemif2), (*VPP).memifCrash).but(
		"A memif is connected at once where a Host has a peer, without an event; VPP's slaves try every 3 s. Secrets, queues and DMA are not looked at."),
	dies(filled(changes, (*VPP).createMemif), (*VPP).memif1Crash),
	plainly[memif.MemifDeleteReply](changes, (*VPP).deleteMemif),
	dumped[memif.MemifDetails]((*VPP).memifDump),

	// Classifier tables and input ACLs: classify.go.
	dies(filled(changes, (*VPP).changeClassifier), (*VPP).classifierCrash).but(
		"A classifier table that starts at the packet's present data is taken for one that starts at the frame."),
	plainly[classify.ClassifyAddDelSessionReply](changes, (*VPP).changeSession).but("A classifier session's action is not performed."),
	filled(reads, (*VPP).classifierIDs),
	filled(reads, (*VPP).classifierInfo),
	dumped[classify.ClassifySessionDetails]((*VPP).sessionDump).but("Classifier sessions are dumped in the order of their keys; VPP has them by hash."),
	plainly[classify.InputACLSetInterfaceReply](changes, (*VPP).setFilter),
	filled(reads, (*VPP).filterGet),

	// ACLs: acl.go.
	filled(changes, (*VPP).aclAddReplace),
	plainly[acl.ACLDelReply](changes, (*VPP).aclDel),
	dumped[acl.ACLDetails]((*VPP).aclDump),
	dies(plainly[acl.ACLInterfaceSetACLListReply](changes, (*VPP).aclSet), (*VPP).aclCrash),
	dumped[acl.ACLInterfaceListDetails]((*VPP).aclListDump),
	dies(plainly[acl.ACLInterfaceAddDelReply](changes, (*VPP).aclAddDel), (*VPP).aclAddCrash),
	filled(reads, (*VPP).aclVersion),
	filled(reads, (*VPP).aclPing),
	filled(reads, (*VPP).aclSessionsMax),
	plainly[acl.ACLPluginUseHashLookupSetReply](changes, (*VPP).aclHashSet),
	filled(reads, (*VPP).aclHashGet),

	// NAT44-ED: nat44.go, nat44interface.go, nat44mapping.go.
	plainly[nat44_ed.Nat44EdPluginEnableDisableReply](changes, (*VPP).enableNAT).but(
		"NAT44's own routes are absent: VPP has each address of NAT's and each mapping's outer one as a local route in the tables of outside interfaces.",
		"Tables that NAT44 was enabled with are not locked for good when it is disabled."),
	plainly[nat44_ed.Nat44ForwardingEnableDisableReply](changes, (*VPP).forwardNAT),
	plainly[nat44_ed.NatSetTimeoutsReply](changes, (*VPP).setNATTimeouts),
	filled(reads, (*VPP).natConfig),
	plainly[nat44_ed.Nat44AddDelAddressRangeReply](changes, (*VPP).natAddresses),
	dumped[nat44_ed.Nat44AddressDetails]((*VPP).natAddressDump),
	plainly[nat44_ed.Nat44InterfaceAddDelFeatureReply](changes, (*VPP).natFeature),
	dumped[nat44_ed.Nat44InterfaceDetails]((*VPP).natInterfaceDump),
	plainly[nat44_ed.Nat44EdAddDelOutputInterfaceReply](changes, (*VPP).natOutput),
	ended[nat44_ed.Nat44EdOutputInterfaceDetails, nat44_ed.Nat44EdOutputInterfaceGetReply]((*VPP).natOutputGet),
	plainly[nat44_ed.Nat44AddDelIdentityMappingReply](changes, (*VPP).identity).but("Identity mappings of an interface's address are taken for those of the address that the request holds."),
	dumped[nat44_ed.Nat44IdentityMappingDetails]((*VPP).identityDump),
	dies(plainly[nat44_ed.Nat44AddDelLbStaticMappingReply](changes, (*VPP).balance), (*VPP).balanceCrash),
	dies(plainly[nat44_ed.Nat44LbStaticMappingAddDelLocalReply](changes, (*VPP).balanceLocal), (*VPP).balanceLocalCrash),
	dumped[nat44_ed.Nat44LbStaticMappingDetails]((*VPP).balanceDump),

	// VXLAN tunnels: vxlan.go.
	dies(filled(changes, (*VPP).vxlanAddDel), (*VPP).tunnelCrash).but("A VXLAN decap_next_index other than ^0 and 1 is refused with -76."),
	dumped[vxlan.VxlanTunnelV2Details]((*VPP).vxlanDump),

	// Tables: table.go.
	plainly[ip.IPTableAddDelReply](changes, (*VPP).tableV1),
	dies(plainly[ip.IPTableAddDelV2Reply](changes, (*VPP).tableV2), (*VPP).tableCrash).but(
		"Multicast tables do not exist: create_mfib is ignored and set_unnumbered compares unicast tables only.",
		"Deleting a table that still has routes destroys it with its routes once nothing locks it; VPP leaks the routes."),
	dies(plainly[ip.IPTableFlushReply](changes, (*VPP).tableFlush), (*VPP).flushCrash),
	dumped[ip.IPTableDetails]((*VPP).tableDump),

	// Routes: route.go, routedump.go, routecrash.go.
	filled(changes, (*VPP).routeV1),
	dies(filled(changes, (*VPP).routeV2), (*VPP).routeCrash).but(
		"Recursive routing loops are not detected; only a path through its own prefix is turned into a drop.",
		"A route of several paths is looked up as its first working path; VPP balances over all of the best preference.",
		"Paths of types DVR, INTERFACE_RX, SOURCE_LOOKUP, UDP_ENCAP, BIER_IMP and CLASSIFY, labels and RPF IDs are refused with -9.",
		"Paths of protocols other than IPv4 and IPv6 are refused with -157."),
	dumped[ip.IPRouteDetails]((*VPP).routeV1Dump),
	dumped[ip.IPRouteV2Details]((*VPP).routeV2Dump),
	filled(reads, (*VPP).routeLookupV1),
	filled(reads, (*VPP).routeLookupV2),
	dumped[ip.IPAddressDetails]((*VPP).addressDump),
	dumped[ip.IPUnnumberedDetails]((*VPP).unnumberedDump),
	dumped[fib.FibSourceDetails]((*VPP).fibSourceDump),

	// Neighbors: neighbor.go.
	dies(filled(changes, (*VPP).neighborAddDel), (*VPP).neighborCrash).but("A static neighbor of a deleted interface keeps a dead adjacency " +
		"until its table changes; the order of VPP's own clean-up callbacks, on which the moment depends for interfaces outside table 0, is not modelled."),
	dumped[ip_neighbor.IPNeighborDetails]((*VPP).neighborDump),
	plainly[ip_neighbor.IPNeighborConfigReply](changes, (*VPP).neighborConfig),
	filled(reads, (*VPP).neighborConfigGet),
	dies(plainly[ip_neighbor.IPNeighborFlushReply](changes, (*VPP).neighborFlush), (*VPP).neighborFlushCrash),
	plainly[ip_neighbor.IPNeighborReplaceBeginReply](changes, (*VPP).replaceBegin),
	dies(plainly[ip_neighbor.IPNeighborReplaceEndReply](changes, (*VPP).replaceEnd), (*VPP).replaceCrash),
	plainly[ip_neighbor.WantIPNeighborEventsReply](reads, (*VPP).wantNeighborEvents),
	plainly[ip_neighbor.WantIPNeighborEventsV2Reply](reads, (*VPP).wantNeighborEventsV2),

	// Proxy ARP: proxyarp.go.
	plainly[arp.ProxyArpAddDelReply](changes, (*VPP).proxyARPAddDel),
	dumped[arp.ProxyArpDetails]((*VPP).proxyARPDump),
	plainly[arp.ProxyArpIntfcEnableDisableReply](changes, (*VPP).proxyARPEnable),
	dumped[arp.ProxyArpIntfcDetails]((*VPP).proxyARPInterfaceDump),

	// Stolen NICs: stn.go.
	dies(plainly[stn.StnAddDelRuleReply](changes, (*VPP).stnAddDel), (*VPP).stnCrash).but(
		"An STN rule's other effects are absent: forwarding is not enabled on its interface, and VPP punts TCP and UDP without a listener from the first rule on."),
	dumped[stn.StnRulesDetails]((*VPP).stnDump),

	// DHCP clients: dhcp.go.
	plainly[dhcp.DHCPClientConfigReply](changes, (*VPP).dhcpConfig).but("The DHCP client sends nothing: a lease comes from BindLease."),
	dumped[dhcp.DHCPClientDetails]((*VPP).dhcpDump),

	// Bridge domains: bridge.go, l2fib.go.
	filled(changes, (*VPP).bridgeAddDel).but("bridge_domain_add_del with ID ^0 picks the smallest free ID; VPP picks a pseudo-random one."),
	dies(filled(changes, (*VPP).bridgeFlags), (*VPP).flagsCrash).
		but("resulting_feature_bitmap of bridge_flags holds the API's flag bits, not VPP's internal feature bits."),
	dumped[l2.BridgeDomainDetails]((*VPP).bridgeDump),
	dies(plainly[l2.SwInterfaceSetL2BridgeReply](changes, (*VPP).setBridge), (*VPP).memberCrash),
	plainly[l2.L2fibAddDelReply](changes, (*VPP).l2fibAddDel),
	dumped[l2.L2FibTableDetails]((*VPP).l2fibDump),
}

// Exchange is one request that the model answers, with zero messages of the types that are spoken.
type Exchange struct {
	Request api.Message
	// Details is what a dump consists of; nil for a plain request.
	Details api.Message
	// Reply answers a plain request, or ends a dump of the newer kind; nil for a dump that a control ping ends.
	Reply api.Message
}

// Exchanges returns everything that the model answers, in a fixed order. The caller may keep the slice, not change
// messages.
func Exchanges() []Exchange {
	all := make([]Exchange, len(messages))
	for i := range messages {
		all[i] = messages[i].Exchange
	}
	return all
}

// Events returns what the model announces on its own, with zero messages, in a fixed order.
func Events() []api.Message {
	return []api.Message{&interfaces.SwInterfaceEvent{}, &dhcp.DHCPComplEvent{}, &ip_neighbor.IPNeighborEvent{}, &ip_neighbor.IPNeighborEventV2{}}
}

// Gaps returns the known differences from VPP 25.10, one sentence each, in a fixed order: those of the whole, then
// those of messages. The caller may keep the slice.
func Gaps() []string {
	all := slices.Clone(gaps)
	for i := range messages {
		all = append(all, messages[i].gaps...)
	}
	return all
}
