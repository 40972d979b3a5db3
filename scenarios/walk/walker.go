package walk

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/vppwire"
)

// Walker walks packets over one snapshot. It keeps three small indexes: nodes by name, VPP interfaces by their Linux
// end, and the addresses on the wire between the nodes. It is for one goroutine.
type Walker struct {
	nodes  []node
	byName map[string]*node
	nics   map[netip.Addr]nic
	// inside holds the frames inside the packet under way, the outermost last; trail tells its way.
	inside []packet
	trail  trail
}

// node is one node of the snapshot with what the walk needs beside it.
type node struct {
	*scenarios.NodeState
	ends    map[end]uint32
	bridges []scenarios.Bridge // without their members
}

// end is the Linux device behind a tap or AF_PACKET interface.
type end struct{ netns, name string }

// nic is who answers for an address on the wire.
type nic struct {
	node  *node
	index uint32
	// shared: more than one NIC has the address, so nobody can tell who gets the packet.
	shared bool
}

// New indexes a snapshot: one pass over all interfaces and bridge domains. A node whose machine is down is not there;
// one whose VPP is down drops what it gets.
func New(s scenarios.Snapshot) *Walker {
	w := &Walker{
		nodes:  make([]node, len(s.Nodes)),
		byName: make(map[string]*node, len(s.Nodes)),
		nics:   make(map[netip.Addr]nic, len(s.Nodes)),
	}
	for i := range s.Nodes {
		n := &w.nodes[i]
		n.NodeState = &s.Nodes[i]
		if !n.MachineUp {
			continue
		}
		w.byName[n.Name] = n
		if n.VPP == nil {
			continue
		}
		n.ends = make(map[end]uint32, len(n.Pods)+1)
		for ifc := range n.VPP.Interfaces() {
			switch ifc.Type {
			case scenarios.TypeTap, scenarios.TypeAFPacket:
				n.ends[end{ifc.HostNetns, ifc.Host}] = ifc.Index
			case scenarios.TypeNIC:
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
func (n *node) bridge(id uint32) *scenarios.Bridge {
	for i := range n.bridges {
		if n.bridges[i].ID == id {
			return &n.bridges[i]
		}
	}
	return nil
}

// tableFor is the table that an interface looks up packets of dst's family in.
func tableFor(ifc *scenarios.Interface, dst netip.Addr) uint32 {
	if dst.Is4() {
		return ifc.Table4
	}
	return ifc.Table6
}

// routes reports whether an interface routes packets of dst's family at all. VPP enables a family on an interface with
// its first address of it or with a lender of addresses, and drops packets that come in before ("ip4-not-enabled").
func routes(ifc *scenarios.Interface, dst netip.Addr) bool {
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
func owns(n *node, ifc *scenarios.Interface, addr netip.Addr) bool {
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

// linuxEnd finds the Linux link whose namespace gets what VPP sends out of a tap or AF_PACKET interface: the tap's
// device itself, or the other end of the veth that the AF_PACKET interface sits on.
func (n *node) linuxEnd(ifc *scenarios.Interface) (l vppwire.LinuxLink, netns, why string) {
	if n.Linux == nil {
		return l, "", "the machine's Linux side is not known"
	}
	l, ok := n.Linux.Link(ifc.HostNetns, ifc.Host)
	if !ok {
		return l, "", "the Linux device behind the interface does not exist"
	}
	if !l.Up {
		return l, "", "the Linux device behind the interface is down"
	}
	if ifc.Type == scenarios.TypeTap {
		return l, ifc.HostNetns, ""
	}
	if l.Peer == "" {
		return l, "", "the AF_PACKET interface sits on a device that is no veth"
	}
	netns = l.PeerNetns
	if l, ok = n.Linux.Link(netns, l.Peer); !ok {
		return l, "", "the other end of the veth does not exist"
	}
	if !l.Up {
		return l, "", "the other end of the veth is down"
	}
	return l, netns, ""
}

// vppEnd is linuxEnd the other way: the VPP interface that gets what a namespace sends out of a link.
func (n *node) vppEnd(netns string, l *vppwire.LinuxLink) (index uint32, why string) {
	at := end{netns, l.Name}
	if l.Peer != "" {
		at = end{l.PeerNetns, l.Peer}
		p, ok := n.Linux.Link(at.netns, at.name)
		if !ok {
			return 0, "the other end of the veth does not exist"
		}
		if !p.Up {
			return 0, "the other end of the veth is down"
		}
	}
	index, ok := n.ends[at]
	if !ok {
		return 0, "no VPP interface is at the other end of the link"
	}
	return index, ""
}
