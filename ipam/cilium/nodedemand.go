package cilium

import (
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
)

// NodeDemand works out what a Node needs of its pool: MultiPool's rules for an ipam.NodeAllocator, whose blocks are the
// CIDRs. The zero NodeDemand keeps nothing ready.
type NodeDemand struct {
	// PreAllocate is how many addresses are kept ready, >= 0.
	PreAllocate int
	// PendingTimeout is how long a request that found no address counts; 0 is 5 min.
	PendingTimeout time.Duration

	pending pending[ipam.Owner]
}

// Refused says that o found no address: it counts as demand until it holds one, or until the timeout.
func (d *NodeDemand) Refused(now time.Time, o ipam.Owner) { d.pending.add(now, o, d.PendingTimeout) }

// Needed is how many addresses n needs in all, its pods' included. Addresses that no pod gets are not counted: the
// operator's side leaves them out too.
func (d *NodeDemand) Needed(now time.Time, n *Node) int {
	for o := range d.pending { // in any order: each is judged alone
		if _, holds := n.Lease(o); holds {
			delete(d.pending, o)
		}
	}
	return NeededIPCeil(n.Len()+d.pending.count(now)+n.own(), d.PreAllocate)
}

// own counts what the operator takes for pods' addresses and n keeps for itself: routers and kept ones.
func (n *Node) own() (sum int) {
	for _, b := range n.Active() {
		sum++ // the router
		for _, of := range []func(netip.Prefix) []netip.Addr{n.cfg.Keep, n.cfg.Avoid} {
			if of != nil {
				sum += len(of(b.Prefix))
			}
		}
	}
	return sum
}

// Excess lists active blocks that n can give back and still have needed addresses: without leases, the last one first, and
// never all of them while needed is above 0.
func (n *Node) Excess(needed int) []netip.Prefix { return excess(n.BlockLedger, needed) }
