package mode

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/vppwire"
)

// Identities shared by every node of a cluster.
const (
	// VNI, BridgeID and SplitHorizon are upstream's: VNI 10, one bridge domain, tunnels and BVI in group 1 so that
	// nothing that came from a tunnel goes into another one.
	VNI          = 10
	BridgeID     = 1
	SplitHorizon = 1
	// bviInstance and nicInstance are our loopbacks' instances; tap 0 is the host interconnect.
	bviInstance = 0
	nicInstance = 1
	gwInstance  = 2
	hostTap     = 0
	// neighborsMax dynamic neighbors: VPP's default.
	neighborsMax = 50000
	// defaultRing is what VPP makes of a ring size of 0.
	defaultRing = 256
)

// BVIName is the VPP name of the bridge's virtual interface; LoopbackNIC of the loopback that stands in for a NIC;
// GatewayLoop of the loopback that holds the pods' gateway addresses.
var (
	BVIName     = vppwire.LoopbackName(bviInstance)
	LoopbackNIC = vppwire.LoopbackName(nicInstance)
	GatewayLoop = vppwire.LoopbackName(gwInstance)
)

// BVIMAC is the BVI's MAC on node id: 12:2b and the ID in four bytes, upstream's later rule, unique for every ID.
func BVIMAC(id uint32) vppwire.MAC {
	return vppwire.MAC{0x12, 0x2b, byte(id >> 24), byte(id >> 16), byte(id >> 8), byte(id)}
}

// interconnectMAC is the VPP end's MAC of the host interconnect: locally administered unicast and the node ID. Upstream's
// first constant was a multicast address, which Linux does not answer.
func interconnectMAC(id uint32) vppwire.MAC {
	return vppwire.MAC{0x02, 0x34, byte(id >> 24), byte(id >> 16), byte(id >> 8), byte(id)}
}

// hostEndMAC is the Linux end's MAC of the host interconnect.
func hostEndMAC(id uint32) vppwire.MAC {
	return vppwire.MAC{0x02, 0x35, byte(id >> 24), byte(id >> 16), byte(id >> 8), byte(id)}
}

// gatewayMAC is the MAC of the loopback that holds the gateway addresses.
func gatewayMAC(id uint32) vppwire.MAC {
	return vppwire.MAC{0x02, 0x37, byte(id >> 24), byte(id >> 16), byte(id >> 8), byte(id)}
}

// InterconnectName is the VPP name of the VPP end of the host interconnect; empty without one.
func (c Config) InterconnectName() string {
	switch c.Host {
	case HostTap:
		return vppwire.TapName(hostTap)
	case HostVeth:
		return vppwire.AFPacketName(vppwire.HostVPPDevice)
	}
	return ""
}

// MainInterface is the VPP name of the interface that carries the node's address.
func (n Node) MainInterface() string {
	if n.NIC != "" {
		return n.NIC
	}
	return LoopbackNIC
}

// NodeObjects wires the node itself: tables, main interface, host interconnect, BVI and bridge, routes between the VRFs.
func (c Config) NodeObjects(n Node) []vppwire.Object {
	var o objects
	for _, t := range [...]uint32{c.MainTable, c.PodTable} {
		if t != 0 {
			o.add(vppwire.Table{ID: t, IP6: n.Address.Addr().Is6()})
		}
	}
	c.mainInterface(&o, n)
	c.hostInterconnect(&o, n)
	if c.Node == NodeVXLAN {
		c.bvi(&o, n)
	}
	c.gateway(&o, n)
	if c.Node == NodeL2 {
		c.betweenTablesL2(&o, n)
	} else {
		c.betweenTables(&o, n)
	}
	if c.ScanNeighbors {
		o.add(vppwire.NeighborConfig{IP6: n.Address.Addr().Is6(), MaxNumber: neighborsMax, MaxAge: uint32(c.StaleMinutes) * 60})
	}
	return o.list
}

// objects collects what a group wants; a later object with the key of an earlier one is dropped: it says the same thing for
// another reason (a host address that is also the interconnect's, two pod subnets with one drop route).
type objects struct{ list []vppwire.Object }

func (o *objects) add(x vppwire.Object) { o.list = append(o.list, x) }

// once adds x unless its key is wanted already.
func (o *objects) once(x vppwire.Object) {
	k := x.Key()
	for _, y := range o.list {
		if y.Key() == k {
			return
		}
	}
	o.add(x)
}

