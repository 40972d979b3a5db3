package sim

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/sim/vppmodel/view"
)

// settings compares what a scenario configures with what a machine's VPP and Linux have, without a look at what the agent has made of it. n is the
// machine as the snapshot has it; what the wiring lacks is for other laws.
func (m *machine) settings(n *scenarios.NodeState) iter.Seq[scenarios.Setting] {
	return func(yield func(scenarios.Setting) bool) {
		for _, part := range [...]func(*scenarios.NodeState) []scenarios.Setting{m.mtuSettings, m.ringSettings, m.neighborSettings, m.natSettings, m.weightSettings, m.leaseSettings, m.routeSettings, m.podIfSettings, m.hostSettings, m.rangeSettings, m.tagSettings} {
			for _, s := range part(n) {
				if !yield(s) {
					return
				}
			}
		}
	}
}

// setting is one of them; values are shown as people write them.
func setting(of string, wanted, found any) scenarios.Setting {
	return scenarios.Setting{Of: of, Wanted: fmt.Sprint(wanted), Found: fmt.Sprint(found)}
}

// mtuSettings are of the links by which the host and pods have their addresses: MTU, and whether a veth keeps its offload.
func (m *machine) mtuSettings(n *scenarios.NodeState) (list []scenarios.Setting) {
	link := func(who, netns string, addr netip.Addr) {
		name, held := m.host.Local(netns, addr)
		l, found := m.host.Link(netns, name)
		if !held || !found {
			return
		}
		list = append(list, setting("the MTU of "+name+" of "+who, m.w.s.Config.Wiring.MTU, l.MTU))
		if l.Type == "veth" && m.w.s.Config.Wiring.KeepOffload {
			list = append(list, setting("whether "+name+" of "+who+" has lost its checksum offload", false, l.OffloadOff))
		}
	}
	if n.HostLinux.IsValid() {
		link("the host", "", n.HostLinux)
	}
	for i := range n.Pods {
		if p := &n.Pods[i]; p.Addr.IsValid() {
			link(p.Pod, p.Netns, p.Addr)
		}
	}
	return list
}

// ringSettings are the rings of all taps.
func (m *machine) ringSettings(*scenarios.NodeState) (list []scenarios.Setting) {
	const rings = 256 // VPP's own choice
	c := &m.w.s.Config.Wiring
	for i := range m.vpp.Interfaces() {
		if rx, tx, isTap := m.vpp.Rings(i.Index); isTap {
			list = append(list, setting("the receive ring of "+i.Name, cmp.Or(c.RxRing, rings), rx), setting("the transmit ring of "+i.Name, cmp.Or(c.TxRing, rings), tx))
		}
	}
	return list
}

// neighborSettings are for how long VPP keeps what it has learned of neighbors of the node's families, and of how many.
func (m *machine) neighborSettings(n *scenarios.NodeState) (list []scenarios.Setting) {
	const most = 50_000 // VPP's own choice
	of := func(ip6 bool) {
		age, number := m.vpp.NeighborSettings(ip6)
		list = append(list, setting("the age at which neighbors are probed", m.w.s.Config.Wiring.NeighborAge, time.Duration(age)*time.Second),
			setting("the number of neighbors", most, number))
	}
	if n.Address.IsValid() {
		of(n.Address.Addr().Is6())
	}
	if n.Second != nil {
		of(n.Second.Address.Addr().Is6())
	}
	return list
}

