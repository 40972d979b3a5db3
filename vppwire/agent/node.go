package agent

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam/contiv"
	"github.com/vppdrill/vppdrill/vppwire/mode"
)

// wireNode wires the node itself as soon as its ID, ranges and address are known, and again when one of them changes.
// What is wired stays while something is unknown.
func (a *Agent) wireNode() {
	r := &a.ranges
	a.awaitLease()
	if a.ids.Acting() == 0 || !r.mineOK {
		a.wireUplink()
		return
	}
	addr := a.addressIn(r.mine.NodeIP)
	if !addr.IsValid() || a.unstolen() != "" {
		a.wireUplink()
		return
	}
	a.pruneHistory()
	n := a.nodeOf(&r.plan, &r.mine, addr)
	if r.plan.Second != nil {
		second := a.nodeOf(r.plan.Second, r.mine.Second, r.mine.Second.NodeIP)
		n.Second = &second
	}
	n.PodIf, n.Others = a.podIf(), a.presentNICs()
	if a.InSTNMode() {
		n.Stolen, n.Gateway = a.steal.of, a.steal.of.Gateway()
		n.HostSubnet, n.HostVPP, n.HostLinux = netip.Prefix{}, netip.Addr{}, netip.Addr{}
	}
	n.Hostname, n.DHCP = a.cfg.NodeName, a.leasing() && n.NIC != ""
	if a.cfg.Services == ServicesVPP {
		n.Services = r.plan.Service
	}
	old := a.node
	if sameNode(&old, &n) {
		return
	}
	a.node = n
	if had := old.Gateway.IsValid() || old.ID == 0; a.wiring.NAT.External && !n.Gateway.IsValid() && had {
		a.emit(Log{Level: levelWarn, Reason: ReasonNoGateway, Message: "natExternalTraffic: the ranges give no default gateway, and what pods send outside is not hidden"})
	}
	a.wire.Set(groupNode, a.wiring.NodeObjects(n))
	a.wire.Set(groupNICs, a.wiring.OtherObjects(n))
	a.awaitLease()
	if old.Address != n.Address {
		a.emit(NodeAddress{Addr: n.Address})
	}
	if peersDiffer(&old, &n) {
		a.todo |= todoPeers
	}
	a.settlePolicies()
	if old.ID != n.ID || old.PodIf != n.PodIf { // the MAC of the pods' trunk follows from the ID
		a.pods.wirePods()
	}
	a.todo |= todoPermit | todoPods | todoServices | todoPolicies
}

// nodeOf is what the node is of one family.
func (a *Agent) nodeOf(plan *contiv.Plan, mine *contiv.NodePlan, addr netip.Prefix) mode.Node {
	r, family := &a.ranges, plan.PodSubnet.Addr()
	n := mode.Node{
		ID: a.ids.Acting(), Address: addr, VXLAN: mine.VXLANIP, NIC: a.mainNIC(), Gateway: plan.DefaultGateway,
		HostSubnet: mine.VPPHostSubnet, HostVPP: mine.VPPEnd, HostLinux: mine.LinuxEnd,
		Gateways: a.gateways(family), HostAddrs: ofFamily(a.hosts, addr.Addr()),
	}
	if gw := a.own.gateway; gw.IsValid() && gw.Is4() == family.Is4() {
		n.Gateway = gw
	}
	for _, b := range a.alloc.Blocks() {
		if !b.Prefix.Contains(b.Gateway) && b.Prefix.Addr().Is4() == family.Is4() {
			n.Blocks = append(n.Blocks, b.Prefix)
		}
	}
	n.PodSubnets, n.HostSubnets = []netip.Prefix{plan.PodSubnet}, []netip.Prefix{plan.VPPHostSubnet}
	for _, p := range slices.Backward(r.history) {
		if p.Generation >= r.acting {
			continue
		}
		pods, hosts := p.PodSubnet, p.VPPHostSubnet
		if pods.Addr().Is4() != family.Is4() {
			pods, hosts = p.Second.PodSubnet, p.Second.VPPHostSubnet
		}
		n.PodSubnets, n.HostSubnets = appendNew(n.PodSubnets, pods), appendNew(n.HostSubnets, hosts)
	}
	return n
}

// wireUplink lets VPP lease an address as long as nothing else is known of the node.
func (a *Agent) wireUplink() {
	if nic := a.mainNIC(); a.node.ID == 0 && nic != "" && a.leasing() {
		a.wire.Set(groupNode, a.wiring.UplinkObjects(mode.Node{NIC: nic, Hostname: a.cfg.NodeName, DHCP: true}))
	}
}

