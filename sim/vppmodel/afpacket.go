package vppmodel

import (
	"maps"
	"slices"

	"go.fd.io/govpp/api"
	"go.fd.io/govpp/binapi/af_packet"
)

// afPacket is what an AF_PACKET interface has beside an interface.
type afPacket struct {
	hostName string
	id       uint64 // of the Linux device it was bound to, 0 where the Host cannot identify it
}

// sits reports whether the device that the socket was bound to still exists. A new device of the same name is another
// one.
func (p *afPacket) sits(v *VPP) bool {
	if v.host == nil {
		return true
	}
	if host, able := v.host.(LinkIdentifier); able {
		return host.LinkID(p.hostName) == p.id
	}
	return v.host.HasLink(p.hostName)
}

// follow sets the Linux device up or down with its interface (src/plugins/af_packet/device.c).
func (p *afPacket) follow(v *VPP, up bool) {
	switch {
	case v.host == nil || !p.sits(v):
	case up:
		v.host.LinkUp(p.hostName)
	default:
		v.host.LinkDown(p.hostName)
	}
}

func (v *VPP) createAFPacket(m *af_packet.AfPacketCreateV3, r *af_packet.AfPacketCreateV3Reply) int32 {
	at, retval := v.addAFPacket(m)
	*r = af_packet.AfPacketCreateV3Reply{Retval: retval, SwIfIndex: index(at)}
	return retval
}

// addAFPacket binds to a device in VPP's own namespace and sets it up. A second one on the same device is -79 and names
// the first; no such device is -71 and, as VPP has it, index 0.
func (v *VPP) addAFPacket(m *af_packet.AfPacketCreateV3) (at uint32, retval int32) {
	if m.Mode != af_packet.AF_PACKET_API_MODE_ETHERNET && m.Mode != af_packet.AF_PACKET_API_MODE_IP {
		return none, invalidValue
	}
	name := truncate(m.HostIfName, tagMax)
	if at, exists := v.packets[name]; exists {
		return at, interfaceExists
	}
	p := &afPacket{hostName: name}
	if v.host != nil {
		if len(name) > linuxNameMax || !v.host.HasLink(name) {
			return 0, invalidInterface
		}
		v.host.LinkUp(name)
		if host, able := v.host.(LinkIdentifier); able {
			p.id = host.LinkID(name)
		}
	}
	added := iface{kind: KindAFPacket, name: "host-" + name, link: true, device: p,
		ethernet: m.Mode == af_packet.AF_PACKET_API_MODE_ETHERNET}
	switch {
	case !added.ethernet:
	case m.UseRandomHwAddr:
		added.mac = v.drawMAC()
	default:
		added.mac = mac(m.HwAddr)
	}
	i := v.addInterface(added)
	v.packets[name] = i.index
	v.tellInterface(i, v.flags(i), false)
	return i.index, ok
}

func (v *VPP) deleteAFPacket(m *af_packet.AfPacketDelete) int32 {
	name := truncate(m.HostIfName, tagMax)
	at, exists := v.packets[name]
	if !exists {
		return syscallError1
	}
	delete(v.packets, name)
	i := v.ifaces[at]
	if i.up { // it is set down on its way out (src/vnet/interface.c, vnet_delete_sw_interface)
		i.device.(*afPacket).follow(v, false)
	}
	v.deleteInterface(i)
	return ok
}

func (v *VPP) afPacketDump(*af_packet.AfPacketDump) []api.Message {
	var out []api.Message
	for _, at := range slices.Sorted(maps.Values(v.packets)) {
		out = append(out, &af_packet.AfPacketDetails{SwIfIndex: index(at), HostIfName: v.ifaces[at].device.(*afPacket).hostName})
	}
	return out
}

// pollEvents is how many ready descriptors VPP 25.10 takes from epoll at a time; with as many of sockets that stay
// ready until their node runs, it never gets to run one (src/vlib/file.c, vlib_file_poll).
const pollEvents = 16

// afPacketCrash: one more interface makes it possible.
func (v *VPP) afPacketCrash(m *af_packet.AfPacketCreateV3) CrashTrigger {
	if _, exists := v.packets[truncate(m.HostIfName, tagMax)]; exists || len(v.packets)+1 < pollEvents {
		return ""
	}
	return CrashAFPacketMany
}
