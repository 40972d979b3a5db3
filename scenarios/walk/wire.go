package walk

import (
	"fmt"
	"net/netip"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire"
)

// answer is the MAC that VPP gets to hear for an address out of an interface that is no NIC. Pods may answer as well, but
// their entries are promised to be static, and a pod that answers by chance is no proof; bridge domains flood no ARP here.
func (t *trip) answer(n *node, ifc *fact.Interface, hop netip.Addr) (mac vppwire.MAC, why string) {
	switch ifc.Type {
	case fact.TypeTap, fact.TypeAFPacket, fact.TypeMemif:
		l, _, netns, why := n.linuxEnd(ifc, vppwire.MAC{})
		switch {
		case why != "":
			return mac, why
		case netns != "":
			return mac, "VPP has no neighbor entry for the next hop"
		}
		if _, ok := n.Linux.Local(netns, hop); !ok {
			return mac, "VPP has no neighbor entry for the next hop and the host does not answer for it"
		}
		return l.MAC, ""
	case fact.TypeLoopback:
		if ifc.BVI {
			return mac, "the BVI has no neighbor entry for the next hop"
		}
		return mac, "a loopback that is no bridge's BVI leads nowhere"
	}
	return mac, "the route's interface does not send IP packets"
}

// outsider brings a node's NIC a packet of somebody on the wire, for the host where that has the address on its side of the NIC, or for VPP.
func (t *trip) outsider(n *node, vpp bool) Kind {
	if t.w.hosts[t.dst] == n && !vpp {
		t.src = t.forged
		return t.ontoHost(n, n.Uplink, t.dst, n)
	}
	at, ok := t.w.nics[n.Address.Addr()]
	switch {
	case !ok || at.node != n:
		return t.drop(n, "no NIC has the node's address")
	case at.shared:
		return t.drop(n, "several NICs have the node's address")
	}
	ifc, ok := n.VPP.Interface(at.index)
	if !ok {
		return t.drop(n, "the NIC does not exist")
	}
	t.src, t.to = t.forged, ifc.MAC
	return t.receive(n, &ifc)
}

// wire is the network between the nodes, with a frame that VPP sends out of a NIC. ARP works there: it is learned, so a snapshot need not
// hold it, and up NICs answer.
func (t *trip) wire(n *node, ifc *fact.Interface, hop netip.Addr) Kind {
	if !hop.IsValid() {
		return t.drop(n, "the bridge domain sends the frame to a NIC; what others do with it is not walked")
	}
	mtu := uint32(0)
	if t.size > 0 {
		mtu = n.nicMTU(ifc)
	}
	return t.onto(n, ifc.Name, mtu, hop)
}

// onto sends a frame for a next hop onto the wire, out of a NIC that carries so many bytes where the packet's size matters.
func (t *trip) onto(n *node, out string, mtu uint32, hop netip.Addr) Kind {
	to, ok := t.takes(hop)
	if !ok {
		// A gateway outside the cluster is taken to know the nodes' own addresses and nothing else.
		t.looksAtDestination()
		if to, ok = t.takes(t.dst); !ok {
			t.w.trail.add(note{node: n, kind: ActWire, name: out, addr: hop, link: "nobody of the cluster"})
			t.out = Outcome{Kind: Left, Node: n.Name, Why: "no NIC of the cluster has the next hop"}
			return Left
		}
	}
	if why := t.unrouted(to.node); why != "" {
		return t.drop(n, why)
	}
	switch {
	case to.node == n:
		return t.drop(n, "the next hop is the node itself")
	case to.host:
		return t.ontoHost(n, out, hop, to.node)
	case to.shared:
		return t.drop(n, "several NICs have the next hop's address")
	}
	peer, ok := to.node.VPP.Interface(to.index)
	if !ok {
		return t.drop(n, "the NIC with the next hop does not exist")
	}
	if t.size > 0 {
		if t.exceeds(mtu) {
			return t.drop(n, t.tooLong(out, mtu)+": the NIC does not send it")
		}
		if mtu := to.node.nicMTU(&peer); t.exceeds(mtu) {
			return t.drop(to.node, t.tooLong(peer.Name, mtu)+": the NIC does not take it")
		}
	}
	if t.asks {
		t.to, t.asks = peer.MAC, false
	}
	if t.to != peer.MAC && !isGroup(t.to) {
		return t.drop(n, fmt.Sprintf("its neighbor entry of %s has the MAC %s, and the NIC of %s has %s", hop, t.to, to.node.Name, peer.MAC))
	}
	t.w.trail.add(note{node: n, kind: ActWire, name: out, addr: hop, link: to.node.Name})
	return t.receive(to.node, &peer)
}

// unrouted says why a cloud's network does not bring the packet to a node: it goes by a pod's address, whatever the frame says.
func (t *trip) unrouted(to *node) string {
	if t.w.fabric == nil || t.depth > 0 {
		return "" // a tunnel's packet goes to a machine's address
	}
	t.looksAtDestination()
	switch r, needed := t.w.fabric.Route(t.dst); {
	case !needed || r.Node == to.Name:
		return ""
	case r.Name == "":
		return fmt.Sprintf("the cloud's network has no route to %s", t.dst)
	case r.Node == "":
		return fmt.Sprintf("the cloud's network has route %s to %s, which leads to no node", r.Name, r.Destination)
	default:
		return fmt.Sprintf("the cloud's network has route %s to %s, which leads to %s", r.Name, r.Destination, r.Node)
	}
}

// takes finds who has a next hop's address on the wire: a VPP's NIC, or a host on its side of a NIC. While VPP takes a NIC both may have
// it, and both get the frame: a tunnel's packet is VPP's, any other finds the host at once.
func (t *trip) takes(hop netip.Addr) (to nic, ok bool) {
	to, ok = t.w.nics[hop]
	if host := t.w.hosts[hop]; host != nil && (t.depth == 0 || !ok) {
		return nic{node: host, host: true}, true
	}
	return to, ok
}

// ontoHost is a frame that a host takes on its side of a NIC.
func (t *trip) ontoHost(n *node, out string, hop netip.Addr, host *node) Kind {
	t.asks = false
	t.w.trail.add(note{node: n, kind: ActWire, name: out, addr: hop, link: "the host of " + host.Name})
	t.next = Point{Node: host.Name, arrived: true, at: host}
	return 0
}