// natSettings are when sessions of NAT end, how many there may be, and which addresses hide what pods send outside.
func (m *machine) natSettings(n *scenarios.NodeState) []scenarios.Setting {
	const (
		transitory = 4 * time.Minute // VPP's own choice
		least      = 250 * 500       // each of 250 pods has 500 connections
	)
	c := &m.w.s.Config.Wiring
	nat, on := m.vpp.NATSettings()
	if c.Services != scenarios.ServedByVPP || !on {
		return nil
	}
	minutes := func(configured, otherwise uint32) time.Duration {
		if !c.NatCleanup {
			return math.MaxUint32 * time.Second // never
		}
		return time.Duration(cmp.Or(configured, otherwise)) * time.Minute
	}
	tcp, other := minutes(c.NatTCPTimeout, 180), minutes(c.NatTimeout, 5)
	seconds := func(s uint32) time.Duration { return time.Duration(s) * time.Second }
	list := []scenarios.Setting{
		setting("the time after which an idle TCP session of NAT ends", tcp, seconds(nat.TCPEstablished)),
		setting("the time after which a TCP session of NAT ends that is not established", min(transitory, tcp), seconds(nat.TCPTransitory)),
		setting("the time after which an idle UDP session of NAT ends", other, seconds(nat.UDP)),
		setting("the time after which an idle ICMP session of NAT ends", other, seconds(nat.ICMP)),
		setting("whether NAT has room for 500 sessions of each of 250 pods", true, nat.Sessions >= least),
	}
	if gw, known := m.gateway(n); known {
		var hidden []netip.Addr
		if c.NatExternal && c.Node == scenarios.NodeVXLAN && gw.IsValid() {
			hidden = append(hidden, n.Address.Addr())
		}
		state, _ := m.vpp.NAT()
		list = append(list, setting("the addresses that hide what pods send outside", hidden, state.Addrs))
	}
	return list
}

// weightSettings are how much more sessions endpoints of the node get than others', of services that have both. VPP adds weights up to 255.
func (m *machine) weightSettings(n *scenarios.NodeState) (list []scenarios.Setting) {
	const most = 255
	weight := max(1, int(m.w.s.Config.Wiring.LocalEndpoints))
	nat, _ := view.Of(m.vpp).NAT()
	for i := range nat.Mappings {
		x := &nat.Mappings[i]
		var own, others []int
		for _, l := range x.Locals {
			switch {
			case l.Weight == 0:
			case slices.ContainsFunc(n.Pods, func(p scenarios.PodState) bool { return p.Addr == l.Addr.Addr() }) || slices.Contains(n.Management, l.Addr.Addr()):
				own = append(own, int(l.Weight))
			default:
				others = append(others, int(l.Weight))
			}
		}
		if len(own) == 0 || len(others) == 0 || len(own)*weight+len(others) > most {
			continue
		}
		unit := slices.Min(others)
		if unit != slices.Max(others) || slices.Min(own) != slices.Max(own) {
			continue
		}
		list = append(list, setting(fmt.Sprintf("the weight of the node's own endpoints of %s port %d against %d of others'", x.Addr, x.Port, unit), weight*unit, own[0]))
	}
	return list
}

// leaseSettings are what the node tells DHCP servers of itself: as much of its name as fits.
func (m *machine) leaseSettings(*scenarios.NodeState) (list []scenarios.Setting) {
	const most = 63
	for i := range m.vpp.Interfaces() {
		if name, leases := m.vpp.LeaseHostname(i.Index); leases {
			list = append(list, setting("the name that the DHCP client of "+i.Name+" tells", m.name[:min(len(m.name), most)], name))
		}
	}
	return list
}

// gateway is the one that is configured for the node, the zero Addr for none; known is false where it follows from a lease, or lies behind another
// interface than the main one.
func (m *machine) gateway(n *scenarios.NodeState) (gw netip.Addr, known bool) {
	c := &m.w.s.Config
	gw = c.IPAM.DefaultGateway
	if own := c.Settings(m.name).Gateway; own.IsValid() {
		gw = own
	}
	return gw, !c.Leases(m.name) && n.Address.IsValid() && (!gw.IsValid() || n.Address.Masked().Contains(gw))
}

