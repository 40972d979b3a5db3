package cilium

import (
	"strings"

	"github.com/vppdrill/vppdrill/ipam"
)

// What cilium-agent shows of IPAM (pkg/metrics of Cilium 1.18).
var (
	capacityMetric = ipam.Metric{Name: "cilium_ipam_capacity", Kind: ipam.Gauge, Help: "Total number of IPs in the IPAM pool labeled by family",
		Labels: []string{"family"}}
	eventsMetric = ipam.Metric{Name: "cilium_ipam_events_total", Kind: ipam.Counter,
		Help: "Number of IPAM events received labeled by action and datapath family type", Labels: []string{"action", "family"}}
	addressesMetric = ipam.Metric{Name: "cilium_ip_addresses", Kind: ipam.Gauge, Help: "Number of allocated IP addresses", Labels: []string{"family"}}
)

// AgentMetrics are what nodes of this package show.
var AgentMetrics = []*ipam.Metric{&capacityMetric, &eventsMetric, &addressesMetric}

// nodeName is the label of each of the operator's metrics of a node.
var nodeName = []string{"target_node"}

// What cilium-operator shows of IPAM (operator/pkg/ipam of Cilium). What it has of interfaces and subnets, and how long requests to the
// cloud took, is its cloud's and not here.
var (
	availableMetric = ipam.Metric{Name: "cilium_operator_ipam_available_ips", Kind: ipam.Gauge, Help: "Total available IPs on Node for IPAM allocation", Labels: nodeName}
	usedMetric      = ipam.Metric{Name: "cilium_operator_ipam_used_ips", Kind: ipam.Gauge, Help: "Total used IPs on Node for IPAM allocation", Labels: nodeName}
	neededMetric    = ipam.Metric{Name: "cilium_operator_ipam_needed_ips", Kind: ipam.Gauge,
		Help: "Number of IPs that are needed on the Node to satisfy IPAM allocation requests", Labels: nodeName}
	assignedMetric   = ipam.Metric{Name: "cilium_operator_ipam_ip_allocation_ops", Kind: ipam.Counter, Help: "Number of IP allocation operations", Labels: []string{"subnet_id"}}
	unassignedMetric = ipam.Metric{Name: "cilium_operator_ipam_ip_release_ops", Kind: ipam.Counter, Help: "Number of IP release operations", Labels: []string{"subnet_id"}}
	nodesMetric      = ipam.Metric{Name: "cilium_operator_ipam_nodes", Kind: ipam.Gauge,
		Help: "Number of nodes by category { total | in-deficit | at-capacity }", Labels: []string{"category"}}
	resyncMetric = ipam.Metric{Name: "cilium_operator_ipam_resync_total", Kind: ipam.Counter,
		Help: "Number of resync operations to synchronize and resolve IP deficit of nodes"}
	poolBlocksMetric = ipam.Metric{Name: "cilium_operator_ipam_multipool_total_blocks", Kind: ipam.Gauge,
		Help: "Total number of CIDR blocks in the multi-pool IPAM pool", Labels: []string{"pool", "family"}}
)

// heldMetric is ours: upstream does not show how many blocks nodes hold.
var heldMetric = ipam.Metric{Name: "vppdrill_operator_blocks", Kind: ipam.Gauge, Help: "Blocks that nodes hold, by pool and family.", Labels: []string{"pool", "family"}}

// OperatorMetrics are what operators of this package show.
var OperatorMetrics = []*ipam.Metric{&availableMetric, &usedMetric, &neededMetric, &nodesMetric, &assignedMetric, &unassignedMetric, &resyncMetric,
	&poolBlocksMetric, &heldMetric}

// Figures implements ipam.Figured.
func (n *Node) Figures() []ipam.Figure { return ledgerFigures(n.BlockLedger) }

// Figures implements ipam.Figured.
func (n *AddressNode) Figures() []ipam.Figure { return ledgerFigures(n.BlockLedger) }

// ledgerFigures are those of the families that a node has, or had addresses of.
func ledgerFigures(l *ipam.BlockLedger) []ipam.Figure {
	var capacity, events, held []ipam.Figure
	for _, f := range [...]Family{IPv4, IPv6} {
		total, known := uint64(0), false
		for _, b := range l.Active() {
			if DeriveFamily(b.Prefix.Addr()) == f {
				total, known = total+b.Own.Capacity(), true
			}
		}
		given, freed := l.Moves(f == IPv6)
		if !known && given == 0 {
			continue
		}
		capacity = append(capacity, capacityMetric.Is(float64(total), string(f)))
		events = append(events, eventsMetric.Is(float64(given), "allocate", string(f)), eventsMetric.Is(float64(freed), "release", string(f)))
		held = append(held, addressesMetric.Is(float64(given-freed), string(f)))
	}
	return append(append(capacity, events...), held...)
}

// Figures implements ipam.Figured. The cloud's subnets are not known here.
func (t *AddressTerm) Figures() (list []ipam.Figure) {
	names, short := t.core.Names(), 0
	for _, m := range [...]*ipam.Metric{&availableMetric, &usedMetric, &neededMetric} {
		for _, name := range names {
			s, _ := t.core.Get(name)
			switch m {
			case &availableMetric:
				list = append(list, m.Is(float64(s.Available), name))
			case &usedMetric:
				list = append(list, m.Is(float64(s.Used), name))
			default:
				if list = append(list, m.Is(float64(s.Needed), name)); s.Needed > 0 {
					short++
				}
			}
		}
	}
	return append(list, nodesMetric.Is(float64(len(names)), "total"), nodesMetric.Is(float64(short), "in-deficit"),
		assignedMetric.Is(float64(t.assigned), ""), unassignedMetric.Is(float64(t.unassigned), ""), resyncMetric.Is(float64(t.resyncs)))
}

// Figures implements ipam.Figured.
func (t *PoolTerm) Figures() []ipam.Figure { return t.cfg.Pools.Figures() }

// Figures implements ipam.Figured.
func (o *PoolOperator) Figures() []ipam.Figure {
	var total []ipam.Figure
	for _, name := range o.claims.names {
		if c := o.claims.pools[name]; len(c.ranges) > 0 {
			pool, family, _ := strings.Cut(name, "/")
			total = append(total, poolBlocksMetric.Is(float64(c.capacity()), pool, family))
		}
	}
	return append(total, o.claims.held(func(name string) (pool, family string) {
		pool, family, _ = strings.Cut(name, "/")
		return pool, family
	})...)
}

// Figures implements ipam.Figured.
func (p *ClusterPool) Figures() []ipam.Figure {
	return p.claims.held(func(name string) (pool, family string) { return DefaultPool, name })
}

// held are how many blocks nodes hold of each pool.
func (l *claimLedger) held(named func(string) (pool, family string)) (list []ipam.Figure) {
	for _, name := range l.names {
		pool, family := named(name)
		list = append(list, heldMetric.Is(float64(len(l.pools[name].holder)), pool, family))
	}
	return list
}
