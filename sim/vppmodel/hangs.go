package vppmodel

import "net/netip"

// Hangs is what VPP would keep of an interface if it were deleted now. What it keeps names an index that the next interface gets.
type Hangs struct {
	// Neighbor is one of its static neighbors, Route the next hop of a client's route through it, zero where that has none; MAC an L2 FIB entry to it.
	Neighbor, Route  netip.Addr
	MAC              [6]byte
	Routed, Bridging bool
}

// Hanging looks at an interface. Only a tunnel's L2 FIB entries are looked for: there are as many as nodes, and other interfaces that are bridged stay.
func (v *VPP) Hanging(at uint32) (h Hangs) {
	for _, k := range v.on(at) {
		if v.neighbors[k].static {
			h.Neighbor = k.addr.netip(k.family)
			break
		}
	}
	if at < uint32(len(v.paths.on)) && v.paths.on[at] > 0 {
		for i := range v.paths.nodes {
			if n := &v.paths.nodes[i]; n.via(at) && !n.private && !n.dead {
				h.Route, h.Routed = n.addr.netip(n.path.family), true
				break
			}
		}
	}
	if i := v.at(at); i == nil || i.kind != KindVXLAN {
		return h
	}
	var first macKey
	for k, e := range v.macs { // in any order: the smallest
		if e.index == at && (!h.Bridging || k.compare(first) < 0) {
			first, h.MAC, h.Bridging = k, k.mac, true
		}
	}
	return h
}