// routeSettings are the node's address, where one is configured, and where its VPP sends what nothing else leads to.
func (m *machine) routeSettings(n *scenarios.NodeState) (list []scenarios.Setting) {
	if own := m.w.s.Config.Settings(m.name); own.IP.IsValid() {
		main, _ := m.vpp.Interface(mainNIC)
		list = append(list, setting("whether "+main.Name+" has "+own.IP.String(), true, slices.Contains(main.Addrs, own.IP)))
	}
	gw, known := m.gateway(n)
	if !known || !gw.IsValid() {
		return list
	}
	everything := netip.PrefixFrom(gw, 0).Masked()
	if r, found := view.Of(m.vpp).RouteTo(m.w.wiring.MainTable, everything); found {
		list = append(list, setting("the gateway of "+everything.String(), gw, r.Via))
	} else {
		list = append(list, setting("the gateway of "+everything.String(), gw, "none"))
	}
	return list
}

// podIfSettings are the addresses of VPP's ends of pods' own interfaces, where a range is configured for them: one of it each, unlike any other's.
func (m *machine) podIfSettings(n *scenarios.NodeState) (list []scenarios.Setting) {
	ends := m.w.s.Config.IPAM.PodIfIPCIDR
	if !ends.IsValid() {
		return nil
	}
	seen := map[netip.Addr]bool{}
	for i := range m.vpp.Interfaces() {
		netns := i.HostNetns
		if l, found := m.host.Link("", i.Host); found && netns == "" {
			netns = l.PeerNetns
		}
		if netns == "" || !slices.ContainsFunc(n.Pods, func(p scenarios.PodState) bool { return p.Addr.IsValid() && p.Netns == netns }) {
			continue
		}
		own := 0
		for _, a := range i.Addrs {
			if ends.Contains(a.Addr()) && !seen[a.Addr()] {
				own, seen[a.Addr()] = own+1, true
			}
		}
		list = append(list, setting("how many addresses of "+ends.String()+" "+i.Name+" has for itself", 1, own))
	}
	return list
}

// hostSettings are how long the prefix of the node's link between VPP and Linux is, in clusters of one family whose ranges stay.
func (m *machine) hostSettings(n *scenarios.NodeState) []scenarios.Setting {
	c := &m.w.s.Config.IPAM
	if !n.HostSubnet.IsValid() || n.Second != nil || m.w.rearranged || c.ContivCIDR.IsValid() { // which has lengths of its own
		return nil
	}
	length := 120
	if n.HostSubnet.Addr().Is4() {
		length = 24
	}
	return []scenarios.Setting{setting("the prefix length of the link between VPP and Linux", cmp.Or(c.VPPHostSubnetOneNodePrefixLen, length), n.HostSubnet.Bits())}
}

// tagSettings are the tags of interfaces that are not the machine's own, by which people and other programs know what they are for: of those that have
// the node's own addresses the wiring's fixed names, of a pod's own tap which pod's it is, and some tag of the others.
func (m *machine) tagSettings(n *scenarios.NodeState) (list []scenarios.Setting) {
	pods := map[string]string{}
	for i := range n.Pods {
		pods[n.Pods[i].Netns] = "pod/" + n.Pods[i].Pod
	}
	delete(pods, "") // the machine's own namespace
	type end struct {
		addr netip.Addr
		of   scenarios.InterfaceType
	}
	fixed := map[end]string{
		{n.Address.Addr(), scenarios.TypeLoopback}: "loopbackNIC",
		{n.VXLANAddress, scenarios.TypeLoopback}:   "vxlanBVI",
		{n.HostVPP, scenarios.TypeTap}:             "tap-vpp2",
		{n.HostVPP, scenarios.TypeAFPacket}:        "afpacket-vpp2",
	}
	for i := range view.Of(m.vpp).Interfaces() {
		switch i.Type {
		case scenarios.TypeLoopback, scenarios.TypeAFPacket, scenarios.TypeTap:
			want := pods[i.HostNetns]
			for _, a := range i.Addrs {
				want = cmp.Or(fixed[end{a.Addr(), i.Type}], want)
			}
			if want != "" {
				list = append(list, setting("the tag of "+i.Name, want, i.Tag))
				continue
			}
			list = append(list, setting("whether "+i.Name+" has a tag", true, i.Tag != ""))
		}
	}
	return list
}
