package cilium

import (
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
)

// Demand is what a node wants of one pool.
type Demand interface {
	// Needed is how many addresses the node needs in all, Excess which blocks it can give back and still have them.
	Needed(now time.Time) int
	Excess(needed int) []netip.Prefix
	// Refused says that a pod found no address, Placed that it has one.
	Refused(now time.Time, pod string)
	Placed(pod string)
	// Occupied reports whether a pod holds an address of a block.
	Occupied(block netip.Prefix) bool
	// Until is when what is needed changes by itself, the zero time for never.
	Until() time.Time
}

// NewDemand is the demand of a node's allocator for what d says.
func NewDemand(alloc *Node, d NodeDemand) Demand { return &demand{d, alloc} }

type demand struct {
	NodeDemand
	alloc *Node
}

// Needed implements Demand.
func (d *demand) Needed(now time.Time) int { return d.NodeDemand.Needed(now, d.alloc) }

// Excess implements Demand.
func (d *demand) Excess(needed int) []netip.Prefix { return d.NodeDemand.Excess(d.alloc, needed) }

// Until implements Demand.
func (d *demand) Until() time.Time { return d.pending.next() }

// Occupied implements Demand.
func (d *demand) Occupied(block netip.Prefix) bool {
	for l := range d.alloc.Leases() {
		if block.Contains(l.Addr) {
			return true
		}
	}
	return false
}

// OneCIDR is the demand of an agent in mode cluster-pool: its CIDR, and never another.
func OneCIDR(alloc *Node) Demand { return oneCIDR{&demand{alloc: alloc}} }

type oneCIDR struct{ *demand }

// Needed implements Demand.
func (oneCIDR) Needed(time.Time) int { return 1 }

// Excess implements Demand.
func (oneCIDR) Excess(int) []netip.Prefix { return nil }

// Refused implements Demand.
func (oneCIDR) Refused(time.Time, string) {}

// Demands are what a node wants of all pools. They look at the node's allocator, and so they belong to whoever owns
// that.
type Demands struct {
	alloc *Node
	pools []string
	// families are of which family each is, "" for that of the cluster.
	families []Family
	of       []Demand
	// leases and blocks are how many the node had at the last look.
	leases, blocks int
}

// NewDemands are the demands of a node; Add gives them pools, the default one first.
func NewDemands(alloc *Node) *Demands { return &Demands{alloc: alloc} }

// Add adds a pool, of one of the node's Families; those of a pool come one after the other.
func (d *Demands) Add(pool string, f Family, of Demand) {
	d.pools, d.families, d.of = append(d.pools, pool), append(d.families, f), append(d.of, of)
}

// Refused says that a pod found no address of a pool, of some family: it needs one of each. A pool that is not known stands for the default
// one.
func (d *Demands) Refused(now time.Time, pool, pod string) {
	name := d.pools[max(slices.Index(d.pools, pool), 0)]
	for i, of := range d.of {
		if d.pools[i] == name {
			of.Refused(now, pod)
		}
	}
}

// Placed says that a pod has an address.
func (d *Demands) Placed(pod string) {
	for _, of := range d.of {
		of.Placed(pod)
	}
}

// Look is what an agent needs that has these blocks; six says that pods of a node of
// one family have addresses of IPv6. Of pools beside the
// default one nothing is asked while nothing is needed.
func (d *Demands) Look(now time.Time, held []ipam.Block, idle, six bool) AgentSeen {
	a := AgentSeen{Idle: idle}
	d.leases, d.blocks = d.alloc.Len(), len(d.alloc.Blocks())
	for i, of := range d.of {
		n := of.Needed(now)
		if i == 0 || n > 0 {
			a.request(d.pools[i], n, d.families[i] == IPv6 || d.families[i] == "" && six)
		}
		a.Excess = append(a.Excess, of.Excess(n)...)
		if until := of.Until(); a.Until.IsZero() || !until.IsZero() && until.Before(a.Until) {
			a.Until = until
		}
	}
	for _, b := range held {
		a.Held = append(a.Held, b.Prefix)
	}
	for _, b := range d.alloc.Blocks() {
		if d.of[0].Occupied(b.Prefix) {
			a.Used = append(a.Used, b.Prefix)
		}
	}
	return a
}

// request asks for so many addresses of a pool.
func (a *AgentSeen) request(pool string, n int, six bool) {
	if k := len(a.Requests) - 1; k < 0 || a.Requests[k].Pool != pool {
		a.Requests = append(a.Requests, PoolRequest{Pool: pool})
	}
	needed := &a.Requests[len(a.Requests)-1].Needed
	if six {
		needed.IPv6Addrs = n
	} else {
		needed.IPv4Addrs = n
	}
}

// Behind reports whether the node has other blocks, or more or fewer leases, than at the last look.
func (d *Demands) Behind() bool {
	return d.alloc.Len() != d.leases || len(d.alloc.Blocks()) != d.blocks
}

// Equal reports whether a requester would do the same about both.
func (a AgentSeen) Equal(b AgentSeen) bool {
	return slices.Equal(a.Requests, b.Requests) && slices.Equal(a.Excess, b.Excess) && slices.Equal(a.Held, b.Held) &&
		slices.Equal(a.Used, b.Used) && a.Idle == b.Idle && a.Until.Equal(b.Until)
}
