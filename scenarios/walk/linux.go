package walk

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire"
)

// host is a Linux stack with a packet: it is the destination, or it routes the packet out of one of its links.
// Only the host's own namespace forwards packets of others; pods do not.
func (t *trip) host(n *node, netns string, arrived bool) Kind {
	if n.Linux == nil {
		return t.drop(n, "the machine's Linux side is not known")
	}
	if link, ok := n.Linux.Local(netns, t.dst); ok {
		t.w.trail.add(note{node: n, kind: ActLocal, netns: netns, addr: t.dst, name: link})
		if t.depth > 0 {
			return t.drop(n, "the tunnel's far end is no VPP")
		}
		t.out = Outcome{Kind: Delivered, Node: n.Name, Netns: netns}
		return Delivered
	}
	if arrived {
		if netns != "" {
			return t.drop(n, "the packet reached a pod that does not have the address")
		}
		if !t.forwarded() {
			return t.loop(n, "the TTL ran out")
		}
	}
	r, ok := n.Linux.Route(netns, t.dst)
	if !ok {
		return t.drop(n, "Linux has no route")
	}
	hop := r.Via
	if _, own := n.Linux.Local(netns, hop); own {
		hop = netip.Addr{} // the kernel takes an own address for a gateway, and asks the wire for the destination then
	}
	if !hop.IsValid() {
		hop = t.dst
		t.looksAtDestination()
	}
	t.w.trail.hostRoute(note{node: n, kind: ActHostRoute, netns: netns}, r)
	l, ok := n.Linux.Link(netns, r.Link)
	if !ok {
		return t.drop(n, "the route's link does not exist")
	}
	if !l.Up {
		return t.drop(n, "the route's link is down")
	}
	if t.size > 0 {
		if end := t.fitsLinux(n, netns, &l, arrived); end != 0 {
			return end
		}
	}
	if netns == "" && l.Name == n.Uplink {
		t.sends(&l, arrived)
		t.asks = true
		return t.onto(n, l.Name, l.MTU, hop)
	}
	index, device, why := n.vppEnd(netns, &l)
	switch {
	case why != "":
		return t.drop(n, why)
	case t.frameExceeds(device.MTU):
		return t.drop(n, t.tooLong(device.Name, device.MTU)+": the other end of the veth does not take it")
	}
	if n.VPP == nil {
		return t.drop(n, "VPP is down")
	}
	ifc, ok := n.VPP.Interface(index)
	if !ok {
		return t.drop(n, "the VPP interface does not exist")
	}
	// Without a permanent entry the kernel asks the wire; VPP answers for the interface's own addresses only.
	mac, ok := n.Linux.Neighbor(netns, l.Name, hop)
	if !ok {
		if !owns(n, &ifc, hop) && !n.VPP.ProxiesARP(index, hop) {
			return t.drop(n, "Linux has no neighbor entry for the next hop and VPP does not answer for it")
		}
		mac = ifc.MAC
	}
	t.to = mac
	t.sends(&l, arrived)
	return t.receive(n, &ifc)
}

// sends says who Linux' packet out of a link is from.
func (t *trip) sends(l *vppwire.LinuxLink, arrived bool) {
	t.from = l.MAC
	if !arrived || t.proto == 0 { // what it forwards keeps its source; nobody looks at that of others
		if t.src = t.forged; !t.src.IsValid() {
			t.src = sourceOf(l, t.dst)
		}
	}
	if t.forgedMAC != (vppwire.MAC{}) {
		t.from = t.forgedMAC
	}
}

// toLinux sends the frame out of a tap or AF_PACKET interface.
func (t *trip) toLinux(n *node, ifc *fact.Interface) Kind {
	l, device, netns, why := n.linuxEnd(ifc, t.to)
	switch {
	case why != "":
		return t.drop(n, why)
	case t.exceeds(device.MTU): // the kernel's packet socket, which VPP has drop what does not fit (PACKET_LOSS)
		return t.drop(n, t.tooLong(device.Name, device.MTU)+": Linux drops what VPP sends into it")
	case device.Name != "" && t.frameExceeds(l.MTU):
		return t.drop(n, t.tooLong(l.Name, l.MTU)+": the other end of the veth does not take it")
	case t.to != l.MAC:
		return t.drop(n, "the Linux link does not accept the frame's MAC")
	}
	t.w.trail.add(note{node: n, kind: ActToLinux, name: ifc.Name, netns: netns, link: l.Name, mac: t.to})
	t.next = Point{Node: n.Name, Netns: netns, arrived: true, at: n}
	return 0
}

// sourceOf is the address of a link that Linux sends from to another one: the first of its family that is not the link's alone.
func sourceOf(l *vppwire.LinuxLink, dst netip.Addr) (src netip.Addr) {
	for _, p := range l.Addrs {
		if a := p.Addr(); a.Is4() == dst.Is4() && !a.IsLinkLocalUnicast() {
			return a
		}
	}
	return src
}
