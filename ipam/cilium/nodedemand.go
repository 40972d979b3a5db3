package cilium

import (
	"net/netip"
	"time"
)

// NodeDemand works out what a Node needs of its pool: MultiPool's rules for an ipam.NodeAllocator, whose blocks are the
// CIDRs. The zero NodeDemand keeps nothing ready.
type NodeDemand struct {
	// PreAllocate is how many addresses are kept ready, >= 0.
	PreAllocate int
	// Pool is whose addresses they are, on a Node with several; "" is all. On a node of two families it is one of them.
	Pool string
	// PendingTimeout is how long a request that found no address counts; 0 is 5 min.
	PendingTimeout time.Duration

	// pending is by pod: a kubelet tries again with another sandbox, which is another owner.
	pending pending[string]
}

// Refused says that a pod found no address: it counts as demand until it is placed, or until the timeout.
func (d *NodeDemand) Refused(now time.Time, pod string) { d.pending.add(now, pod, d.PendingTimeout) }

// Placed says that a pod has an address.
func (d *NodeDemand) Placed(pod string) { delete(d.pending, pod) }

// Needed is how many addresses n needs in all, its pods' included. Addresses that no pod gets are not counted: the
// operator's side leaves them out too.
func (d *NodeDemand) Needed(now time.Time, n *Node) int {
	used := n.leasesOf(d.Pool) + d.pending.count(now)
	if used == 0 && d.PreAllocate == 0 && d.Pool != "" && !n.cfg.Dual {
		return 0 // what a block of one of several pools keeps for itself is no reason to keep the block
	}
	return NeededIPCeil(used+n.own(d.Pool), d.PreAllocate)
}

// in reports whether a block is of a pool; "" is all of them.
func (n *Node) in(block netip.Prefix, pool string) bool {
	return pool == "" || n.cfg.PoolOf == nil || n.cfg.PoolOf(block) == pool
}

// leasesOf counts the leases of blocks of a pool.
func (n *Node) leasesOf(pool string) (sum int) {
	if pool == "" || n.cfg.PoolOf == nil {
		return n.Len()
	}
	for l := range n.Leases() {
		if n.in(l.Block, pool) {
			sum++
		}
	}
	return sum
}

// own counts what the operator takes for pods' addresses and n keeps for itself: routers and kept ones.
func (n *Node) own(pool string) (sum int) {
	for _, b := range n.Active() {
		if !n.in(b.Prefix, pool) {
			continue
		}
		sum++ // the router
		for _, of := range []func(netip.Prefix) []netip.Addr{n.cfg.Keep, n.cfg.Avoid} {
			if of != nil {
				sum += len(of(b.Prefix))
			}
		}
	}
	return sum
}

// Excess lists active blocks of the demand's pool that n can give back and still have needed addresses: without leases,
// the last one first, and never all of them while needed is above 0.
func (d *NodeDemand) Excess(n *Node, needed int) []netip.Prefix {
	return excess(n.BlockLedger, needed, func(block netip.Prefix) bool { return n.in(block, d.Pool) })
}
