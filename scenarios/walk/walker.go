package walk

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire"
)

// Walker walks packets over one snapshot. It keeps three small indexes: nodes by name, VPP interfaces by their Linux
// end, and the addresses on the wire between the nodes. It is for one goroutine.
type Walker struct {
	nodes  []node
	byName map[string]*node
	nics   map[netip.Addr]nic
	// hosts are nodes by the addresses that their Linux has on the wire: see NodeState.Uplink.
	hosts map[netip.Addr]*node
	// fabric is the cloud's network that the wire is, or nil.
	fabric *fact.Fabric
	// inside holds the frames inside the packet under way, the outermost last; trail tells its way.
	inside []packet
	trail  trail
	// nat is what NAT remembers within an Exchange; else nil.
	nat         *translation
	translation translation
	// chain is what Link answered last.
	chain []LinkEnd
}

// node is one node of the snapshot with what the walk needs beside it.
type node struct {
	*fact.NodeState
	ends    map[end]uint32
	bridges []fact.Bridge // without their members
	// children are the macvlans of the node by parent and MAC, found when first asked for.
	children map[child]end
	// nat is the VPP's, found when first asked for.
	nat      *fact.NAT
	natKnown bool
	// rules are the interfaces' ACLs that were asked for.
	rules map[side]rules
}

// child is what finds a macvlan: its parent in the host's own namespace, and its MAC.
type child struct {
	parent string
	mac    vppwire.MAC
}

// end is the Linux device behind a tap or AF_PACKET interface, or what stands for a memif's program.
type end struct{ netns, name string }

// nic is who answers for an address on the wire.
type nic struct {
	node  *node
	index uint32
	// shared: more than one NIC has the address, so nobody can tell who gets the packet. host: it is the node's Linux, not its VPP.
	shared, host bool
}

// New indexes a snapshot: one pass over all interfaces and bridge domains. A node whose machine is down is not there;
// one whose VPP is down drops what it gets.
func New(s fact.Snapshot) *Walker {
	w := &Walker{
		nodes:  make([]node, len(s.Nodes)),
		byName: make(map[string]*node, len(s.Nodes)),
		nics:   make(map[netip.Addr]nic, len(s.Nodes)),
		fabric: s.Fabric,
	}
	for i := range s.Nodes {
		n := &w.nodes[i]
		n.NodeState = &s.Nodes[i]
		if !n.MachineUp {
			continue
		}
		w.byName[n.Name] = n
		w.indexUplink(n)
		if n.VPP == nil {
			continue
		}
		n.ends = make(map[end]uint32, len(n.Pods)+1)
		for ifc := range n.VPP.Interfaces() {
			switch ifc.Type {
			case fact.TypeTap, fact.TypeAFPacket, fact.TypeMemif:
				if ifc.Host == "" {
					continue // a memif that no program has joined, or a device that is gone
				}
				n.ends[end{ifc.HostNetns, ifc.Host}] = ifc.Index
			case fact.TypeNIC:
				for _, a := range ifc.Addrs {
					_, shared := w.nics[a.Addr()]
					w.nics[a.Addr()] = nic{node: n, index: ifc.Index, shared: shared}
				}
			}
		}
		n.indexBridges()
	}
	return w
}

// indexUplink keeps what a host has on its side of a NIC.
func (w *Walker) indexUplink(n *node) {
	if n.Uplink == "" || n.Linux == nil {
		return
	}
	l, ok := n.Linux.Link("", n.Uplink)
	if !ok || !l.Up {
		return
	}
	if w.hosts == nil {
		w.hosts = map[netip.Addr]*node{}
	}
	for _, a := range l.Addrs {
		w.hosts[a.Addr()] = n
	}
}

// indexBridges keeps what a walk wants to know of bridge domains; their members would be copied with each question otherwise.
func (n *node) indexBridges() {
	for id := range n.VPP.Bridges() {
		if b, ok := n.VPP.Bridge(id); ok {
			b.Members = nil
			n.bridges = append(n.bridges, b)
		}
	}
	if b, ok := n.VPP.Bridge(ownBridge); ok {
		b.Members, b.ID = nil, ownBridge
		n.bridges = append(n.bridges, b)
	}
}

// ownBridge is VPP's own bridge domain.
const ownBridge = ^uint32(0)

// bridge finds a bridge domain, nil for none.
func (n *node) bridge(id uint32) *fact.Bridge {
	for i := range n.bridges {
		if n.bridges[i].ID == id {
			return &n.bridges[i]
		}
	}
	return nil
}

// tableFor is the table that an interface looks up packets of dst's family in.
func tableFor(ifc *fact.Interface, dst netip.Addr) uint32 {
	if dst.Is4() {
		return ifc.Table4
	}
	return ifc.Table6
}

// routes reports whether an interface routes packets of dst's family at all. VPP enables a family on an interface with
// its first address of it or with a lender of addresses, and drops packets that come in before ("ip4-not-enabled").
func routes(ifc *fact.Interface, dst netip.Addr) bool {
	if ifc.HasUnnumbered {
		return true
	}
	for _, a := range ifc.Addrs {
		if a.Addr().Is4() == dst.Is4() {
			return true
		}
	}
	return false
}

// owns reports whether an interface answers neighbor requests for addr: its own address or a borrowed one.
func owns(n *node, ifc *fact.Interface, addr netip.Addr) bool {
	for _, a := range ifc.Addrs {
		if a.Addr() == addr {
			return true
		}
	}
	if !ifc.HasUnnumbered {
		return false
	}
	lender, ok := n.VPP.Interface(ifc.Unnumbered)
	if !ok {
		return false
	}
	for _, a := range lender.Addrs {
		if a.Addr() == addr {
			return true
		}
	}
	return false
}

