package controllers

import (
	"errors"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/cilium"
)

// clusterPools is cilium-operator in mode cluster-pool: each node gets one CIDR, whatever its pods ask for. It is carried in the same
// field of the resource as the CIDRs of named pools, so that agents read one.
type clusterPools struct {
	*cilium.ClusterPool
	ranges []netip.Prefix
}

var _ Pools = (*clusterPools)(nil)

func newClusterPools(s *poolSystem) (*clusterPools, error) {
	spec := s.spec()
	p, err := cilium.NewClusterPool(cilium.ClusterPoolConfig{IPv4: spec.IPv4, IPv6: spec.IPv6, MaskSize4: spec.MaskSize4, MaskSize6: spec.MaskSize6,
		ReuseDelay: s.env.Plan.ReuseDelay})
	return &clusterPools{ClusterPool: p, ranges: slices.Clone(s.ranges)}, err
}

// UpsertPool implements Pools: ranges that are new are added.
func (p *clusterPools) UpsertPool(_ string, spec cilium.PoolSpec) error {
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

// RetireRange implements Pools. Upstream's mode has no way to do it but deleting each node's resource.
func (*clusterPools) RetireRange(string, netip.Prefix) error {
	return errors.New("mode cluster-pool does not take ranges back")
}

// Adopt implements Pools.
func (p *clusterPools) Adopt(now time.Time, n *cilium.CiliumNode) ([]cilium.Claim, error) {
	return p.ClusterPool.Adopt(now, n.Metadata.Incarnation(), prefixes(n.Spec.IPAM.Pools.Allocated))
}

// Reconcile implements Pools.
func (p *clusterPools) Reconcile(now time.Time, n *cilium.CiliumNode) ([]cilium.PoolAllocation, []cilium.Claim, error) {
	cidrs, entries, err := p.Assign(now, n.Metadata.Incarnation())
	if len(cidrs) == 0 {
		return nil, entries, err
	}
	return []cilium.PoolAllocation{{Pool: cilium.DefaultPool, CIDRs: cidrs}}, entries, err
}

// Wrote implements Pools: nothing is ever given back by an agent.
func (*clusterPools) Wrote(*cilium.CiliumNode) {}

// Delete implements Pools.
func (p *clusterPools) Delete(now time.Time, incarnation string) []cilium.Claim {
	return p.Unassign(now, incarnation)
}

// oneCIDR is the demand of an agent in mode cluster-pool: its CIDR, and never another.
type oneCIDR struct{ *allocatorDemand }

// Needed implements Demand.
func (oneCIDR) Needed(time.Time) int { return 1 }

// Excess implements Demand.
func (oneCIDR) Excess(int) []netip.Prefix { return nil }

// Refused implements Demand.
func (oneCIDR) Refused(time.Time, ipam.Owner) {}
