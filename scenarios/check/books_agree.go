package check

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/vppwire"
)

const booksAgreeName = "books-agree"

// booksAgree: on each node, four lists name the same pods: the agent's leases, the runtime's answered sandboxes, VPP's interfaces with their routes and
// neighbors, and Linux' namespaces. Nothing is missing in any of them and nothing is left over.
//
// A pod's interface is known by where it leads: any tap or AF_PACKET interface except the one that holds the VPP end of the host interconnect must lead into
// an answered sandbox. Names and tags mean nothing. Interfaces of other kinds, and what else a namespace holds, are not judged. Nodes whose agent or VPP
// does not run are passed over: one of the lists is missing there.
func booksAgree() scenarios.Law {
	return scenarios.Law{
		Name:  booksAgreeName,
		Why:   "What only one list knows is either a pod without network or a leak that ends in exhaustion.",
		When:  scenarios.Settled,
		Check: checkBooks,
	}
}

func checkBooks(s scenarios.Snapshot) error {
	b := books{s: s, byOwner: map[ipam.Owner]int{}, byAddr: map[netip.Addr]int{}, byNetns: map[string]int{}, ports: map[uint32]int{}, devices: map[string]bool{}}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if !lives(n) || n.Leases == nil || n.VPP == nil || n.Linux == nil {
			continue
		}
		b.open(n)
		for _, compare := range [...]func() error{b.leases, b.interfaces, b.neighbors, b.routes, b.namespaces, b.hostLinks} {
			if err := compare(); err != nil {
				return err
			}
		}
	}
	return nil
}

// books compares the lists of one node at a time; its maps are reused.
type books struct {
	s scenarios.Snapshot
	n *scenarios.NodeState
	// The answered sandboxes, as indexes into n.Pods.
	byOwner map[ipam.Owner]int
	byAddr  map[netip.Addr]int
	byNetns map[string]int
	// wired is what was found of each pod.
	wired []wired
	// ports maps VPP interfaces that lead into sandboxes; devices are Linux devices of the host that some VPP interface uses.
	ports   map[uint32]int
	devices map[string]bool
	// alive caches the last answer of exists.
	aliveIndex uint32
	alive      bool
}

// wired is what VPP has of one pod.
type wired struct {
	port            scenarios.Interface
	hasPort         bool
	route, neighbor bool
	gateway         netip.Addr
	link            vppwire.LinuxLink
}

func (b *books) broken(format string, args ...any) error {
	return broken(booksAgreeName, b.s.At, b.n.Name, format, args...)
}

func (b *books) open(n *scenarios.NodeState) {
	b.n = n
	clear(b.byOwner)
	clear(b.byAddr)
	clear(b.byNetns)
	clear(b.ports)
	clear(b.devices)
	b.wired = append(b.wired[:0], make([]wired, len(n.Pods))...)
	b.aliveIndex, b.alive = 0, true
	for i := range n.Pods {
		if p := &n.Pods[i]; p.Addr.IsValid() {
			b.byOwner[p.Owner], b.byAddr[p.Addr], b.byNetns[p.Netns] = i, i, i
			b.wired[i].gateway = p.Gateway
		}
	}
}

// leases: every lease is an answered sandbox's, and the other way round.
func (b *books) leases() error {
	held := 0
	for l := range b.n.Leases() {
		i, ok := b.byOwner[l.Owner]
		if !ok {
			return b.broken("the books give %s to %s, but the runtime has no answered sandbox of that name", l.Addr, l.Owner)
		}
		if p := &b.n.Pods[i]; p.Addr != l.Addr {
			return b.broken("the books give %s to %s, which was answered %s", l.Addr, l.Owner, p.Addr)
		}
		if !b.wired[i].gateway.IsValid() {
			b.wired[i].gateway = l.Gateway
		}
		held++
	}
	if held == len(b.byOwner) {
		return nil
	}
	leased := map[ipam.Owner]bool{}
	for l := range b.n.Leases() {
		leased[l.Owner] = true
	}
	for i := range b.n.Pods {
		if p := &b.n.Pods[i]; p.Addr.IsValid() && !leased[p.Owner] {
			return b.broken("%s (%s) was answered %s, but the books do not hold it", p.Pod, p.Owner, p.Addr)
		}
	}
	return b.broken("the books hold %d leases for %d answered sandboxes", held, len(b.byOwner))
}

// interfaces: exactly one leads into each answered sandbox, up and in the pod table, and none leads elsewhere.
func (b *books) interfaces() error {
	for ifc := range b.n.VPP.Interfaces() {
		if ifc.Host != "" && ifc.HostNetns == "" {
			b.devices[ifc.Host] = true
			if l, ok := b.n.Linux.Link("", ifc.Host); ok && l.PeerNetns == "" && l.Peer != "" {
				b.devices[l.Peer] = true
			}
		}
		if ifc.Type != scenarios.TypeTap && ifc.Type != scenarios.TypeAFPacket || b.interconnect(&ifc) {
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
		case p.Addr.Is4() && ifc.Table4 != b.n.PodTable || p.Addr.Is6() && ifc.Table6 != b.n.PodTable:
			return b.broken("interface %s of %s is not in the pod table", ifc.Name, p.Pod)
		}
		w.port, w.hasPort = ifc, true
		b.ports[ifc.Index] = i
	}
	for i := range b.wired {
		if p := &b.n.Pods[i]; p.Addr.IsValid() && !b.wired[i].hasPort {
			return b.broken("%s (%s) was answered %s, but no VPP interface leads to it", p.Pod, p.Owner, p.Addr)
		}
	}
	return nil
}