// appendNew adds p unless it is there or lies in what is there.
func appendNew(list []netip.Prefix, p netip.Prefix) []netip.Prefix {
	for _, q := range list {
		if q.Bits() <= p.Bits() && q.Contains(p.Addr()) {
			return list
		}
	}
	return append(list, p)
}

// gateways are the gateways of a family's blocks with the blocks' lengths, or alone where they lie outside of the
// block: then all blocks may share one. A draining block that an active one overlaps is left out: an interface cannot
// have both, and its pods do not ask who their gateway is.
func (a *Agent) gateways(family netip.Addr) []netip.Prefix {
	var list []netip.Prefix
	for _, b := range a.alloc.Blocks() {
		switch {
		case b.Prefix.Addr().Is4() != family.Is4():
		case !b.Prefix.Contains(b.Gateway):
			list = appendNew(list, netip.PrefixFrom(b.Gateway, b.Gateway.BitLen()))
		case !slices.ContainsFunc(list, b.Prefix.Overlaps):
			list = append(list, netip.PrefixFrom(b.Gateway, b.Prefix.Bits()))
		}
	}
	return list
}

func (a *Agent) podIf() netip.Prefix {
	if a.cfg.IPAMConfig.PodIfIPCIDR == "" {
		return netip.Prefix{}
	}
	p, err := netip.ParsePrefix(a.cfg.IPAMConfig.PodIfIPCIDR)
	if err != nil {
		panic("agent: podIfIPCIDR was validated: " + err.Error())
	}
	return p.Masked()
}

// pruneHistory forgets older ranges that nobody's blocks lie in any more. While other nodes still have such blocks, it
// does not look whose: with a thousand nodes that would cost more than a route too many.
func (a *Agent) pruneHistory() {
	r := &a.ranges
	if len(r.history) < 2 || a.ids.Irregular() > 0 && !r.external() || !a.ids.RecordsKnown() {
		return
	}
	used := slices.AppendSeq(a.networks(nil), a.ids.IrregularNetworks())
	before := len(r.history)
	r.history = slices.DeleteFunc(r.history, func(p Pools) bool {
		return p.Generation < r.acting && p.Generation != r.by && !slices.ContainsFunc(used, p.PodSubnet.Overlaps) && !slices.ContainsFunc(used, p.Second.PodSubnet.Overlaps)
	})
	if len(r.history) != before {
		a.journal.rewrite() // the next life must not start with ranges that are gone
	}
}

func (a *Agent) hostAddresses(addrs []netip.Addr) {
	if slices.Equal(a.hosts, addrs) {
		return
	}
	a.hosts = slices.Clone(addrs)
	a.todo |= todoNode | todoPeers
}

func sameNode(x, y *mode.Node) bool {
	if (x.Second == nil) != (y.Second == nil) || x.Second != nil && !sameNode(x.Second, y.Second) {
		return false
	}
	return !peersDiffer(x, y) && x.Address == y.Address && x.NIC == y.NIC && x.Gateway == y.Gateway &&
		x.DHCP == y.DHCP && x.HostLinux == y.HostLinux && x.PodIf == y.PodIf && x.Services == y.Services && x.Stolen.Equal(y.Stolen) &&
		slices.Equal(x.Others, y.Others) && slices.Equal(x.Gateways, y.Gateways) && slices.Equal(x.Blocks, y.Blocks) && slices.Equal(x.HostAddrs, y.HostAddrs)
}

// peersDiffer reports whether something differs that the wiring towards peers is made of.
func peersDiffer(x, y *mode.Node) bool {
	if (x.Second == nil) != (y.Second == nil) || x.Second != nil && peersDiffer(x.Second, y.Second) {
		return true
	}
	return x.ID != y.ID || x.Address.Addr() != y.Address.Addr() || x.VXLAN != y.VXLAN || x.HostSubnet != y.HostSubnet ||
		x.HostVPP != y.HostVPP || !slices.Equal(x.PodSubnets, y.PodSubnets) || !slices.Equal(x.HostSubnets, y.HostSubnets)
}

// ofFamily keeps the addresses of the same family as like: hosts may have both.
func ofFamily(addrs []netip.Addr, like netip.Addr) []netip.Addr {
	other := func(a netip.Addr) bool { return a.Is4() != like.Is4() }
	if !slices.ContainsFunc(addrs, other) {
		return addrs
	}
	return slices.DeleteFunc(slices.Clone(addrs), other)
}
