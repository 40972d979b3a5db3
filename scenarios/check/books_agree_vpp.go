package check

import (
	"iter"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire"
)

// interfaces: exactly one leads into each answered sandbox, up and in the pod table, and none leads elsewhere.
func (b *lists) interfaces() error {
	for ifc := range b.n.VPP.Interfaces() {
		if ifc.Host != "" && ifc.HostNetns == "" {
			b.devices[ifc.Host] = true
			if l, ok := b.n.Linux.Link("", ifc.Host); ok && l.PeerNetns == "" && l.Peer != "" {
				b.devices[l.Peer] = true
			}
		}
		if ifc.Type != fact.TypeTap && ifc.Type != fact.TypeAFPacket && ifc.Type != fact.TypeMemif || b.interconnect(&ifc) {
			continue
		}
		if parent := b.shared(&ifc); parent != "" {
			if err := b.sharedPort(ifc, parent); err != nil {
				return err
			}
			continue
		}
		i, ok := b.byNetns[b.leadsTo(&ifc)]
		if !ok {
			return b.broken("interface %s (tag %q) leads into no answered sandbox", ifc.Name, ifc.Tag)
		}
		p, w := &b.n.Pods[i], &b.wired[i]
		switch {
		case w.hasPort:
			return b.broken("two interfaces, %s and %s, lead to %s", w.port.Name, ifc.Name, p.Pod)
		case !ifc.Up:
			return b.broken("interface %s of %s is down", ifc.Name, p.Pod)
		}
		b.ports[ifc.Index] = i
		for k := range b.addressesOf(i) {
			if a := b.n.Pods[k].Addr; a.Is4() && ifc.Table4 != b.n.PodTable || a.Is6() && ifc.Table6 != b.n.PodTable {
				return b.broken("interface %s of %s (%s) is not in the pod table", ifc.Name, p.Pod, a)
			}
			b.wired[k].port, b.wired[k].hasPort = ifc, true
		}
	}
	for i := range b.wired {
		if p := &b.n.Pods[i]; p.Addr.IsValid() && !b.wired[i].hasPort {
			return b.broken("%s (%s) was answered %s, but no VPP interface leads to it", p.Pod, p.Owner, p.Addr)
		}
	}
	return nil
}

// addressesOf yields a sandbox, and behind it the same one with its second address.
func (b *lists) addressesOf(i int) iter.Seq[int] {
	return func(yield func(int) bool) {
		if !yield(i) {
			return
		}
		if k := i + 1; k < len(b.n.Pods) && b.n.Pods[k].Owner == b.n.Pods[i].Owner.Second() {
			yield(k)
		}
	}
}

// shared is the other end of the veth below an AF_PACKET interface, where that end is the host's and so no pod's.
func (b *lists) shared(ifc *fact.Interface) string {
	if ifc.Type != fact.TypeAFPacket || ifc.Host == "" {
		return ""
	}
	if l, ok := b.n.Linux.Link(ifc.HostNetns, ifc.Host); ok && l.PeerNetns == "" {
		return l.Peer
	}
	return ""
}

// sharedPort checks an interface with one macvlan per pod behind it: every macvlan belongs to an answered sandbox.
func (b *lists) sharedPort(ifc fact.Interface, parent string) error {
	port := ifc
	if ifc.Bridge != 0 { // what routes is behind it
		bridge, _ := b.n.VPP.Bridge(ifc.Bridge)
		k := slices.IndexFunc(bridge.Members, func(m fact.BridgeMember) bool { return m.BVI })
		if k < 0 {
			return b.broken("interface %s, which pods share, is in bridge domain %d, which has no BVI", ifc.Name, ifc.Bridge)
		}
		port, _ = b.n.VPP.Interface(bridge.Members[k].Index)
		b.podsBridge, b.trunkPort = ifc.Bridge, ifc.Index
	}
	b.trunk, b.hasTrunk = port.Index, true
	for netns := range b.n.Linux.Namespaces() {
		for l := range b.n.Linux.Links(netns) {
			if l.Parent != parent {
				continue
			}
			i, ok := b.byNetns[netns]
			if !ok {
				continue // not answered yet, or a runtime that removes the sandbox itself
			}
			if !ifc.Up || !port.Up { // without pods behind it, the state has no effect
				return b.broken("interface %s, which pods share, is down", ifc.Name)
			}
			for k := range b.addressesOf(i) {
				if a := b.n.Pods[k].Addr; a.Is4() && port.Table4 != b.n.PodTable || a.Is6() && port.Table6 != b.n.PodTable {
					return b.broken("interface %s, which pods share, is not in the pod table", port.Name)
				}
				b.wired[k].port, b.wired[k].hasPort = port, true
			}
		}
	}
	return nil
}

// interconnect reports whether an interface leads to the host: it has VPP's end of the interconnect, or borrows the node's address, which is
// the host's.
func (b *lists) interconnect(ifc *fact.Interface) bool {
	if lender, ok := b.n.VPP.Interface(ifc.Unnumbered); ok && ifc.HasUnnumbered && b.n.Uplink != "" && slices.Contains(lender.Addrs, b.n.Address) {
		return true
	}
	for _, a := range ifc.Addrs {
		if a.Addr() == b.n.HostVPP {
			return true
		}
	}
	return false
}

// leadsTo is the namespace at the far end of a tap, memif or AF_PACKET interface.
func (b *lists) leadsTo(ifc *fact.Interface) string {
	if ifc.Type != fact.TypeAFPacket {
		return ifc.HostNetns
	}
	l, ok := b.n.Linux.Link(ifc.HostNetns, ifc.Host)
	if !ok {
		return ""
	}
	return l.PeerNetns
}

