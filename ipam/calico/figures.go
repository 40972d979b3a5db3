package calico

import (
	"maps"
	"math"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
)

// Words of upstream for what has no name.
const (
	noPool     = "no_ippool"
	noAffinity = "no_affinity"
)

// poolNode are the labels of upstream's metrics of a node's part of a pool.
var poolNode = []string{"ippool", "node"}

// What calico-kube-controllers show of IPAM (kube-controllers/pkg/controllers/node/ipam.go of Calico 3.30), those by node alone as older
// dashboards ask for them.
var (
	inUseMetric = ipam.Metric{Name: "ipam_allocations_in_use", Kind: ipam.Gauge,
		Help: "IPs currently allocated in IPAM to a workload or tunnel endpoint.", Labels: poolNode}
	borrowedMetric = ipam.Metric{Name: "ipam_allocations_borrowed", Kind: ipam.Gauge,
		Help: "IPs currently allocated in IPAM to a workload or tunnel endpoint, where the allocation was borrowed from a block affine to another node.", Labels: poolNode}
	blocksMetric     = ipam.Metric{Name: "ipam_blocks", Kind: ipam.Gauge, Help: "IPAM blocks currently allocated for the IP pool.", Labels: poolNode}
	candidatesMetric = ipam.Metric{Name: "ipam_allocations_gc_candidates", Kind: ipam.Gauge,
		Help: "Allocations that are currently marked by the garbage collector as potential candidates to reclaim. Under normal operation, this metric should return " +
			"to zero after the garbage collector confirms that this allocation can be reclaimed and reclaims it, or the allocation is confirmed as valid.", Labels: poolNode}
	reclaimedMetric = ipam.Metric{Name: "ipam_allocations_gc_reclamations", Kind: ipam.Counter,
		Help: "The total allocations that have been reclaimed by the garbage collector over time. Under normal operation, this counter should increase, and increases " +
			"of this counter should align to a return to zero for the candidate gauge.", Labels: poolNode}
	sizeMetric         = ipam.Metric{Name: "ipam_ippool_size", Kind: ipam.Gauge, Help: "Total number of addresses in the IP Pool", Labels: []string{"ippool"}}
	byNodeMetric       = ipam.Metric{Name: "ipam_allocations_per_node", Kind: ipam.Gauge, Help: "Number of IPs allocated", Labels: []string{"node"}}
	borrowsMetric      = ipam.Metric{Name: "ipam_allocations_borrowed_per_node", Kind: ipam.Gauge, Help: "Number of allocated IPs that are from non-affine blocks.", Labels: []string{"node"}}
	blocksByNodeMetric = ipam.Metric{Name: "ipam_blocks_per_node", Kind: ipam.Gauge, Help: "Number of blocks in IPAM", Labels: []string{"node"}}
)

// Metrics are what a Tender shows.
var Metrics = []*ipam.Metric{&inUseMetric, &borrowedMetric, &blocksMetric, &candidatesMetric, &reclaimedMetric, &sizeMetric, &byNodeMetric, &borrowsMetric, &blocksByNodeMetric}

// place is a node's part of a pool.
type place struct{ pool, node string }

// counted are figures by place.
type counted map[place]int

// Figures implements ipam.Figured: nothing before nodes and blocks are known.
func (t *Tender) Figures() (list []ipam.Figure) {
	if t.alive == nil || !t.view.listed {
		return nil
	}
	inUse, borrowed, blocks, candidates := t.zeros(), t.zeros(), counted{}, t.zeros()
	for _, s := range t.view.blocks {
		pool, affine := t.pools.name(s.CIDR), noAffinity
		if name := NodeOf(s.Affinity); name != "" {
			affine = name
		}
		blocks[place{pool, affine}]++
		for _, h := range s.Hosts {
			at := place{pool, NodeOf(h)}
			if h == "" {
				continue
			}
			if at.node == "" {
				at.node = "unknown_node"
			} else {
				if at.node != affine {
					borrowed[at]++
				}
				if !t.alive[h] {
					candidates[at]++
				}
			}
			inUse[at]++
		}
	}
	list = slices.Concat(inUse.by(&inUseMetric), borrowed.by(&borrowedMetric), blocks.by(&blocksMetric), candidates.by(&candidatesMetric), t.reclaimed.by(&reclaimedMetric))
	for _, name := range slices.Sorted(maps.Keys(t.pools.Names)) {
		r := t.pools.Names[name]
		list = append(list, sizeMetric.Is(math.Pow(2, float64(r.Addr().BitLen()-r.Bits())), name))
	}
	return slices.Concat(list, inUse.byNode(&byNodeMetric), borrowed.byNode(&borrowsMetric), blocks.byNode(&blocksByNodeMetric))
}

// zeros has each node in each pool.
func (t *Tender) zeros() counted {
	c := counted{}
	for name := range t.pools.Names { //vppdrill:unordered a map is filled
		for host := range t.alive { //vppdrill:unordered a map is filled
			c[place{name, NodeOf(host)}] = 0
		}
	}
	return c
}

// by are the figures, in order.
func (c counted) by(m *ipam.Metric) (list []ipam.Figure) {
	for _, at := range slices.SortedFunc(maps.Keys(c), place.compare) {
		list = append(list, m.Is(float64(c[at]), at.pool, at.node))
	}
	return list
}

// byNode are the sums of each node's that is not nothing, in order.
func (c counted) byNode(m *ipam.Metric) (list []ipam.Figure) {
	sums := map[string]int{}
	for at, n := range c { // in any order: it is a sum
		if n > 0 {
			sums[at.node] += n
		}
	}
	for _, node := range slices.Sorted(maps.Keys(sums)) {
		list = append(list, m.Is(float64(sums[node]), node))
	}
	return list
}

func (p place) compare(q place) int {
	return slices.Compare([]string{p.pool, p.node}, []string{q.pool, q.node})
}

// name is the pool that a block is of.
func (p Pools) name(block netip.Prefix) string {
	for _, name := range slices.Sorted(maps.Keys(p.Names)) {
		if r := p.Names[name]; r.Bits() <= block.Bits() && r.Contains(block.Addr()) {
			return name
		}
	}
	return noPool
}

// reclaim counts the addresses that a write took from hosts that are gone.
func (t *Tender) reclaim(was, is Block) {
	for i, h := range was.Hosts {
		if h != "" && is.Hosts[i] != h {
			t.reclaimed[place{t.pools.name(was.CIDR), NodeOf(h)}]++
		}
	}
}
