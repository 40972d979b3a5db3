package check

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam/space"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

const podsServedName = "pods-served"

// podsServed: no pod waits for an address while its node has a free one that is not cooling down. Free addresses are
// computed from the node's blocks and leases; the allocator is not asked.
func podsServed() fact.Law {
	return fact.Law{
		Name: podsServedName,
		Rule: "No pod waits for an address while its node has a free one that is not cooling down.",
		Why: "An address that the allocator has forgotten is lost until the agent restarts, and pods wait although it is " +
			"free.",
		When:  fact.Settled,
		Needs: []fact.Evidence{fact.WaitingPods, fact.Leases, fact.Blocks, fact.FullNodes},
		Check: checkPodsServed,
	}
}

func checkPodsServed(s fact.Snapshot) (occasions int64, err error) {
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
			return occasions, broken(podsServedName, s.At, n.Name,
				"%d pods of %s wait for an address, but %s is free and not cooling down: check which addresses the allocator "+
					"considers used",
				n.Waiting, n.Name, free)
		}
	}
	return occasions, nil
}

// freeAddress is the first address that the node could allocate. With two families a pod gets one of each, so an
// address counts only if the other family has a free one too.
func freeAddress(n *fact.NodeState) (netip.Addr, bool) {
	if n.Second == nil {
		return freeOf(n, func(netip.Prefix) bool { return true }, false)
	}
	of := func(ip6 bool) func(netip.Prefix) bool {
		return func(p netip.Prefix) bool { return p.Addr().Is6() == ip6 }
	}
	if _, ok := freeOf(n, of(true), true); !ok {
		return netip.Addr{}, false
	}
	return freeOf(n, of(false), true)
}

// freeOf is freeAddress among some of the node's blocks. A block that is too large to search counts as free if large is
// set.
func freeOf(n *fact.NodeState, some func(netip.Prefix) bool, large bool) (netip.Addr, bool) {
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
		if b.Draining || slices.Contains(n.Blocked, b.Prefix) || !some(b.Prefix) {
			continue
		}
		if space.Count(b.Prefix) > 1<<16 {
			if large {
				return b.Prefix.Addr(), true
			}
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
