// Package configured holds what people have configured against what a node's VPP and Linux have, one thing at a time.
//
// It decides what is compared, and never whether a difference is a fault: that is the law as-configured. It knows no world: the
// simulator answers from its models, labs from dumps. The agent's own word is not asked. Start at Of.
//
// To compare another thing, add a function beside mtuSettings and its place in Of; what no view shows goes into Beside.
package configured

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// Beside is what a node's VPP has that a snapshot does not show; what is nil is not judged.
type Beside struct {
	// Rings are the sizes of a tap's rings by the interface's index; false for what is no tap.
	Rings func(index uint32) (rx, tx uint16, isTap bool)
	// Neighbors is after how many seconds dynamic neighbors of a family are probed, 0 for never, and how many there may be.
	Neighbors func(ip6 bool) (age, most uint32)
	// NAT is when sessions end, and how many there may be; false while it is off.
	NAT func() (NAT, bool)
	// LeaseHostname is what the DHCP client of an interface calls its host; false where there is no client.
	LeaseHostname func(index uint32) (string, bool)
	// Rearranged: the address ranges have been changed.
	Rearranged bool
}

// NAT is after how many seconds without a packet sessions of NAT end, and how many there may be.
type NAT struct{ UDP, TCPEstablished, TCPTransitory, ICMP, Sessions uint32 }

// node is one under a look.
type node struct {
	s *scenarios.Scenario
	Beside
}

// Of compares what a scenario configures with what a node's VPP and Linux have, without a look at what the agent has made of it. n is the
// node as the snapshot has it; what the wiring lacks is for other laws.
func Of(s *scenarios.Scenario, n *fact.NodeState, beside Beside) iter.Seq[fact.Setting] {
	d := &node{s, beside}
	return func(yield func(fact.Setting) bool) {
		for _, part := range [...]func(*fact.NodeState) []fact.Setting{d.mtuSettings, d.ringSettings, d.neighborSettings, d.natSettings, d.weightSettings, d.leaseSettings, d.routeSettings, d.podIfSettings, d.hostSettings, d.rangeSettings, d.tagSettings} {
			for _, s := range part(n) {
				if !yield(s) {
					return
				}
			}
		}
	}
}

// setting is one of them; values are shown as people write them.
func setting(of string, wanted, found any) fact.Setting {
	return fact.Setting{Of: of, Wanted: fmt.Sprint(wanted), Found: fmt.Sprint(found)}
}