func (c Config) mainInterface(o *objects, n Node) {
	name := n.MainInterface()
	if n.NIC == "" {
		o.add(vppwire.Loopback{Instance: nicInstance, MAC: vppwire.MAC{0x02, 0x36, byte(n.ID >> 24), byte(n.ID >> 16), byte(n.ID >> 8), byte(n.ID)}})
		o.add(vppwire.Tag{If: name, Text: "loopbackNIC"})
	}
	if c.MainTable != 0 {
		o.add(vppwire.InTable{If: name, Table: c.MainTable, IP6: n.Address.Addr().Is6()})
	}
	if n.Address.IsValid() {
		o.add(vppwire.Address{If: name, Addr: n.Address, Table: c.MainTable})
	}
	o.add(vppwire.Up{If: name})
	if n.Gateway.IsValid() && n.NIC != "" {
		o.add(vppwire.Route{Table: c.MainTable, Prefix: everything(n.Gateway), Via: n.Gateway, If: name})
	}
}

// everything is the default route's prefix in a's family.
func everything(a netip.Addr) netip.Prefix {
	if a.Is4() {
		return netip.PrefixFrom(netip.IPv4Unspecified(), 0)
	}
	return netip.PrefixFrom(netip.IPv6Unspecified(), 0)
}

func (c Config) hostInterconnect(o *objects, n Node) {
	if c.Host == HostNone {
		return
	}
	name, link := c.InterconnectName(), vppwire.HostLinuxDevice
	vppMAC, linuxMAC := interconnectMAC(n.ID), hostEndMAC(n.ID)
	of := name
	if c.Host == HostTap {
		o.add(vppwire.Tap{ID: hostTap, MAC: vppMAC, Host: link, HostMAC: linuxMAC, HostMTU: c.MTU,
			RxRing: ring(c.RxRing), TxRing: ring(c.TxRing), Tag: "tap-vpp2"})
	} else {
		of = vppwire.HostVPPDevice
		o.add(vppwire.Veth{Device: vppwire.HostVPPDevice, Peer: link})
		o.add(vppwire.LinkState{Name: vppwire.HostVPPDevice, MTU: c.MTU, Of: of})
		o.add(vppwire.AFPacket{Device: vppwire.HostVPPDevice, MAC: vppMAC})
		o.add(vppwire.Tag{If: name, Text: "afpacket-vpp2"})
	}
	if c.MainTable != 0 {
		o.add(vppwire.InTable{If: name, Table: c.MainTable, IP6: n.HostVPP.Is6()})
	}
	o.add(vppwire.Address{If: name, Addr: netip.PrefixFrom(n.HostVPP, n.HostSubnet.Bits()), Table: c.MainTable})
	if c.MTU != 0 {
		o.add(vppwire.MTU{If: name, Bytes: c.MTU})
	}
	o.add(vppwire.Up{If: name})
	o.add(vppwire.LinkState{Name: link, MTU: c.MTU, MAC: linuxMAC, Of: of})
	if c.Host == HostVeth && !c.KeepOffload {
		o.add(vppwire.Offload{Name: link})
	}
	o.add(vppwire.LinuxAddress{Link: link, Addr: netip.PrefixFrom(n.HostLinux, n.HostSubnet.Bits())})
	o.add(vppwire.LinuxNeighborEntry{Link: link, Addr: n.HostVPP, MAC: vppMAC})
	o.add(vppwire.Neighbor{If: name, Addr: n.HostLinux, MAC: linuxMAC})
	for _, p := range n.podRanges() {
		o.once(vppwire.LinuxRoute{Link: link, Dst: p, Via: n.HostVPP})
	}
	if n.Service.IsValid() {
		o.once(vppwire.LinuxRoute{Link: link, Dst: n.Service, Via: n.HostVPP})
	}
	for _, a := range n.HostAddrs {
		if a != n.HostLinux {
			o.once(vppwire.Route{Table: c.MainTable, Prefix: netip.PrefixFrom(a, a.BitLen()), Via: n.HostLinux, If: name})
		}
	}
}

// ring is a tap's ring size as a dump reports it.
func ring(size uint16) uint16 {
	if size == 0 {
		return defaultRing
	}
	return size
}