func (b *books) interconnect(ifc *scenarios.Interface) bool {
	for _, a := range ifc.Addrs {
		if a.Addr() == b.n.HostVPP {
			return true
		}
	}
	return false
}

// leadsTo is the namespace at the far end of a tap or AF_PACKET interface.
func (b *books) leadsTo(ifc *scenarios.Interface) string {
	if ifc.Type == scenarios.TypeTap {
		return ifc.HostNetns
	}
	l, ok := b.n.Linux.Link(ifc.HostNetns, ifc.Host)
	if !ok {
		return ""
	}
	return l.PeerNetns
}

// neighbors: each pod's interface has exactly one static entry, the pod's; none is left on interfaces that are gone.
func (b *books) neighbors() error {
	for nb := range b.n.VPP.Neighbors() {
		i, ok := b.ports[nb.Index]
		if !ok {
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
		if w.link, ok = b.n.Linux.Link(p.Netns, p.Owner.IfName); ok && w.link.MAC != nb.MAC {
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

// routes: the pod table has one route to each pod, and no table a route that a pod left behind.
func (b *books) routes() error {
	for table := range b.n.VPP.Tables() {
		for r := range b.n.VPP.Routes(table) {
			if r.Action != scenarios.ActionForward {
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

func (b *books) route(table uint32, r *scenarios.Route) error {
	if r.Index != ^uint32(0) && !b.exists(r.Index) {
		return b.broken("route %s of table %d is left on interface %d, which is gone", r.Prefix, table, r.Index)
	}
	port, onPort := b.ports[r.Index]
	i, isPod := -1, false
	if r.Prefix.IsSingleIP() {
		i, isPod = b.byAddr[r.Prefix.Addr()]
	}
	switch {
	case isPod && table == b.n.PodTable:
		if !onPort || port != i || r.Via.IsValid() && r.Via != r.Prefix.Addr() {
			return b.broken("the route to %s (%s) does not lead out of its interface %s", b.n.Pods[i].Pod, r.Prefix.Addr(), b.wired[i].port.Name)
		}
		b.wired[i].route = true
	case onPort:
		return b.broken("route %s of table %d is left on interface %s of %s", r.Prefix, table, b.wired[port].port.Name, b.n.Pods[port].Pod)
	case !isPod && r.Prefix.IsSingleIP() && b.inBlocks(r.Prefix.Addr()):
		return b.broken("route %s of table %d leads to an address of this node that no pod has", r.Prefix, table)
	}
	return nil
}

func (b *books) inBlocks(a netip.Addr) bool {
	for i := range b.n.Blocks {
		if b.n.Blocks[i].Prefix.Contains(a) {
			return true
		}
	}
	return false
}

// exists remembers one interface: most routes and neighbors in a row are on the same one.
func (b *books) exists(index uint32) bool {
	if index != b.aliveIndex {
		_, b.alive = b.n.VPP.Interface(index)
		b.aliveIndex = index
	}
	return b.alive
}

// namespaces: each pod has its link, its address, its way to the gateway, and the gateway's MAC is its VPP interface's.
func (b *books) namespaces() error {
	for i := range b.wired {
		w, p := &b.wired[i], &b.n.Pods[i]
		if !w.hasPort {
			continue
		}
		link := p.Owner.IfName
		local, ok := b.n.Linux.Local(p.Netns, p.Addr)
		switch {
		case w.link.Name == "":
			return b.broken("%s has no link %s", p.Pod, link)
		case !w.link.Up:
			return b.broken("link %s of %s is down", link, p.Pod)
		case !ok || local != link:
			return b.broken("link %s of %s does not have its address %s", link, p.Pod, p.Addr)
		case !w.gateway.IsValid():
			continue
		}
		if r, ok := b.n.Linux.Route(p.Netns, w.gateway); !ok || r.Link != link || r.Via.IsValid() {
			return b.broken("%s has no route to its gateway %s", p.Pod, w.gateway)
		}
		if b.n.HostLinux.IsValid() {
			if r, ok := b.n.Linux.Route(p.Netns, b.n.HostLinux); !ok || r.Link != link || r.Via != w.gateway {
				return b.broken("the default route of %s does not lead to its gateway %s", p.Pod, w.gateway)
			}
		}
		if mac, ok := b.n.Linux.Neighbor(p.Netns, link, w.gateway); ok && mac != w.port.MAC {
			return b.broken("%s has %s as its gateway's MAC, but its VPP interface has %s", p.Pod, mac, w.port.MAC)
		}
	}
	return nil
}

// hostLinks: every veth and tap in the host's own namespace belongs to a VPP interface.
func (b *books) hostLinks() error {
	for l := range b.n.Linux.Links("") {
		if (l.Type == "veth" || l.Type == "tun") && !b.devices[l.Name] {
			return b.broken("link %s is left in the host's namespace: no VPP interface uses it", l.Name)
		}
	}
	return nil
}