// neighbors: each pod's interface has exactly one static entry, the pod's; none is left on interfaces that are gone.
func (b *lists) neighbors() error {
	for nb := range b.n.VPP.Neighbors() {
		i, ok := b.portOf(nb.Index, nb.Addr)
		if !ok {
			if b.hasTrunk && nb.Index == b.trunk {
				return b.broken("neighbor %s is left on the interface that pods share", nb.Addr)
			}
			if !b.exists(nb.Index) {
				return b.broken("neighbor %s is left on interface %d, which is gone", nb.Addr, nb.Index)
			}
			if i, ok := b.byAddr[nb.Addr]; ok {
				return b.broken("neighbor %s of %s is on the wrong interface %d", nb.Addr, b.n.Pods[i].Pod, nb.Index)
			}
			continue
		}
		p, w := &b.n.Pods[i], &b.wired[i]
		if nb.Addr != p.Addr {
			return b.broken("neighbor %s is left on interface %s of %s", nb.Addr, w.port.Name, p.Pod)
		}
		if w.link, ok = b.n.Linux.Link(p.Netns, linkOf(p)); ok && w.link.MAC != nb.MAC {
			return b.broken("neighbor %s of %s says %s, but the pod's link has %s", nb.Addr, p.Pod, nb.MAC, w.link.MAC)
		}
		w.neighbor = true
	}
	for i := range b.wired {
		if b.wired[i].hasPort && !b.wired[i].neighbor {
			return b.broken("%s (%s) has no neighbor entry", b.n.Pods[i].Pod, b.n.Pods[i].Addr)
		}
	}
	return nil
}

// macs: where the shared pod interface is bridged, exactly the pods' MACs lead there.
func (b *lists) macs() error {
	if b.podsBridge == 0 {
		return nil
	}
	left := map[vppwire.MAC]int{}
	for i := range b.wired {
		if b.wired[i].hasPort {
			left[b.wired[i].link.MAC] = i
		}
	}
	for e := range b.n.VPP.FIBs() {
		if e.Bridge != b.podsBridge || e.BVI {
			continue
		}
		if _, ok := left[e.MAC]; !ok || e.Index != b.trunkPort {
			return b.broken("the L2 FIB of bridge domain %d has %s on interface %d, which is no pod's", e.Bridge, e.MAC, e.Index)
		}
		delete(left, e.MAC)
	}
	for i := range b.wired {
		if k, missing := left[b.wired[i].link.MAC]; missing && k == i && b.wired[i].hasPort {
			return b.broken("the L2 FIB of bridge domain %d has no entry for %s of %s", b.podsBridge, b.wired[i].link.MAC,
				b.n.Pods[i].Pod)
		}
	}
	return nil
}

// routes: the pod table has one route to each pod, and no table a route that a pod left behind.
func (b *lists) routes() error {
	for table := range b.n.VPP.Tables() {
		for r := range b.n.VPP.Routes(table) {
			if r.Action != fact.ActionForward {
				continue
			}
			if err := b.route(table, &r); err != nil {
				return err
			}
		}
	}
	for i := range b.wired {
		if b.wired[i].hasPort && !b.wired[i].route {
			return b.broken("%s (%s) has no route in the pod table", b.n.Pods[i].Pod, b.n.Pods[i].Addr)
		}
	}
	return nil
}

func (b *lists) route(table uint32, r *fact.Route) error {
	if r.Index != ^uint32(0) && !b.exists(r.Index) {
		return b.broken("route %s of table %d is left on interface %d, which is gone", r.Prefix, table, r.Index)
	}
	port, onPort := b.portOf(r.Index, r.Prefix.Addr())
	i, isPod := -1, false
	if r.Prefix.IsSingleIP() {
		i, isPod = b.byAddr[r.Prefix.Addr()]
	}
	switch {
	case isPod && table == b.n.PodTable:
		if !onPort || port != i || r.Via.IsValid() && r.Via != r.Prefix.Addr() {
			return b.broken("the route to %s (%s) does not lead out of its interface %s", b.n.Pods[i].Pod, r.Prefix.Addr(),
				b.wired[i].port.Name)
		}
		b.wired[i].route = true
	case b.hasTrunk && r.Index == b.trunk:
		return b.broken("route %s of table %d is left on the interface that pods share", r.Prefix, table)
	case onPort:
		return b.broken("route %s of table %d is left on interface %s of %s", r.Prefix, table, b.wired[port].port.Name,
			b.n.Pods[port].Pod)
	case !isPod && r.Prefix.IsSingleIP() && b.inBlocks(r.Prefix.Addr()):
		return b.broken("route %s of table %d leads to an address of this node that no pod has", r.Prefix, table)
	}
	return nil
}

// portOf finds the pod by interface, or by address on a shared interface.
func (b *lists) portOf(index uint32, a netip.Addr) (int, bool) {
	if b.hasTrunk && index == b.trunk {
		i, ok := b.byAddr[a]
		return i, ok && b.wired[i].hasPort
	}
	i, ok := b.ports[index]
	if !ok {
		return i, false
	}
	for k := range b.addressesOf(i) {
		if b.n.Pods[k].Addr.Is4() == a.Is4() {
			return k, true
		}
	}
	return i, true
}

func (b *lists) inBlocks(a netip.Addr) bool {
	for i := range b.n.Blocks {
		if b.n.Blocks[i].Prefix.Contains(a) {
			return true
		}
	}
	return false
}

// exists caches one interface, because most consecutive routes and neighbors are on the same one.
func (b *lists) exists(index uint32) bool {
	if index != b.aliveIndex {
		_, b.alive = b.n.VPP.Interface(index)
		b.aliveIndex = index
	}
	return b.alive
}
