package vpp

import (
	"fmt"
	"slices"
	"strings"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/af_packet"
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

// part is what one API file of VPP brings: messages of the core, or of a plugin that may not be loaded.
type part struct {
	plugin   string // empty: the core
	messages []api.Message
}

// parts are the messages that vppwire and this package send and get.
func parts() []part {
	return []part{
		{"", []api.Message{
			&memclnt.ControlPing{}, &memclnt.ControlPingReply{}, &vpe.ShowVersion{}, &vpe.ShowVersionReply{},
			&fib.FibSourceDump{}, &fib.FibSourceDetails{},
			&interfaces.SwInterfaceDump{}, &interfaces.SwInterfaceDetails{},
			&interfaces.SwInterfaceSetFlags{}, &interfaces.SwInterfaceSetFlagsReply{},
			&interfaces.SwInterfaceSetTable{}, &interfaces.SwInterfaceSetTableReply{},
			&interfaces.SwInterfaceGetTable{}, &interfaces.SwInterfaceGetTableReply{},
			&interfaces.SwInterfaceAddDelAddress{}, &interfaces.SwInterfaceAddDelAddressReply{},
			&interfaces.SwInterfaceSetUnnumbered{}, &interfaces.SwInterfaceSetUnnumberedReply{},
			&interfaces.SwInterfaceSetMtu{}, &interfaces.SwInterfaceSetMtuReply{},
			&interfaces.SwInterfaceSetMacAddress{}, &interfaces.SwInterfaceSetMacAddressReply{},
			&interfaces.SwInterfaceTagAddDel{}, &interfaces.SwInterfaceTagAddDelReply{},
			&interfaces.CreateLoopbackInstance{}, &interfaces.CreateLoopbackInstanceReply{},
			&interfaces.DeleteLoopback{}, &interfaces.DeleteLoopbackReply{},
			&tapv2.TapCreateV3{}, &tapv2.TapCreateV3Reply{}, &tapv2.TapDeleteV2{}, &tapv2.TapDeleteV2Reply{},
			&tapv2.SwInterfaceTapV2Dump{}, &tapv2.SwInterfaceTapV2Details{},
			&ip.IPTableAddDelV2{}, &ip.IPTableAddDelV2Reply{}, &ip.IPTableDump{}, &ip.IPTableDetails{},
			&ip.IPRouteAddDelV2{}, &ip.IPRouteAddDelV2Reply{}, &ip.IPRouteV2Dump{}, &ip.IPRouteV2Details{},
			&ip.IPAddressDump{}, &ip.IPAddressDetails{}, &ip.IPUnnumberedDump{}, &ip.IPUnnumberedDetails{},
			&ip_neighbor.IPNeighborAddDel{}, &ip_neighbor.IPNeighborAddDelReply{},
			&ip_neighbor.IPNeighborDump{}, &ip_neighbor.IPNeighborDetails{},
			&ip_neighbor.IPNeighborConfig{}, &ip_neighbor.IPNeighborConfigReply{},
			&ip_neighbor.IPNeighborConfigGet{}, &ip_neighbor.IPNeighborConfigGetReply{},
			&l2.BridgeDomainAddDelV2{}, &l2.BridgeDomainAddDelV2Reply{}, &l2.BridgeDomainDump{}, &l2.BridgeDomainDetails{},
			&l2.SwInterfaceSetL2Bridge{}, &l2.SwInterfaceSetL2BridgeReply{},
			&l2.L2fibAddDel{}, &l2.L2fibAddDelReply{}, &l2.L2FibTableDump{}, &l2.L2FibTableDetails{},
		}},
		{"af_packet", []api.Message{
			&af_packet.AfPacketCreateV3{}, &af_packet.AfPacketCreateV3Reply{},
			&af_packet.AfPacketDelete{}, &af_packet.AfPacketDeleteReply{},
			&af_packet.AfPacketDump{}, &af_packet.AfPacketDetails{},
		}},
		{"vxlan", []api.Message{
			&vxlan.VxlanAddDelTunnelV3{}, &vxlan.VxlanAddDelTunnelV3Reply{},
			&vxlan.VxlanTunnelV2Dump{}, &vxlan.VxlanTunnelV2Details{},
		}},
	}
}

// known tells which messages a VPP knows, by name and CRC.
type known interface {
	GetMessageID(api.Message) (uint16, error)
}

// lacks says in one line what a VPP lacks, nil for nothing. A plugin of which nothing is known is not loaded; a message that is
// missing among known ones has another CRC, or comes from another release.
func lacks(c known, version string) error {
	for _, p := range parts() {
		var missing []string
		for _, m := range p.messages {
			if _, err := c.GetMessageID(m); err != nil {
				missing = append(missing, nameOf(m))
			}
		}
		switch {
		case len(missing) == 0:
		case p.plugin != "" && len(missing) == len(p.messages):
			return fmt.Errorf("%w: VPP %s runs without its %s plugin (%s_plugin.so): enable it in startup.conf", ErrIncompatible, version, p.plugin, p.plugin)
		default:
			slices.Sort(missing)
			more := ""
			if len(missing) > 3 {
				more = fmt.Sprintf(" and %d more", len(missing)-3)
			}
			return fmt.Errorf("%w: VPP %s does not know %s%s: these are VPP 25.10's", ErrIncompatible, version, strings.Join(missing[:min(3, len(missing))], ", "), more)
		}
	}
	return nil
}

// nameOf is a message's name with its CRC, as VPP lists it.
func nameOf(m api.Message) string { return m.GetMessageName() + "_" + m.GetCrcString() }