func (c Config) bvi(o *objects, n Node) {
	o.add(vppwire.Bridge{ID: BridgeID})
	o.add(vppwire.Loopback{Instance: bviInstance, MAC: BVIMAC(n.ID)})
	o.add(vppwire.Tag{If: BVIName, Text: "vxlanBVI"})
	o.add(vppwire.InTable{If: BVIName, Table: c.PodTable, IP6: n.VXLAN.Addr().Is6()})
	o.add(vppwire.Address{If: BVIName, Addr: n.VXLAN, Table: c.PodTable})
	o.add(vppwire.Up{If: BVIName})
	o.add(vppwire.Member{Bridge: BridgeID, If: BVIName, BVI: true, SHG: SplitHorizon})
}

// gateway makes the pods' gateway addresses real, for pod interfaces to borrow.
func (c Config) gateway(o *objects, n Node) {
	if n.PodIf.IsValid() || len(n.Gateways) == 0 {
		return
	}
	o.add(vppwire.Loopback{Instance: gwInstance, MAC: gatewayMAC(n.ID)})
	o.add(vppwire.Tag{If: GatewayLoop, Text: "podGwLoop"})
	o.add(vppwire.InTable{If: GatewayLoop, Table: c.PodTable, IP6: n.Gateways[0].Addr().Is6()})
	for _, g := range n.Gateways {
		o.add(vppwire.Address{If: GatewayLoop, Addr: g, Table: c.PodTable})
	}
	o.add(vppwire.Up{If: GatewayLoop})
}

// podRanges are the cluster-wide pod subnets and, behind them, this node's blocks outside of them.
func (n Node) podRanges() []netip.Prefix {
	out := slices.Clone(n.PodSubnets)
	for _, p := range n.own() {
		if !covered(p, n.PodSubnets) {
			out = append(out, p)
		}
	}
	return out
}

// own are the node's blocks, and gateways outside of them.
func (n Node) own() []netip.Prefix {
	list := make([]netip.Prefix, 0, len(n.Gateways)+len(n.Blocks))
	for _, g := range n.Gateways {
		list = append(list, g.Masked())
	}
	return append(list, n.Blocks...)
}

// connected reports whether the gateway loopback's own addresses make p a connected route in the pod VRF. It wins over any
// route of ours and drops what has no neighbor, so nothing else is wanted there.
func (n Node) connected(p netip.Prefix) bool {
	if n.PodIf.IsValid() {
		return false
	}
	for _, g := range n.Gateways {
		if g.Masked() == p {
			return true
		}
	}
	return false
}

// covered reports whether p lies in one of ranges.
func covered(p netip.Prefix, ranges []netip.Prefix) bool {
	for _, r := range ranges {
		if r.Bits() <= p.Bits() && r.Contains(p.Addr()) {
			return true
		}
	}
	return false
}

// betweenTables are the routes that join the main and the pod VRF. The drops keep a packet to a pod that does not exist
// from going round between the two; more specific routes win over them.
func (c Config) betweenTables(o *objects, n Node) {
	main, pod := c.MainTable, c.PodTable
	ranges := n.podRanges()
	if c.Host != HostNone {
		ranges = append(ranges, n.HostSubnets...)
	}
	for _, p := range ranges {
		o.once(vppwire.Route{Table: main, Prefix: p, ToTable: true, Lookup: pod})
	}
	o.once(vppwire.Route{Table: pod, Prefix: everything(n.Address.Addr()), ToTable: true, Lookup: main})
	if n.HostSubnet.IsValid() && c.Host != HostNone {
		o.once(vppwire.Route{Table: pod, Prefix: n.HostSubnet, ToTable: true, Lookup: main})
	}
	for _, p := range ranges {
		if !n.connected(p) {
			o.once(vppwire.Route{Table: pod, Prefix: p, Drop: true})
		}
	}
}

// betweenTablesL2: without an overlay the main VRF knows the other nodes, so the pod VRF keeps only its own blocks and sends
// the rest there.
func (c Config) betweenTablesL2(o *objects, n Node) {
	main, pod := c.MainTable, c.PodTable
	for _, p := range n.own() {
		o.once(vppwire.Route{Table: main, Prefix: p, ToTable: true, Lookup: pod})
	}
	o.once(vppwire.Route{Table: pod, Prefix: everything(n.Address.Addr()), ToTable: true, Lookup: main})
	for _, p := range n.own() {
		if !n.connected(p) {
			o.once(vppwire.Route{Table: pod, Prefix: p, Drop: true})
		}
	}
}

// PickNIC chooses the main physical interface among VPP's interface names, in the order in which VPP lists them: the first
// that VPP did not make itself. Empty when there is none.
func PickNIC(names []string) string {
	for _, name := range names {
		if !madeByVPP(name) {
			return name
		}
	}
	return ""
}