// device is what a Linux link has between itself and VPP: its name and its MTU, 0 where that is not known. The zero device is
// none.
type device struct {
	Name string
	MTU  uint32
}

// linuxEnd finds the Linux link whose namespace gets what VPP sends to a MAC out of a tap, a memif or an AF_PACKET interface: the tap's
// device itself, what stands for the memif's program, or the other end of the veth that the AF_PACKET interface sits on, which is the device
// between, or the macvlan of that MAC on it.
func (n *node) linuxEnd(ifc *fact.Interface, to vppwire.MAC) (l vppwire.LinuxLink, between device, netns, why string) {
	if n.Linux == nil {
		return l, between, "", "the machine's Linux side is not known"
	}
	if ifc.Type == fact.TypeMemif && ifc.Host == "" {
		return l, between, "", "no program is connected to the memif"
	}
	l, ok := n.Linux.Link(ifc.HostNetns, ifc.Host)
	if !ok {
		return l, between, "", "the Linux device behind the interface does not exist"
	}
	if !l.Up {
		return l, between, "", "the Linux device behind the interface is down"
	}
	if ifc.Type != fact.TypeAFPacket {
		return l, between, ifc.HostNetns, ""
	}
	if l.Peer == "" {
		return l, between, "", "the AF_PACKET interface sits on a device that is no veth"
	}
	netns, between = l.PeerNetns, device{l.Name, l.MTU}
	if l, ok = n.Linux.Link(netns, l.Peer); !ok {
		return l, between, "", "the other end of the veth does not exist"
	}
	if !l.Up {
		return l, between, "", "the other end of the veth is down"
	}
	if netns == "" && l.MAC != to {
		if c, ok := n.childOf(l.Name, to); ok {
			l, _ = n.Linux.Link(c.netns, c.name)
			netns = c.netns
		}
	}
	return l, between, netns, ""
}

// childOf is the macvlan that is up and takes frames for a MAC that come in by its parent.
func (n *node) childOf(parent string, to vppwire.MAC) (end, bool) {
	if n.children == nil {
		n.children = map[child]end{}
		note := func(netns string) {
			for l := range n.Linux.Links(netns) {
				if l.Parent != "" && l.Up {
					n.children[child{l.Parent, l.MAC}] = end{netns, l.Name}
				}
			}
		}
		note("")
		for netns := range n.Linux.Namespaces() {
			note(netns)
		}
	}
	e, ok := n.children[child{parent, to}]
	return e, ok
}

// vppEnd is linuxEnd the other way: the VPP interface that gets what a namespace sends out of a link.
func (n *node) vppEnd(netns string, l *vppwire.LinuxLink) (index uint32, between device, why string) {
	if l.Parent != "" {
		p, ok := n.Linux.Link("", l.Parent)
		switch {
		case !ok:
			return 0, between, "the macvlan's parent does not exist"
		case !p.Up:
			return 0, between, "the macvlan's parent is down"
		}
		netns, l = "", &p
	}
	at := end{netns, l.Name}
	if l.Peer != "" {
		at = end{l.PeerNetns, l.Peer}
		p, ok := n.Linux.Link(at.netns, at.name)
		if !ok {
			return 0, between, "the other end of the veth does not exist"
		}
		if !p.Up {
			return 0, between, "the other end of the veth is down"
		}
		between = device{p.Name, p.MTU}
	}
	index, ok := n.ends[at]
	if !ok {
		return 0, between, "no VPP interface is at the other end of the link"
	}
	return index, between, ""
}

// NIC finds the NIC of a node that alone has an address on the wire between the nodes, and what the device itself carries, in bytes
// of the IP packet, 0 where that is not known.
func (w *Walker) NIC(node string, addr netip.Addr) (ifc fact.Interface, carries uint32, ok bool) {
	at, ok := w.nics[addr]
	if !ok || at.shared || at.node.Name != node {
		return ifc, 0, false
	}
	ifc, ok = at.node.VPP.Interface(at.index)
	return ifc, at.node.nicMTU(&ifc), ok
}

// LinkEnd is one device of a link between Linux and VPP.
type LinkEnd struct {
	// Name is the device's: "eth0", "vd0a1b2c3d4e5f", "tap3".
	Name string
	// MTU is what it takes of a family in one piece, in bytes of the IP packet.
	MTU uint32
	// VPP: it is VPP's.
	VPP bool
}

// Link is the chain of devices from a link of a namespace to the VPP interface at its other end, both included, with their MTUs
// for a family; nothing where it does not lead to VPP.
func (w *Walker) Link(nodeName, netns string, l *vppwire.LinuxLink, v6 bool) []LinkEnd {
	n := w.byName[nodeName]
	if n == nil || n.VPP == nil || n.Linux == nil {
		return nil
	}
	index, between, why := n.vppEnd(netns, l)
	ifc, ok := n.VPP.Interface(index)
	if why != "" || !ok {
		return nil
	}
	chain := append(w.chain[:0], LinkEnd{Name: l.Name, MTU: l.MTU})
	if between.Name != "" {
		chain = append(chain, LinkEnd{Name: between.Name, MTU: between.MTU})
	}
	w.chain = append(chain, LinkEnd{Name: ifc.Name, MTU: MTU(&ifc, v6), VPP: true})
	return w.chain
}
