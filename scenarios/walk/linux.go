package walk

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/vppwire"
)

// host is a Linux stack with a packet: it is the destination, or it routes the packet out of one of its links.
// Only the host's own namespace forwards packets of others; pods do not.
func (t *trip) host(n *node, netns string, arrived bool) (Point, Outcome) {
	if n.Linux == nil {
		return t.drop(n, "the machine's Linux side is not known")
	}
	if link, ok := n.Linux.Local(netns, t.dst); ok {
		if t.hops != nil {
			t.note(n, placeNetns(netns), t.dst.String()+" is local on "+link)
		}
		return Point{}, Outcome{Kind: Delivered, Node: n.Name, Netns: netns}
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
	if !hop.IsValid() {
		hop, t.exact = t.dst, true
	}
	if t.hops != nil {
		t.note(n, placeNetns(netns), describeHostRoute(r))
	}
	l, ok := n.Linux.Link(netns, r.Link)
	if !ok {
		return t.drop(n, "the route's link does not exist")
	}
	if !l.Up {
		return t.drop(n, "the route's link is down")
	}
	index, why := n.vppEnd(netns, &l)
	if why != "" {
		return t.drop(n, why)
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
		if !owns(n, &ifc, hop) {
			return t.drop(n, "Linux has no neighbor entry for the next hop and VPP does not answer for it")
		}
		mac = ifc.MAC
	}
	return t.receive(n, &ifc, mac)
}

// receive is a frame for mac that comes into a VPP interface: Linux' ends, the wire, a bridge domain's BVI.
func (t *trip) receive(n *node, ifc *scenarios.Interface, mac vppwire.MAC) (Point, Outcome) {
	switch {
	case !ifc.Up:
		return t.drop(n, "the VPP interface that the frame comes to is down")
	case ifc.Bridge != 0 && !ifc.BVI:
		return t.drop(n, "the frame comes to a bridge port; bridged pods are not walked")
	case mac != ifc.MAC:
		return t.drop(n, "the VPP interface does not accept the frame's MAC")
	case !routes(ifc, t.dst):
		return t.drop(n, "the VPP interface has no address and so does not route")
	}
	if t.hops != nil {
		t.note(n, ifc.Name, "takes the frame for "+mac.String())
	}
	return Point{Node: n.Name, VPP: true, Table: tableFor(ifc, t.dst), at: n}, Outcome{}
}

// toLinux sends the packet out of a tap or AF_PACKET interface.
func (t *trip) toLinux(n *node, ifc *scenarios.Interface, hop netip.Addr) (Point, Outcome) {
	l, netns, why := n.linuxEnd(ifc)
	if why != "" {
		return t.drop(n, why)
	}
	mac, ok := n.VPP.Neighbor(ifc.Index, hop)
	if !ok {
		// The host's own stack answers ARP for any address it has. Pods might as well, but their entries are promised
		// to be static, and a pod that answers by chance is no proof.
		if netns != "" {
			return t.drop(n, "VPP has no neighbor entry for the next hop")
		}
		if _, ok := n.Linux.Local(netns, hop); !ok {
			return t.drop(n, "VPP has no neighbor entry for the next hop and the host does not answer for it")
		}
		mac = l.MAC
	}
	if mac != l.MAC {
		return t.drop(n, "the Linux link does not accept the frame's MAC")
	}
	if t.hops != nil {
		t.note(n, ifc.Name, "to "+placeNetns(netns)+" link "+l.Name+" "+mac.String())
	}
	return Point{Node: n.Name, Netns: netns, arrived: true, at: n}, Outcome{}
}
