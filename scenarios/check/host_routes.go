package check

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam/space"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/walk"
)

const hostRoutesName = "host-routes"

// hostRoutes: VPP forwards what routes of the host's Linux send into it. The law reachable judges the ranges of pods
// and hosts. Any other network is represented by one address that is no host's.
func hostRoutes() fact.Law {
	return fact.Law{
		Name: hostRoutesName,
		Rule: "VPP forwards what routes of the host's Linux send into it.",
		Why: "A host route into VPP replaces the host's earlier path to that network: if VPP drops the packets, the host " +
			"has lost the network.",
		When:  fact.Settled,
		Needs: []fact.Evidence{fact.NodeIDs, fact.Blocks, fact.VPPTables, fact.LinuxTables},
		Check: checkHostRoutes,
	}
}

func checkHostRoutes(s fact.Snapshot) (occasions int64, err error) {
	known := knownRanges(s)
	var w *walk.Walker
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if !lives(n) || n.VPP == nil || n.Linux == nil || !n.HostVPP.IsValid() {
			continue
		}
		for r := range n.Linux.Routes("") {
			if r.Via != n.HostVPP && (n.Second == nil || r.Via != n.Second.HostVPP) {
				continue
			}
			occasions++
			if served(known, r.Dst) {
				continue
			}
			if w == nil {
				w = walk.New(s)
			}
			at := somewhere(r.Dst)
			if out := w.Outcome(walk.FromHost(n.Name), walk.Packet{Dst: at}); out.Kind == walk.Dropped {
				v := broken(hostRoutesName, s.At, n.Name, "the host of %s routes %s to VPP through %s, where a packet to %s is %s",
					n.Name, r.Dst, r.Link, at, out)
				show(v, w.Path())
				return occasions, v
			}
		}
	}
	return occasions, nil
}

// knownRanges are the ranges of pods' and hosts' addresses.
func knownRanges(s fact.Snapshot) (list []netip.Prefix) {
	for i := range s.Nodes {
		n := &s.Nodes[i]
		list = append(list, clusterRanges(n)...)
		for _, b := range n.Blocks {
			list = append(list, b.Prefix)
		}
	}
	return list
}

// clusterRanges are the ranges of all pods and services as a node knows them, and the node's own host subnets. Some may
// be invalid.
func clusterRanges(n *fact.NodeState) []netip.Prefix {
	list := append([]netip.Prefix{n.PodSubnet, n.HostSubnet, n.ServiceRange}, n.FormerPodSubnets...)
	if second := n.Second; second != nil {
		list = append(append(list, second.PodSubnet, second.HostSubnet), second.FormerPodSubnets...)
	}
	return list
}

// served reports whether a route overlaps one of the ranges.
func served(ranges []netip.Prefix, dst netip.Prefix) bool {
	for _, r := range ranges {
		if r.IsValid() && r.Overlaps(dst) {
			return true
		}
	}
	return false
}

// somewhere is an address of a network other than the network's own.
func somewhere(p netip.Prefix) netip.Addr {
	if a, err := space.Nth(p, 1); err == nil {
		return a
	}
	return p.Addr()
}
