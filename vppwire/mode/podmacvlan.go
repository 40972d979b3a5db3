package mode

import "github.com/vppdrill/vppdrill/vppwire"

// podMacvlan gives all pods of a node one interface of VPP's: AF_PACKET on one end of a veth pair, the trunk. On the other end
// sits a macvlan for each pod, in the pod's namespace and of private mode, so that pods of one node talk through VPP, which sends
// out of the interface that it heard them by.
//
// It is for nodes where VPP's taps can't be had (no vhost-net): a VPP 25.06 or later hangs as soon as 16 AF_PACKET sockets have a
// frame at once, and making one takes 40 to 60 ms, where two routes take none.
//
// Who sends as whom is told from the frame alone, by MAC and address together. MACs are numbers, so that no two pods of a node
// have the same one.
type podMacvlan struct{}

func (podMacvlan) name(Pod) string { return vppwire.AFPacketName(vppwire.TrunkVPPDevice) }

func (podMacvlan) macs(n Node, p Pod) (pod, vpp vppwire.MAC) {
	return childMAC(p.Number), trunkMAC(n.ID)
}

func (podMacvlan) shared() bool { return true }

// node makes the trunk, once there is a gateway to lend it an address or pods bring addresses of their own.
func (w podMacvlan) node(c Config, o *objects, n Node) {
	if len(n.Gateways) == 0 && !n.PodIf.IsValid() {
		return
	}
	name, device, parent := w.name(Pod{}), vppwire.TrunkVPPDevice, vppwire.TrunkLinuxDevice
	o.add(vppwire.Veth{Device: device, Peer: parent})
	// The kernel finishes checksums and cuts segments where a macvlan's frames enter the pair, as long as that offers neither.
	for _, end := range [...]string{device, parent} {
		o.add(vppwire.LinkState{Name: end, MTU: c.MTU, Of: device})
		if !c.KeepOffload {
			o.add(vppwire.Offload{Name: end})
		}
	}
	o.add(vppwire.AFPacket{Device: device, MAC: trunkMAC(n.ID), Shared: true})
	o.add(vppwire.Tag{If: name, Text: "podTrunk"})
	c.inPodTable(o, name, false)
	if !n.PodIf.IsValid() {
		o.add(vppwire.Unnumbered{If: name, Donor: GatewayLoop, Table: c.PodTable})
	}
	c.podMTU(o, name)
	o.add(vppwire.SourceTable{})
	o.add(vppwire.Guard{If: name})
	o.add(vppwire.Up{If: name})
}

func (podMacvlan) ends(c Config, o *objects, p Pod, podMAC, _ vppwire.MAC) {
	o.add(vppwire.Macvlan{Netns: p.Netns, Name: p.IfName, Parent: vppwire.TrunkLinuxDevice, MAC: podMAC})
	o.add(vppwire.LinkState{Netns: p.Netns, Name: p.IfName, MTU: c.MTU, Of: vppwire.OfMacvlan})
	if p.Addr.Is4() {
		o.add(vppwire.Source{Addr: p.Addr, MAC: podMAC})
	}
}
