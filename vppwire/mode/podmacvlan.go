package mode

import "github.com/vppdrill/vppdrill/vppwire"

// podMacvlan gives all pods of a node one interface of VPP's: AF_PACKET on one end of a veth pair, the trunk. On the
// other end sits a macvlan for each pod, in the pod's namespace and of private mode, so that pods of one node talk
// through VPP, which sends out of the interface that it heard them by.
//
// It is for nodes where VPP's taps can't be had (no vhost-net): a VPP 25.06 or later hangs as soon as 16 AF_PACKET
// sockets have a frame at once, and making one takes 40 to 60 ms, where two routes take none.
//
// Who sends as whom is told from the frame alone, by MAC and address together. MACs are numbers, so that no two pods of
// a node have the same one.
//
// VPP 25.10 asks that of an interface that routes only behind NAT, when the answers of services have the service's
// address. Where VPP serves services, the trunk is bridged to a virtual interface that routes, and it is asked where
// frames come into the bridge domain.
type podMacvlan struct{}

var trunk = vppwire.AFPacketName(vppwire.TrunkVPPDevice)

// bridged reports whether a virtual interface behind the trunk routes.
func (podMacvlan) bridged(c Config) bool { return c.NAT.On }

func (w podMacvlan) name(c Config, _ Pod) string {
	if w.bridged(c) {
		return TrunkBVI
	}
	return trunk
}

func (podMacvlan) macs(n Node, p Pod) (pod, vpp vppwire.MAC) {
	return childMAC(p.Number), trunkMAC(n.ID)
}

func (podMacvlan) shared() bool { return true }

// node makes the trunk, once there is a gateway to lend it an address or pods bring addresses of their own.
func (w podMacvlan) node(c Config, o *objects, n Node) {
	if w.bridged(c) { // whose it is changes with no range
		o.add(vppwire.Bridge{ID: TrunkBridgeID})
	}
	if !n.lends() && !n.PodIf.IsValid() {
		return
	}
	device, parent := vppwire.TrunkVPPDevice, vppwire.TrunkLinuxDevice
	o.add(vppwire.Veth{Device: device, Peer: parent})
	// The kernel finishes checksums and cuts segments where a macvlan's frames enter the pair, as long as that offers
	// neither.
	for _, end := range [...]string{device, parent} {
		o.add(vppwire.LinkState{Name: end, MTU: c.MTU, Of: device})
		if !c.KeepOffload {
			o.add(vppwire.Offload{Name: end})
		}
	}
	mac := trunkMAC(n.ID)
	if w.bridged(c) {
		mac = portMAC(n.ID)
	}
	o.add(vppwire.AFPacket{Device: device, MAC: mac, Shared: true})
	o.add(vppwire.Tag{If: trunk, Text: "podTrunk"})
	if w.bridged(c) {
		w.bridge(c, o, n)
	}
	name := w.name(c, Pod{})
	ip6, both := n.Address.Addr().Is6(), n.Second != nil
	c.inPodTable(o, name, ip6)
	if both {
		c.inPodTable(o, name, !ip6) // before it borrows: VPP lets none change its table that has addresses
	}
	if !n.PodIf.IsValid() {
		o.add(vppwire.Unnumbered{If: name, Donor: GatewayLoop, Table: c.PodTable, IP6: ip6, Both: both})
	}
	c.podMTU(o, name)
	w.guard(c, o, ip6)
	if both { // whether there are pods of it or not
		w.guard(c, o, !ip6)
	}
	o.add(vppwire.Up{If: trunk, IP6: ip6, Both: both})
}

// guard asks on the trunk who sends packets of a family.
func (w podMacvlan) guard(c Config, o *objects, ip6 bool) {
	o.add(vppwire.SourceTable{IP6: ip6})
	o.add(vppwire.Guard{If: trunk, Bridged: w.bridged(c), IP6: ip6})
}

// bridge joins the trunk with a virtual interface that routes for it.
func (podMacvlan) bridge(c Config, o *objects, n Node) {
	o.add(vppwire.Loopback{Instance: trunkInstance, MAC: trunkMAC(n.ID)})
	o.add(vppwire.Tag{If: TrunkBVI, Text: "podTrunkBVI"})
	o.add(vppwire.Up{If: TrunkBVI})
	o.add(vppwire.Member{Bridge: TrunkBridgeID, If: TrunkBVI, BVI: true})
	o.add(vppwire.Member{Bridge: TrunkBridgeID, If: trunk})
	c.podMTU(o, trunk)
}

func (w podMacvlan) ends(c Config, o *objects, p Pod, podMAC, _ vppwire.MAC) {
	o.add(vppwire.Macvlan{Netns: p.Netns, Name: p.IfName, Parent: vppwire.TrunkLinuxDevice, MAC: podMAC})
	o.add(vppwire.LinkState{Netns: p.Netns, Name: p.IfName, MTU: c.MTU, Of: vppwire.OfMacvlan})
	if w.bridged(c) {
		o.add(vppwire.FIB{Bridge: TrunkBridgeID, MAC: podMAC, If: trunk})
	}
	o.add(vppwire.Source{Addr: p.Addr, MAC: podMAC})
	if p.SecondAddr.IsValid() {
		o.add(vppwire.Source{Addr: p.SecondAddr, MAC: podMAC})
	}
}
