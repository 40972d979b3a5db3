package vppmodel

import (
	"slices"
	"strings"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/ethernet_types"
	interfaces "go.fd.io/govpp/binapi/interface"
	"go.fd.io/govpp/binapi/interface_types"
)

type index = interface_types.InterfaceIndex

// tagMax is what the tag field holds beside its terminating zero, in bytes.
const tagMax = 63

func (v *VPP) setFlags(m *interfaces.SwInterfaceSetFlags) int32 {
	i := v.at(uint32(m.SwIfIndex))
	if i == nil {
		return invalidIndex
	}
	up, before := m.Flags&interface_types.IF_STATUS_API_FLAG_ADMIN_UP != 0, v.flags(i)
	if v.setUp(i, up) {
		if p, sits := i.device.(*afPacket); sits {
			p.follow(v, up)
		}
		v.tellInterface(i, v.flags(i)&^before, false)
	}
	return ok
}

func (v *VPP) tagAddDel(m *interfaces.SwInterfaceTagAddDel) int32 {
	i := v.at(uint32(m.SwIfIndex))
	switch {
	case i == nil:
		return invalidIndex
	case !m.IsAdd:
		i.tag = ""
	case m.Tag == "":
		return invalidValue
	default:
		i.tag = truncate(m.Tag, tagMax)
	}
	return ok
}

func (v *VPP) setMTU(m *interfaces.SwInterfaceSetMtu) int32 {
	i := v.at(uint32(m.SwIfIndex))
	if i == nil {
		return invalidIndex
	}
	i.mtu = [4]uint32{}
	copy(i.mtu[:], m.Mtu)
	return ok
}

// setHardwareMTU changes the L3 MTU with the link's. It is refused where there is no Ethernet (-30) and where the
// driver has no say in it (-126).
func (v *VPP) setHardwareMTU(m *interfaces.HwInterfaceSetMtu) int32 {
	i := v.at(uint32(m.SwIfIndex))
	switch {
	case i == nil:
		return invalidIndex
	case !i.ethernet:
		return featureDisabled
	case i.linkMTU == m.Mtu:
		return ok
	case i.kind == KindLoopback:
		return unsupported
	}
	i.linkMTU, i.mtu[0] = m.Mtu, uint32(m.Mtu)
	return ok
}

// setMAC keeps a BVI's own L2 FIB entry in step when the BVI is a loopback.
func (v *VPP) setMAC(m *interfaces.SwInterfaceSetMacAddress) int32 {
	i := v.at(uint32(m.SwIfIndex))
	if i == nil {
		return invalidIndex
	}
	if !i.ethernet {
		return unimplemented
	}
	old := i.mac
	i.mac = mac(m.MacAddress)
	if i.kind == KindLoopback && v.isBVI(i) {
		v.deleteMAC(old, i.bridge, i.index)
		v.macs[macKey{i.mac, uint16(i.bridge)}] = macEntry{index: i.index, static: true, bvi: true}
	}
	return ok
}

func (v *VPP) getMAC(m *interfaces.SwInterfaceGetMacAddress, r *interfaces.SwInterfaceGetMacAddressReply) int32 {
	i := v.at(uint32(m.SwIfIndex))
	if i == nil {
		*r = interfaces.SwInterfaceGetMacAddressReply{Retval: invalidIndex}
		return invalidIndex
	}
	*r = interfaces.SwInterfaceGetMacAddressReply{MacAddress: ethernet_types.MacAddress(i.mac)}
	return ok
}

// setRxMode is refused where there is no such receive queue; every interface with queues has one.
func (v *VPP) setRxMode(m *interfaces.SwInterfaceSetRxMode) int32 {
	i := v.at(uint32(m.SwIfIndex))
	if i == nil {
		return invalidIndex
	}
	if m.QueueIDValid && (!i.queues() || m.QueueID > 0) {
		return unimplemented
	}
	return ok
}

// queues reports whether the interface has receive and transmit queues; then it has one of each.
func (i *iface) queues() bool {
	return i.kind == KindNIC || i.kind == KindTap || i.kind == KindAFPacket
}

func (v *VPP) getTable(m *interfaces.SwInterfaceGetTable, r *interfaces.SwInterfaceGetTableReply) int32 {
	i := v.at(uint32(m.SwIfIndex))
	if i == nil {
		*r = interfaces.SwInterfaceGetTableReply{Retval: invalidIndex, VrfID: none}
		return invalidIndex
	}
	*r = interfaces.SwInterfaceGetTableReply{VrfID: i.tables[familyOf(m.IsIPv6)]}
	return ok
}

// interfaceDump treats index 0 like ^0: every interface, local0 first. A name filter is any part of the name, in any
// case.
func (v *VPP) interfaceDump(m *interfaces.SwInterfaceDump) []api.Message {
	if at := uint32(m.SwIfIndex); !m.NameFilterValid && at != none && at != 0 {
		i := v.at(at)
		if i == nil {
			return nil
		}
		d := v.details(i)
		return []api.Message{&d}
	}
	filter := strings.ToLower(m.NameFilter)
	details := make([]interfaces.SwInterfaceDetails, 0, len(v.ifaces))
	out := make([]api.Message, 0, len(v.ifaces))
	for _, i := range v.ifaces {
		if i == nil || m.NameFilterValid && !strings.Contains(strings.ToLower(i.name), filter) {
			continue
		}
		details = append(details, v.details(i))
		out = append(out, &details[len(details)-1])
	}
	return out
}

func (v *VPP) details(i *iface) interfaces.SwInterfaceDetails {
	d := interfaces.SwInterfaceDetails{
		SwIfIndex: index(i.index), SupSwIfIndex: i.index, Flags: v.flags(i), Type: interface_types.IF_API_TYPE_HARDWARE,
		LinkMtu: i.linkMTU, InterfaceName: i.name, InterfaceDevType: i.driver(), Tag: i.tag,
	}
	d.Mtu = slices.Clone(i.mtu[:])
	if i.ethernet {
		d.L2Address = ethernet_types.MacAddress(i.mac)
	}
	return d
}

func (v *VPP) flags(i *iface) interface_types.IfStatusFlags {
	var f interface_types.IfStatusFlags
	if i.up {
		f |= interface_types.IF_STATUS_API_FLAG_ADMIN_UP
	}
	if v.linkOf(i) {
		f |= interface_types.IF_STATUS_API_FLAG_LINK_UP
	}
	return f
}
