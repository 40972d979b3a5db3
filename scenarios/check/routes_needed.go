package check

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire"
)

const routesNeededName = "routes-needed"

// routesNeeded: on each node, every installed route differs from the next wider one: without it, some packet would take
// another path. That holds for VPP's tables and for the host's Linux.
//
// Present and former ranges of pods, hosts and services each have a route of their own, as does a block inside a
// draining block of its node: the wider of two may be removed first, and no packet may be lost meanwhile. Where VPP
// does NAT, routes to single addresses keep NAT from making them VPP's own.
//
// Nodes whose agent or VPP does not run are skipped, because nothing could remove stale routes there.
func routesNeeded() fact.Law {
	return fact.Law{
		Name: routesNeededName,
		Rule: "Every installed route sends some packet another way than the next wider route would.",
		Why: "A redundant route costs memory and calls on every node for every peer, and hides that the wider route is " +
			"missing.",
		When:  fact.Settled,
		Needs: []fact.Evidence{fact.VPPTables, fact.LinuxTables},
		Check: checkRoutesNeeded,
	}
}

func checkRoutesNeeded(s fact.Snapshot) (occasions int64, err error) {
	var nested []netip.Prefix
	for i := range s.Nodes {
		blocks := s.Nodes[i].Blocks
		for j := range blocks {
			if p := blocks[j].Prefix; nests(blocks, p) {
				nested = append(nested, p)
			}
		}
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if !lives(n) || n.VPP == nil || n.Linux == nil || !n.AgentUp {
			continue
		}
		ranges := append(append(clusterRanges(n), n.HostSubnets...), nested...)
		if second := n.Second; second != nil {
			ranges = append(ranges, second.HostSubnets...)
		}
		_, translates := n.VPP.NAT()
		for table := range n.VPP.Tables() {
			var wider []fact.Route // those that contain the current one, from the widest on
			for r := range n.VPP.Routes(table) {
				for len(wider) > 0 && !within(wider[len(wider)-1].Prefix, r.Prefix) {
					wider = wider[:len(wider)-1]
				}
				if exempt := slices.Contains(ranges, r.Prefix) || translates && r.Prefix.IsSingleIP() &&
					r.Action == fact.ActionLookup; !exempt {
					occasions++
					if k := len(wider) - 1; k >= 0 && alike(r, wider[k]) && !between(n.VPP, table, wider[k].Prefix, r.Prefix) {
						return occasions, broken(routesNeededName, s.At, n.Name,
							"table %d of %s has a route to %s that is redundant: the route to %s does the "+
								"same", table, n.Name, r.Prefix, wider[k].Prefix)
					}
				}
				wider = append(wider, r)
			}
		}
		if err := hostRoutesNeeded(s, n, ranges, &occasions); err != nil {
			return occasions, err
		}
	}
	return occasions, nil
}

// hostRoutesNeeded judges the host's own routes. Where VPP has the host's NIC, the host's default route leads to VPP as well, but only until
// it goes back to the NIC: it stands in for no route.
func hostRoutesNeeded(s fact.Snapshot, n *fact.NodeState, ranges []netip.Prefix, occasions *int64) error {
	all := slices.Collect(n.Linux.Routes(""))
	for _, r := range all {
		if r.Link != vppwire.HostLinuxDevice || !r.Via.IsValid() || slices.Contains(ranges, r.Dst) {
			continue
		}
		*occasions++
		next := vppwire.HostRoute{}
		for _, w := range all {
			if w.Dst.Bits() == 0 && n.Uplink != "" {
				continue
			}
			if within(w.Dst, r.Dst) && w.Dst != r.Dst && (!next.Dst.IsValid() || w.Dst.Bits() > next.Dst.Bits()) {
				next = w
			}
		}
		if next.Via == r.Via && next.Link == r.Link {
			return broken(routesNeededName, s.At, n.Name,
				"the host of %s has a route to %s through %s that is redundant: the route to %s does the "+
					"same", n.Name, r.Dst, r.Link, next.Dst)
		}
	}
	return nil
}

// within reports whether wide has all of p's addresses.
func within(wide, p netip.Prefix) bool { return wide.Bits() <= p.Bits() && wide.Contains(p.Addr()) }

// alike reports whether two routes of one table treat a packet alike.
func alike(a, b fact.Route) bool {
	if a.Action != b.Action {
		return false
	}
	switch a.Action {
	case fact.ActionForward:
		return a.Via.IsValid() && a.Via == b.Via && a.Index == b.Index && a.Lookup == b.Lookup
	case fact.ActionLookup:
		return a.Lookup == b.Lookup
	case fact.ActionDrop:
		return true
	}
	return false
}

// between reports whether an interface's own network lies between two prefixes, of which the first holds the second.
func between(vpp fact.VPP, table uint32, wide, p netip.Prefix) bool {
	for i := range vpp.Interfaces() {
		bound := i.Table4
		if p.Addr().Is6() {
			bound = i.Table6
		}
		if bound != table {
			continue
		}
		for _, a := range i.Addrs {
			if own := a.Masked(); own.Addr().BitLen() == p.Addr().BitLen() && within(own, p) && own.Bits() > wide.Bits() {
				return true
			}
		}
	}
	return false
}
