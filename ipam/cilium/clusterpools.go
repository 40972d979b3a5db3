package cilium

import (
	"errors"
	"net/netip"
	"slices"
	"time"
)

// ClusterPools is a ClusterPool that is asked as a PoolOperator is: each node gets one CIDR of each family, whatever
// its pods ask for. It is carried in the same field of the resource as the CIDRs of named pools, so that whoever drives
// an operator drives either.
type ClusterPools struct {
	*ClusterPool
	ranges []netip.Prefix
}

// NewClusterPools is NewClusterPool.
func NewClusterPools(c ClusterPoolConfig) (*ClusterPools, error) {
	p, err := NewClusterPool(c)
	return &ClusterPools{ClusterPool: p, ranges: slices.Concat(c.IPv4, c.IPv6)}, err
}

// UpsertPool adds ranges that are new.
func (p *ClusterPools) UpsertPool(_ string, spec PoolSpec) error {
	for _, r := range slices.Concat(spec.IPv4, spec.IPv6) {
		if slices.Contains(p.ranges, r) {
			continue
		}
		if err := p.Extend(r); err != nil {
			return err
		}
		p.ranges = append(p.ranges, r)
	}
	return nil
}

// RetireRange refuses: upstream's mode has no way to do it but deleting each node's resource.
func (*ClusterPools) RetireRange(string, netip.Prefix) error {
	return errors.New("mode cluster-pool does not take ranges back")
}

// Adopt takes the CIDRs that a node shows of the default pool.
func (p *ClusterPools) Adopt(now time.Time, n *CiliumNode) ([]Claim, error) {
	var cidrs []netip.Prefix
	for _, a := range n.Spec.IPAM.Pools.Allocated {
		if a.Pool == DefaultPool {
			cidrs = append(cidrs, a.CIDRs...)
		}
	}
	return p.ClusterPool.Adopt(now, n.Metadata.Incarnation(), cidrs)
}

// Reconcile gives a node what it lacks, as PoolOperator.Reconcile.
func (p *ClusterPools) Reconcile(now time.Time, n *CiliumNode) ([]PoolAllocation, []Claim, error) {
	cidrs, entries, err := p.Assign(now, n.Metadata.Incarnation())
	if len(cidrs) == 0 {
		return nil, entries, err
	}
	return []PoolAllocation{{Pool: DefaultPool, CIDRs: cidrs}}, entries, err
}

// Wrote has nothing to note: nothing is ever given back by an agent.
func (*ClusterPools) Wrote(*CiliumNode) {}

// Delete returns everything that an incarnation of a node holds, once its resource is gone.
func (p *ClusterPools) Delete(now time.Time, incarnation string) []Claim {
	return p.Unassign(now, incarnation)
}
