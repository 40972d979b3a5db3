package check

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam/space"
	"github.com/vppdrill/vppdrill/scenarios"
)

const podsServedName = "pods-served"

// podsServed: no pod waits for an address while its node has one that is nobody's and does not rest. It is counted from the node's blocks
// and leases, not asked of the allocator.
func podsServed() scenarios.Law {
	return scenarios.Law{
		Name:  podsServedName,
		Why:   "An address that the allocator has forgotten is lost until the agent restarts, and pods wait beside it.",
		When:  scenarios.Settled,
		Needs: []scenarios.Evidence{scenarios.WaitingPods, scenarios.Leases, scenarios.Blocks, scenarios.FullNodes},
		Check: checkPodsServed,
	}
}

func checkPodsServed(s scenarios.Snapshot) (occasions int64, err error) {
	if !s.Settled {
		return 0, nil
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if !lives(n) || n.Leases == nil || n.Waiting == 0 || n.ID == 0 || n.Crowded {
			continue
		}
		occasions++
		if free, ok := freeAddress(n); ok {
			return occasions, broken(podsServedName, s.At, n.Name, "%d pods of %s wait for an address, and %s is nobody's and does not rest: look at what the allocator takes for used",
				n.Waiting, n.Name, free)
		}
	}
	return occasions, nil
}

// freeAddress is one that the node could give, the first.
func freeAddress(n *scenarios.NodeState) (netip.Addr, bool) {
	taken := map[netip.Addr]bool{}
	for l := range n.Leases() {
		taken[l.Addr] = true
	}
	for _, list := range [...][]netip.Addr{n.Reserved, n.Resting} {
		for _, a := range list {
			taken[a] = true
		}
	}
	for _, b := range n.Blocks {
		if b.Draining || slices.Contains(n.Blocked, b.Prefix) || space.Count(b.Prefix) > 1<<16 {
			continue
		}
		for a := b.Prefix.Addr(); b.Prefix.Contains(a); a = a.Next() {
			if !taken[a] && a != b.Gateway {
				return a, true
			}
		}
	}
	return netip.Addr{}, false
}
