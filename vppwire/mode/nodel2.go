package mode

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/vppwire"
)

// nodeL2 routes pods' packets as they are: all nodes are neighbors in one network, or a router between them knows the
// blocks.
type nodeL2 struct{}

// interconnect: the main interface is enough.
func (nodeL2) interconnect(Config, *objects, Node) {}

// betweenTables: without an overlay the main VRF knows the other nodes, so the pod VRF keeps only its own blocks and
// sends the rest there. A block that is one address has no drop, as its pod's route takes that place: without a pod,
// VPP itself ends the packet's way from one table to the other after a few lookups (MAX_LUKPS_PER_PACKET of
// src/vnet/dpo/lookup_dpo.c, 25.10).
func (nodeL2) betweenTables(c Config, o *objects, n Node) {
	main, pod := c.MainTable, c.PodTable
	for _, p := range n.own() {
		o.once(vppwire.Route{Table: main, Prefix: p, ToTable: true, Lookup: pod})
	}
	o.once(vppwire.Route{Table: pod, Prefix: everything(n.Address.Addr()), ToTable: true, Lookup: main})
	for _, p := range n.own() {
		if !n.connected(p) && !p.IsSingleIP() {
			o.once(vppwire.Route{Table: pod, Prefix: p, Drop: true})
		}
	}
}

// peer needs no tunnel: the peer's address is the next hop, found by whatever route leads to it.
func (nodeL2) peer(c Config, o *objects, n Node, p Peer) {
	via := func(dst netip.Prefix) vppwire.Route {
		return vppwire.Route{Table: c.MainTable, Prefix: dst, Via: p.Address}
	}
	for _, dst := range p.PodNetworks {
		o.add(via(dst))
		if !covered(dst, n.PodSubnets) && c.Interconnected() { // the host's cluster-wide route does not lead to VPP
			o.once(n.byVPP(dst))
		}
	}
	if p.HostSubnet.IsValid() && c.Interconnected() {
		o.once(via(p.HostSubnet))
	}
	if c.outsideByHost(n) {
		return
	}
	for _, a := range p.Management {
		if a != p.Address {
			o.once(via(netip.PrefixFrom(a, a.BitLen())))
		}
	}
}
