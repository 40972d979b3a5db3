package nodeipam

import (
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/internal/cidrset"
)

// clusterCIDR is the label of each of upstream's metrics of a set.
var clusterCIDR = []string{"clusterCIDR"}

// What upstream's sets of CIDRs show (pkg/controller/nodeipam/ipam/cidrset of Kubernetes 1.34), with its misspelling and
// its help of another metric.
var (
	allocationsMetric = ipam.Metric{Name: "node_ipam_controller_cidrset_cidrs_allocations_total", Kind: ipam.Counter,
		Help: "[ALPHA] Counter measuring total number of CIDR allocations.", Labels: clusterCIDR}
	releasesMetric = ipam.Metric{Name: "node_ipam_controller_cidrset_cidrs_releases_total", Kind: ipam.Counter,
		Help: "[ALPHA] Counter measuring total number of CIDR releases.", Labels: clusterCIDR}
	maxMetric = ipam.Metric{Name: "node_ipam_controller_cirdset_max_cidrs", Kind: ipam.Gauge,
		Help: "[ALPHA] Maximum number of CIDRs that can be allocated.", Labels: clusterCIDR}
	usageMetric = ipam.Metric{Name: "node_ipam_controller_cidrset_usage_cidrs", Kind: ipam.Gauge,
		Help: "[ALPHA] Gauge measuring percentage of allocated CIDRs.", Labels: clusterCIDR}
	triesMetric = ipam.Metric{Name: "node_ipam_controller_cidrset_allocation_tries_per_request", Kind: ipam.Histogram,
		Help: "[ALPHA] Number of endpoints added on each Service sync", Labels: clusterCIDR, Bounds: []float64{1, 5, 25, 125, 625}}
)

// Metrics are what the controllers of this package show.
var Metrics = []*ipam.Metric{&allocationsMetric, &releasesMetric, &maxMetric, &usageMetric, &triesMetric}

// Figures implements ipam.Figured: of each range, those of the command line and those with selectors.
func (r *RangeAllocator) Figures() []ipam.Figure {
	var sets []*cidrset.Ledger
	for _, p := range r.ranges.pools {
		for _, set := range p.sets {
			// Two ranges of one CIDR hold the same claims: the first one shows them.
			if !slices.ContainsFunc(sets, func(s *cidrset.Ledger) bool { return s.ClusterCIDR() == set.ClusterCIDR() }) {
				sets = append(sets, set)
			}
		}
	}
	return figures(sets)
}

// Figures implements ipam.Figured.
func (c *Controller) Figures() []ipam.Figure { return figures([]*cidrset.Ledger{c.set}) }

// figures are what sets show.
func figures(sets []*cidrset.Ledger) (list []ipam.Figure) {
	for _, m := range Metrics {
		for _, set := range sets {
			list = append(list, figure(m, set.ClusterCIDR().String(), set.Metrics()))
		}
	}
	return list
}

func figure(m *ipam.Metric, cidr string, of cidrset.Metrics) ipam.Figure {
	switch m {
	case &allocationsMetric:
		return m.Is(float64(of.Allocations), cidr)
	case &releasesMetric:
		return m.Is(float64(of.Releases), cidr)
	case &maxMetric:
		return m.Is(float64(of.MaxCIDRs), cidr)
	case &usageMetric:
		return m.Is(of.Usage(), cidr)
	}
	tries := m.Is(float64(of.TriesSum), cidr)
	for i, n := range of.TriesHistogram {
		if tries.Count += n; i < len(m.Bounds) {
			tries.Buckets = append(tries.Buckets, tries.Count)
		}
	}
	return tries
}
