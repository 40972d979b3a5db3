package cilium

import (
	"net/netip"
	"slices"
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

	pending map[ipam.Owner]time.Time
}

// Refused says that o found no address: it counts as demand until it holds one, or until the timeout.
func (d *NodeDemand) Refused(now time.Time, o ipam.Owner) {
	if d.pending == nil {
		d.pending = make(map[ipam.Owner]time.Time)
	}
	timeout := d.PendingTimeout
	if timeout == 0 {
		timeout = pendingTimeout
	}
	d.pending[o] = now.Add(timeout)
}

// Needed is how many addresses n needs in all, its pods' included. Addresses that no pod gets are not counted: the
// operator's side leaves them out too.
func (d *NodeDemand) Needed(now time.Time, n *Node) int {
	for o, until := range d.pending { // in any order: each is judged alone
		if _, holds := n.leases[o]; holds || !now.Before(until) {
			delete(d.pending, o)
		}
	}
	return NeededIPCeil(len(n.leases)+len(d.pending)+n.own(), d.PreAllocate)
}

// own counts what the operator takes for pods' addresses and n keeps for itself: routers and kept ones.
func (n *Node) own() int {
	sum := 0
	for _, b := range n.active() {
		sum += len(b.hard)
	}
	return sum
}

// Excess lists active blocks that n can give back and still have needed addresses: without leases, the last one first, and
// never all of them while needed is above 0.
func (n *Node) Excess(needed int) []netip.Prefix {
	have := uint64(0)
	for _, b := range n.active() {
		have += b.size
	}
	var excess []netip.Prefix
	for _, b := range slices.Backward(n.active()) {
		if b.leases == 0 && have-b.size >= uint64(max(needed, 0)) {
			have -= b.size
			excess = append(excess, b.prefix)
		}
	}
	return excess
}

// Len is how many leases there are.
func (n *Node) Len() int { return len(n.leases) }
