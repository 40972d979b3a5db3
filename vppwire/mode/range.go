package mode

import (
	"net/netip"
	"slices"
)

// podRanges are the cluster-wide pod subnets and, behind them, this node's blocks outside of them.
func (n Node) podRanges() []netip.Prefix {
	out := slices.Clone(n.PodSubnets)
	for _, p := range n.own() {
		if !covered(p, n.PodSubnets) {
			out = append(out, p)
		}
	}
	return out
}

// own are the node's blocks, and gateways outside of them.
func (n Node) own() []netip.Prefix {
	list := make([]netip.Prefix, 0, len(n.Gateways)+len(n.Blocks))
	for _, g := range n.Gateways {
		list = append(list, g.Masked())
	}
	return append(list, n.Blocks...)
}

// connected reports whether the gateway loopback's own addresses make p a connected route in the pod VRF. It wins over
// any route of ours and drops what has no neighbor, so nothing else is wanted there.
func (n Node) connected(p netip.Prefix) bool {
	if n.PodIf.IsValid() {
		return false
	}
	for _, g := range n.Gateways {
		if g.Masked() == p {
			return true
		}
	}
	return false
}

// covered reports whether p lies in one of ranges.
func covered(p netip.Prefix, ranges []netip.Prefix) bool {
	for _, r := range ranges {
		if r.Bits() <= p.Bits() && r.Contains(p.Addr()) {
			return true
		}
	}
	return false
}
