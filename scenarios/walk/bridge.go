package walk

import (
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/vppwire"
)

// frame is the packet inside a bridge domain.
type frame struct {
	bridge uint32
	// in is the member that it came from, shg that member's split horizon group, 0 from the BVI.
	in  uint32
	shg uint8
	mac vppwire.MAC
}

// bridged is a bridge domain with a frame. Only forwarding is walked: a domain that floods unknown MACs delivers more
// than it should, and which of the copies arrives is no property of the tables.
func (t *trip) bridged(n *node, f frame) (Point, Outcome) {
	for range framesMax {
		if !n.forwards(f.bridge) {
			return t.drop(n, "the bridge domain does not exist or does not forward")
		}
		index, ok := n.VPP.FIB(f.bridge, f.mac)
		if !ok {
			return t.drop(n, "the bridge domain does not know the MAC")
		}
		out, ok := n.VPP.Interface(index)
		switch {
		case !ok:
			return t.drop(n, "the bridge domain sends the MAC to an interface that does not exist")
		case index == f.in:
			return t.drop(n, "the bridge domain sends the MAC back to where it came from")
		case out.Bridge != f.bridge:
			return t.drop(n, "the bridge domain sends the MAC to an interface that is no member")
		}
		if t.hops != nil {
			t.note(n, placeBridge(f.bridge), f.mac.String()+" to "+out.Name)
		}
		if out.BVI {
			return t.receive(n, &out, f.mac)
		}
		switch {
		case !out.Up && out.Type != scenarios.TypeVXLAN: // VPP 25.10 sends through a tunnel that is down, and takes what comes out
			return t.drop(n, "the bridge member is down")
		case f.shg != 0 && f.shg == out.SHG:
			return t.drop(n, "split horizon: the frame would leave through the group that it came from")
		case out.Type != scenarios.TypeVXLAN:
			return t.drop(n, "the bridge domain sends the MAC to a port that is no tunnel; bridged pods are not walked")
		}
		peer, in, lost := t.wrapped(n, &out)
		if lost.Kind != 0 {
			return Point{}, lost
		}
		n, f = peer, frame{bridge: in.Bridge, in: in.Index, shg: in.SHG, mac: f.mac}
	}
	return t.loop(n, "tunnels hand the frame to each other")
}

// wrapped carries a frame through a tunnel: the packet around it is a walk of its own from the encap table, and what
// takes it must have the same tunnel the other way round. Returned are the peer and its end of the tunnel, or how the
// frame was lost.
func (t *trip) wrapped(n *node, tun *scenarios.Interface) (peer *node, in scenarios.Interface, lost Outcome) {
	if t.wraps == wrapsMax {
		_, lost = t.drop(n, "the tunnel's own packets go into a tunnel")
		return nil, in, lost
	}
	outer := trip{w: t.w, dst: tun.Dst, ttl: ttlInitial, wraps: t.wraps + 1, hops: t.hops}
	if t.hops != nil {
		t.note(n, tun.Name, "VXLAN "+tun.Src.String()+" to "+tun.Dst.String()+" vni "+itoa(tun.VNI))
	}
	out := outer.run(Point{Node: n.Name, VPP: true, Table: tun.EncapTable, at: n})
	if out.Kind != Delivered {
		return nil, in, out
	}
	if !out.VPP {
		return nil, in, Outcome{Kind: Dropped, Node: out.Node, Why: "the tunnel's far end is no VPP"}
	}
	peer = out.at
	why := ""
	if index, ok := peer.VPP.Tunnel(tun.Dst, tun.Src, tun.VNI); !ok {
		why = "the node has no tunnel back to the sender"
	} else if in, ok = peer.VPP.Interface(index); !ok || in.EncapTable != out.table {
		why = "the node's end of the tunnel listens in another table"
	} else if in.Bridge == 0 {
		why = "the node's end of the tunnel is in no bridge domain"
	}
	if why != "" {
		_, lost = t.drop(peer, why)
		return nil, in, lost
	}
	if t.hops != nil {
		t.note(peer, in.Name, "takes the frame from "+tun.Src.String())
	}
	return peer, in, Outcome{}
}
