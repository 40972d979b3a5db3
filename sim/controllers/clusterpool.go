package controllers

import (
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/cilium"
)

// newClusterPools is cilium-operator in mode cluster-pool.
func newClusterPools(s *poolSystem) (Pools, error) {
	spec := s.spec()
	return cilium.NewClusterPools(cilium.ClusterPoolConfig{IPv4: spec.IPv4, IPv6: spec.IPv6, MaskSize4: spec.MaskSize4, MaskSize6: spec.MaskSize6,
		ReuseDelay: s.env.Plan.ReuseDelay})
}

// oneCIDR is the demand of an agent in mode cluster-pool: its CIDR, and never another.
type oneCIDR struct{ *allocatorDemand }

// Needed implements Demand.
func (oneCIDR) Needed(time.Time) int { return 1 }

// Excess implements Demand.
func (oneCIDR) Excess(int) []netip.Prefix { return nil }

// Refused implements Demand.
func (oneCIDR) Refused(time.Time, ipam.Owner) {}
