package mode

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/vppwire"
)

// nodeVXLAN is a full mesh of VXLAN tunnels in one bridge domain; pods' packets travel inside.
type nodeVXLAN struct{}

// interconnect adds the bridge and its virtual interface, from which tunnels to all peers start.
func (nodeVXLAN) interconnect(c Config, o *objects, n Node) {
	o.add(vppwire.Bridge{ID: BridgeID})
	o.add(vppwire.Loopback{Instance: bviInstance, MAC: BVIMAC(n.ID)})
	o.add(vppwire.Tag{If: BVIName, Text: "vxlanBVI"})
	o.add(vppwire.InTable{If: BVIName, Table: c.PodTable, IP6: n.VXLAN.Addr().Is6()})
	o.add(vppwire.Address{If: BVIName, Addr: n.VXLAN, Table: c.PodTable})
	o.add(vppwire.Up{If: BVIName})
	o.add(vppwire.Member{Bridge: BridgeID, If: BVIName, BVI: true, SHG: SplitHorizon})
}

// betweenTables leads to other nodes from the pod VRF. The drops keep a packet to a pod that does not exist
// from going round between the two; more specific routes win over them.
func (nodeVXLAN) betweenTables(c Config, o *objects, n Node) {
	main, pod := c.MainTable, c.PodTable
	ranges := n.podRanges()
	if c.Interconnected() {
		ranges = append(ranges, n.HostSubnets...)
	}
	for _, p := range ranges {
		o.once(vppwire.Route{Table: main, Prefix: p, ToTable: true, Lookup: pod})
	}
	o.once(vppwire.Route{Table: pod, Prefix: everything(n.Address.Addr()), ToTable: true, Lookup: main})
	if n.HostSubnet.IsValid() && c.Interconnected() {
		o.once(vppwire.Route{Table: pod, Prefix: n.HostSubnet, ToTable: true, Lookup: main})
	}
	for _, p := range ranges {
		if !n.connected(p) && !p.IsSingleIP() { // as in nodeL2
			o.once(vppwire.Route{Table: pod, Prefix: p, Drop: true})
		}
	}
}

func (nodeVXLAN) peer(c Config, o *objects, n Node, p Peer) {
	name, mac := vppwire.VXLANName(p.ID), BVIMAC(p.ID)
	o.add(vppwire.VXLAN{Instance: p.ID, Src: n.Address.Addr(), Dst: p.Address, VNI: VNI, Table: c.MainTable})
	o.add(vppwire.Member{Bridge: BridgeID, If: name, SHG: SplitHorizon})
	o.add(vppwire.Up{If: name})
	o.add(vppwire.FIB{Bridge: BridgeID, MAC: mac, If: name})
	o.add(vppwire.Neighbor{If: BVIName, Addr: p.VXLAN, MAC: mac})
	via := func(dst netip.Prefix) vppwire.Route {
		return vppwire.Route{Table: c.PodTable, Prefix: dst, Via: p.VXLAN, If: BVIName}
	}
	toPodTable := func(dst netip.Prefix) vppwire.Route {
		return vppwire.Route{Table: c.MainTable, Prefix: dst, ToTable: true, Lookup: c.PodTable}
	}
	for _, dst := range p.PodNetworks {
		o.add(via(dst))
		if !covered(dst, n.PodSubnets) { // an external or draining range: the cluster-wide routes do not lead here
			o.add(toPodTable(dst))
			if c.Interconnected() {
				o.add(n.byVPP(dst))
			}
		}
	}
	if p.HostSubnet.IsValid() && c.Interconnected() {
		// A record may name one range for pods and host: it says where to send, not that all nodes must stop.
		o.once(via(p.HostSubnet))
		if !covered(p.HostSubnet, n.HostSubnets) {
			o.once(toPodTable(p.HostSubnet))
		}
	}
	if c.outsideByHost(n) {
		return
	}
	for _, a := range p.Management {
		if a == p.Address {
			continue // its NIC is stolen: the tunnel's own packets go there, and the wire leads to it
		}
		host := netip.PrefixFrom(a, a.BitLen())
		o.once(via(host))
		o.once(toPodTable(host))
	}
}
