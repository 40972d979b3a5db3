package check

import (
	"net/netip"
	"path"
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire"
)

const booksAgreeName = "books-agree"

// booksAgree: on each node, four lists name the same pods: the agent's leases, the runtime's answered sandboxes, VPP's
// interfaces with their routes and neighbors, and Linux' namespaces. Nothing is missing in any of them and nothing is
// left over.
//
// A pod's interface is identified by its far end: every tap or AF_PACKET interface, except the VPP end of the host
// interconnect, must lead into an answered sandbox. Names and tags mean nothing. Interfaces of other kinds, and other
// contents of a namespace, are not judged. Nodes whose agent or VPP does not run are skipped, because one of the lists
// is missing there.
func booksAgree() fact.Law {
	return fact.Law{
		Name:  booksAgreeName,
		Rule:  "The agent's leases, the runtime's sandboxes, VPP's interfaces and Linux' namespaces name the same pods.",
		Why:   "An entry that only one list has is a pod without network, or a leak that ends in exhaustion.",
		When:  fact.Settled,
		Needs: []fact.Evidence{fact.Leases, fact.Sandboxes, fact.VPPTables, fact.LinuxTables},
		Check: checkBooks,
	}
}

func checkBooks(s fact.Snapshot) (occasions int64, err error) {
	b := lists{s: s, byOwner: map[ipam.Owner]int{}, byAddr: map[netip.Addr]int{}, byNetns: map[string]int{},
		ports: map[uint32]int{}, devices: map[string]bool{}}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if !lives(n) || n.Leases == nil || n.VPP == nil || n.Linux == nil {
			continue
		}
		occasions++ // also a node without pods: nothing may be left over there
		b.open(n)
		for _, compare := range [...]func() error{b.leases, b.interfaces, b.neighbors, b.macs, b.routes, b.namespaces,
			b.hostLinks, b.memifFolders} {
			if err := compare(); err != nil {
				return occasions, err
			}
		}
	}
	return occasions, nil
}

// lists compares the lists of one node at a time. Its maps are reused.
type lists struct {
	s fact.Snapshot
	n *fact.NodeState
	// The answered sandboxes, as indexes into n.Pods.
	byOwner map[ipam.Owner]int
	byAddr  map[netip.Addr]int
	byNetns map[string]int
	// wired holds what VPP and Linux have for each pod.
	wired []wired
	// ports maps VPP interfaces that lead into sandboxes; devices are Linux devices of the host that some VPP interface
	// uses.
	ports   map[uint32]int
	devices map[string]bool
	// trunk is the interface that pods share, only with hasTrunk.
	trunk    uint32
	hasTrunk bool
	// podsBridge joins it with the interface trunkPort, where pods' frames arrive. It is 0 where they arrive on trunk
	// itself.
	podsBridge, trunkPort uint32
	// alive caches the last answer of exists.
	aliveIndex uint32
	alive      bool
}

// wired is VPP's state for one pod.
type wired struct {
	port            fact.Interface
	hasPort         bool
	route, neighbor bool
	gateway         netip.Addr
	link            vppwire.LinuxLink
}

func (b *lists) broken(format string, args ...any) error {
	return broken(booksAgreeName, b.s.At, b.n.Name, format, args...)
}

func (b *lists) open(n *fact.NodeState) {
	b.n = n
	clear(b.byOwner)
	clear(b.byAddr)
	clear(b.byNetns)
	clear(b.ports)
	clear(b.devices)
	b.wired = append(b.wired[:0], make([]wired, len(n.Pods))...)
	b.aliveIndex, b.alive = 0, true
	b.hasTrunk, b.podsBridge = false, 0
	for i := range n.Pods {
		if p := &n.Pods[i]; p.Addr.IsValid() {
			b.byOwner[p.Owner], b.byAddr[p.Addr] = i, i
			if _, is := p.Owner.First(); !is {
				b.byNetns[p.Netns] = i
			}
			b.wired[i].gateway = p.Gateway
		}
	}
}

// leases: every lease is an answered sandbox's, and the other way round.
func (b *lists) leases() error {
	held := 0
	for l := range b.n.Leases() {
		i, ok := b.byOwner[l.Owner]
		if !ok {
			return b.broken("the agent leases %s to %s, but the runtime has no answered sandbox of that name", l.Addr, l.Owner)
		}
		if p := &b.n.Pods[i]; p.Addr != l.Addr {
			return b.broken("the agent leases %s to %s, which was answered %s", l.Addr, l.Owner, p.Addr)
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
			return b.broken("%s (%s) was answered %s, but the agent's leases do not name it", p.Pod, p.Owner, p.Addr)
		}
	}
	return b.broken("the agent holds %d leases for %d answered sandboxes", held, len(b.byOwner))
}

// linkOf is the name of a pod's link. A second address is on the same link.
func linkOf(p *fact.PodState) string {
	first, _ := p.Owner.First()
	return first.IfName
}

// namespaces: each pod has its link, its address and its route to the gateway, and the gateway's MAC is that of its VPP
// interface.
func (b *lists) namespaces() error {
	for i := range b.wired {
		w, p := &b.wired[i], &b.n.Pods[i]
		if !w.hasPort {
			continue
		}
		link := linkOf(p)
		local, ok := b.n.Linux.Local(p.Netns, p.Addr)
		switch {
		case w.link.Name == "":
			return b.broken("%s has no link %s", p.Pod, link)
		case !w.link.Up:
			return b.broken("link %s of %s is down", link, p.Pod)
		case !ok || local != link:
			return b.broken("link %s of %s does not have its address %s", link, p.Pod, p.Addr)
		case b.offloads(&w.link):
			return b.broken("link %s of %s leaves checksums to hardware, so TCP segments arrive with wrong checksums", link,
				p.Pod)
		case !w.gateway.IsValid():
			continue
		}
		if r, ok := b.n.Linux.Route(p.Netns, w.gateway); !ok || r.Link != link || r.Via.IsValid() {
			return b.broken("%s has no route to its gateway %s", p.Pod, w.gateway)
		}
		if b.n.HostLinux.IsValid() && b.n.HostLinux.Is4() == w.gateway.Is4() {
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

// offloads reports whether the kernel leaves checksums unfinished on a veth that leads to VPP, although offload is
// configured off.
func (b *lists) offloads(l *vppwire.LinuxLink) bool {
	return b.n.NoOffload && l.Type == "veth" && !l.OffloadOff
}

// memifFolders: a folder whose last parts are a pod's UID and an interface's name is of an answered sandbox.
func (b *lists) memifFolders() error {
	for _, folder := range b.n.Linux.MemifFolders() {
		uid, ifName := path.Base(path.Dir(folder)), path.Base(folder)
		if !slices.ContainsFunc(b.n.Pods, func(p fact.PodState) bool { return p.UID == uid && p.Owner.IfName == ifName && p.Addr.IsValid() }) {
			return b.broken("memif folder %s is left of a sandbox that is gone", folder)
		}
	}
	return nil
}

// hostLinks: every veth and tap in the host's own namespace belongs to a VPP interface, and every sender into one of
// the veths, except VPP, finishes checksums.
func (b *lists) hostLinks() error {
	for l := range b.n.Linux.Links("") {
		if l.Name != vppwire.HostVPPDevice && b.devices[l.Name] && b.offloads(&l) {
			return b.broken("link %s of the host leaves checksums to hardware, so TCP segments arrive with wrong checksums",
				l.Name)
		}
		if (l.Type == "veth" || l.Type == "tun") && !b.devices[l.Name] {
			return b.broken("link %s is left in the host's namespace: no VPP interface uses it", l.Name)
		}
	}
	return nil
}
