package mode

import (
	"net/netip"
	"strings"

	"github.com/vppdrill/vppdrill/vppwire"
)

// madeByVPP reports whether an interface's name is of a kind that exists without hardware.
func madeByVPP(name string) bool {
	for _, prefix := range [...]string{"local", "loop", "host-", "tap", "vxlan_tunnel", "memif", "ipip", "pg"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// PeerObjects wires the way to one other node.
func (c Config) PeerObjects(n Node, p Peer) []vppwire.Object {
	o := objects{list: make([]vppwire.Object, 0, 6+len(p.PodNetworks)+2*len(p.Management))}
	if c.Node == NodeL2 {
		c.peerL2(&o, p)
	} else {
		c.peerVXLAN(&o, n, p)
	}
	return o.list
}

func (c Config) peerVXLAN(o *objects, n Node, p Peer) {
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
			if c.Host != HostNone {
				o.add(vppwire.LinuxRoute{Link: vppwire.HostLinuxDevice, Dst: dst, Via: n.HostVPP})
			}
		}
	}
	if p.HostSubnet.IsValid() && c.Host != HostNone {
		// A record may name one range for pods and host: it says where to send, not that all nodes must stop.
		o.once(via(p.HostSubnet))
		if !covered(p.HostSubnet, n.HostSubnets) {
			o.once(toPodTable(p.HostSubnet))
		}
	}
	for _, a := range p.Management {
		host := netip.PrefixFrom(a, a.BitLen())
		o.once(via(host))
		o.once(toPodTable(host))
	}
}

// peerL2 needs no tunnel: the peer's address is the next hop, found by whatever route leads to it.
func (c Config) peerL2(o *objects, p Peer) {
	via := func(dst netip.Prefix) vppwire.Route {
		return vppwire.Route{Table: c.MainTable, Prefix: dst, Via: p.Address}
	}
	for _, dst := range p.PodNetworks {
		o.add(via(dst))
	}
	if p.HostSubnet.IsValid() && c.Host != HostNone {
		o.once(via(p.HostSubnet))
	}
	for _, a := range p.Management {
		if a != p.Address {
			o.once(via(netip.PrefixFrom(a, a.BitLen())))
		}
	}
}