// mtuSettings are of the links by which the host and pods have their addresses: MTU, and whether a veth keeps its offload.
func (d *node) mtuSettings(n *fact.NodeState) (list []fact.Setting) {
	link := func(who, netns string, addr netip.Addr) {
		name, held := n.Linux.Local(netns, addr)
		l, found := n.Linux.Link(netns, name)
		if !held || !found {
			return
		}
		list = append(list, setting("the MTU of "+name+" of "+who, d.s.Config.Wiring.MTU, l.MTU))
		if l.Type == "veth" && d.s.Config.Wiring.KeepOffload {
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
func (d *node) ringSettings(n *fact.NodeState) (list []fact.Setting) {
	const rings = 256 // VPP's own choice
	c := &d.s.Config.Wiring
	if d.Rings == nil {
		return nil
	}
	for i := range n.VPP.Interfaces() {
		if rx, tx, isTap := d.Rings(i.Index); isTap {
			list = append(list, setting("the receive ring of "+i.Name, cmp.Or(c.RxRing, rings), rx), setting("the transmit ring of "+i.Name, cmp.Or(c.TxRing, rings), tx))
		}
	}
	return list
}

// neighborSettings are for how long VPP keeps what it has learned of neighbors of the node's families, and of how many.
func (d *node) neighborSettings(n *fact.NodeState) (list []fact.Setting) {
	const most = 50_000 // VPP's own choice
	if d.Neighbors == nil {
		return nil
	}
	of := func(ip6 bool) {
		age, number := d.Neighbors(ip6)
		list = append(list, setting("the age at which neighbors are probed", d.s.Config.Wiring.NeighborAge, time.Duration(age)*time.Second),
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
func (d *node) natSettings(n *fact.NodeState) []fact.Setting {
	const (
		transitory = 4 * time.Minute // VPP's own choice
		least      = 250 * 500       // each of 250 pods has 500 connections
	)
	c := &d.s.Config.Wiring
	if d.NAT == nil {
		return nil
	}
	nat, on := d.NAT()
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
	list := []fact.Setting{
		setting("the time after which an idle TCP session of NAT ends", tcp, seconds(nat.TCPEstablished)),
		setting("the time after which a TCP session of NAT ends that is not established", min(transitory, tcp), seconds(nat.TCPTransitory)),
		setting("the time after which an idle UDP session of NAT ends", other, seconds(nat.UDP)),
		setting("the time after which an idle ICMP session of NAT ends", other, seconds(nat.ICMP)),
		setting("whether NAT has room for 500 sessions of each of 250 pods", true, nat.Sessions >= least),
	}
	if gw, known := d.gateway(n); known {
		var hidden []netip.Addr
		if c.NatExternal && c.Node == scenarios.NodeVXLAN && gw.IsValid() {
			hidden = append(hidden, n.Address.Addr())
		}
		state, _ := n.VPP.NAT()
		list = append(list, setting("the addresses that hide what pods send outside", hidden, state.Addrs))
	}
	return list
}

// weightSettings are how much more sessions endpoints of the node get than others', of services that have both. VPP adds weights up to 255.
func (d *node) weightSettings(n *fact.NodeState) (list []fact.Setting) {
	const most = 255
	weight := max(1, int(d.s.Config.Wiring.LocalEndpoints))
	nat, _ := n.VPP.NAT()
	for i := range nat.Mappings {
		x := &nat.Mappings[i]
		var own, others []int
		for _, l := range x.Locals {
			switch {
			case l.Weight == 0:
			case slices.ContainsFunc(n.Pods, func(p fact.PodState) bool { return p.Addr == l.Addr.Addr() }) || slices.Contains(n.Management, l.Addr.Addr()):
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
func (d *node) leaseSettings(n *fact.NodeState) (list []fact.Setting) {
	const most = 63
	if d.LeaseHostname == nil {
		return nil
	}
	for i := range n.VPP.Interfaces() {
		if name, leases := d.LeaseHostname(i.Index); leases {
			list = append(list, setting("the name that the DHCP client of "+i.Name+" tells", n.Name[:min(len(n.Name), most)], name))
		}
	}
	return list
}

// gateway is the one that is configured for the node, the zero Addr for none; known is false where it follows from a lease, or lies behind another
// interface than the main one.
func (d *node) gateway(n *fact.NodeState) (gw netip.Addr, known bool) {
	c := &d.s.Config
	gw = c.IPAM.DefaultGateway
	if own := c.Settings(n.Name).Gateway; own.IsValid() {
		gw = own
	}
	return gw, !c.Leases(n.Name) && n.Address.IsValid() && (!gw.IsValid() || n.Address.Masked().Contains(gw))
}

// routeSettings are the node's address, where one is configured, and where its VPP sends what nothing else leads to.
func (d *node) routeSettings(n *fact.NodeState) (list []fact.Setting) {
	if own := d.s.Config.Settings(n.Name); own.IP.IsValid() {
		main := mainNIC(n.VPP)
		list = append(list, setting("whether "+main.Name+" has "+own.IP.String(), true, slices.Contains(main.Addrs, own.IP)))
	}
	gw, known := d.gateway(n)
	if !known || !gw.IsValid() {
		return list
	}
	everything := netip.PrefixFrom(gw, 0).Masked()
	for r := range n.VPP.Routes(n.MainTable) {
		if r.Prefix == everything {
			return append(list, setting("the gateway of "+everything.String(), gw, r.Via))
		}
	}
	return append(list, setting("the gateway of "+everything.String(), gw, "none"))
}

// podIfSettings are the addresses of VPP's ends of pods' own interfaces, where a range is configured for them: one of it each, unlike any other's.
func (d *node) podIfSettings(n *fact.NodeState) (list []fact.Setting) {
	ends := d.s.Config.IPAM.PodIfIPCIDR
	if !ends.IsValid() {
		return nil
	}
	seen := map[netip.Addr]bool{}
	for i := range n.VPP.Interfaces() {
		netns := i.HostNetns
		if l, found := n.Linux.Link("", i.Host); found && netns == "" {
			netns = l.PeerNetns
		}
		if netns == "" || !slices.ContainsFunc(n.Pods, func(p fact.PodState) bool { return p.Addr.IsValid() && p.Netns == netns }) {
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
func (d *node) hostSettings(n *fact.NodeState) []fact.Setting {
	c := &d.s.Config.IPAM
	if !n.HostSubnet.IsValid() || n.Second != nil || d.Rearranged || c.ContivCIDR.IsValid() { // which has lengths of its own
		return nil
	}
	length := 120
	if n.HostSubnet.Addr().Is4() {
		length = 24
	}
	return []fact.Setting{setting("the prefix length of the link between VPP and Linux", cmp.Or(c.VPPHostSubnetOneNodePrefixLen, length), n.HostSubnet.Bits())}
}

// tagSettings are the tags of interfaces that are not the machine's own, by which people and other programs know what they are for: of those that have
// the node's own addresses the wiring's fixed names, of a pod's own tap which pod's it is, and some tag of the others.
func (d *node) tagSettings(n *fact.NodeState) (list []fact.Setting) {
	pods := map[string]string{}
	for i := range n.Pods {
		pods[n.Pods[i].Netns] = "pod/" + n.Pods[i].Pod
	}
	delete(pods, "") // the machine's own namespace
	type end struct {
		addr netip.Addr
		of   fact.InterfaceType
	}
	fixed := map[end]string{
		{n.Address.Addr(), fact.TypeLoopback}: "loopbackNIC",
		{n.VXLANAddress, fact.TypeLoopback}:   "vxlanBVI",
		{n.HostVPP, fact.TypeTap}:             "tap-vpp2",
		{n.HostVPP, fact.TypeAFPacket}:        "afpacket-vpp2",
	}
	for i := range n.VPP.Interfaces() {
		switch i.Type {
		case fact.TypeLoopback, fact.TypeAFPacket, fact.TypeTap, fact.TypeMemif:
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

// mainNIC is the first interface to the network that VPP did not make itself.
func mainNIC(v fact.VPP) (main fact.Interface) {
	for i := range v.Interfaces() {
		if i.Type == fact.TypeNIC {
			return i
		}
	}
	return main
}
