package museum

import (
	"errors"
	"iter"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	ciliumipam "github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/ipam/space"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/sim/internal/controllers"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/agent/nodeid"
)

// cilium are the faults of Cilium's agent.
func cilium() []Exhibit {
	return []Exhibit{
		{
			Name: "slow-add-expires", Incidents: []string{"cilium/cilium#10065", "cilium/cilium#10066", "cilium/cilium#10207"}, Law: "one-owner",
			Upstream: "The address of a slow ADD expired and went to another pod, and the first pod's DEL released it under that one.",
			Fault:    "An address that was not answered for ten seconds goes to the next pod, although its ADD is still under way.",
			Plant: func() *sim.Plant {
				s := newServed()
				return &sim.Plant{Agent: agents(s.watched), Allocator: func(_ string, a ipam.NodeAllocator) ipam.NodeAllocator {
					return &expiring{NodeAllocator: a, served: s}
				}}
			},
		},
		{
			Name: "peers-removed-before-sync", Incidents: []string{"cilium/cilium#31985", "cilium/cilium#34062", "projectcalico/calico#8071"}, Law: "stays-wired",
			Upstream: "An agent that started removed stale peers before the store had told it all, and put the living ones back when it had.",
			Fault:    "An agent whose store does not answer goes by what it knows so far, which after a start is itself.",
			Plant:    func() *sim.Plant { return &sim.Plant{Agent: agents(storeTakenForEmpty)} },
		},
		{
			Name: "expiry-never-frees", Incidents: []string{"cilium/cilium#29443"}, Law: "pods-served",
			Upstream: "An address whose time had run out was never released, because the timer looked in a pool without a name.",
			Fault:    "The timer of an address that a plugin asked for and no pod has ends, and the release finds no pool.",
			Plant: func() *sim.Plant {
				return &sim.Plant{Controllers: controllers.Plant{Expirations: func(_ string, e ciliumipam.Expirations) ciliumipam.Expirations { return poolless{} }}}
			},
		},
		{
			Name: "route-hides-pool", Law: "settles",
			Incidents: []string{"cilium/cilium#9793", "cilium/cilium#10627", "cilium/cilium#16677", "cilium/cilium#8865", "cilium/cilium#7155", "cilium/cilium#8008"},
			Upstream:  "A route of the host such as 10.0.0.0/8 reserved the whole pool, and no pod got an address.",
			Fault:     "A route of the host that covers the pool reserves all of it, as if it lay inside.",
			Plant: func() *sim.Plant {
				return &sim.Plant{Controllers: controllers.Plant{Routes: func(_ string, core *ciliumipam.IPAM, routes func() []ciliumipam.Route) ciliumipam.Reserver {
					return covered{core, routes}
				}}}
			},
		},
		{
			Name: "failed-pick-leaks", Incidents: []string{"cilium/cilium#18352"}, Law: "books-agree",
			Upstream: "When the interface of a picked address was missing in the status, the pick failed and the address stayed in use.",
			Fault:    "The first allocation of each node fails after the address was taken.",
			Plant: func() *sim.Plant {
				return &sim.Plant{Allocator: func(_ string, a ipam.NodeAllocator) ipam.NodeAllocator { return &failing{NodeAllocator: a} }}
			},
		},
		{
			Name: "router-address-lost", Incidents: []string{"cilium/cilium#4317", "cilium/cilium#3870", "cilium/cilium#6874"}, Law: "lease-in-range",
			Upstream: "After a restart the router's address was not reserved yet when a pod asked for one.",
			Fault:    "The first pod after a restart gets the gateway's address.",
			Plant: func() *sim.Plant {
				lives := map[string]int{}
				return &sim.Plant{Allocator: func(node string, a ipam.NodeAllocator) ipam.NodeAllocator {
					lives[node]++
					return &unreserved{NodeAllocator: a, done: lives[node] == 1, pick: func(b ipam.Block) netip.Addr { return b.Gateway }}
				}}
			},
		},
		{
			Name: "service-address-lost", Incidents: []string{"cilium/cilium#46799"}, Law: "lease-in-range",
			Upstream: "After a restart a pod got the address that a service of the node had.",
			Fault:    "The first pod after a restart gets the address that is kept for NAT.",
			Plant: func() *sim.Plant {
				lives := map[string]int{}
				return &sim.Plant{Allocator: func(node string, a ipam.NodeAllocator) ipam.NodeAllocator {
					lives[node]++
					return &unreserved{NodeAllocator: a, done: lives[node] == 1, pick: func(b ipam.Block) netip.Addr { return space.Last(b.Prefix).Prev() }}
				}}
			},
		},
		{
			Name: "restore-gives-up", Law: "add-not-forgotten",
			Incidents: []string{"cilium/cilium#17492", "cilium/cilium#16672", "cilium/cilium#20879", "cilium/cilium#25856", "cilium/cilium#28781"},
			Upstream:  "A restored address that was in the pool no longer made the restore give up.",
			Fault:     "Addresses of blocks that drain are not restored.",
			Plant: func() *sim.Plant {
				return &sim.Plant{Records: func(_ string, records []agent.Record) []agent.Record {
					draining := map[netip.Prefix]bool{}
					for _, r := range records {
						if r.Kind == agent.RecordIPAM && (r.IPAM.Op == ipam.OpDrain || r.IPAM.Op == ipam.OpBlock) {
							draining[r.IPAM.Prefix] = r.IPAM.Op == ipam.OpDrain
						}
					}
					return without(records, func(r *agent.Record) bool {
						return r.Kind == agent.RecordIPAM && r.IPAM.Op == ipam.OpLease && draining[r.IPAM.Prefix]
					})
				}}
			},
		},
	}
}

// expiring is an allocator whose leases end when they are not confirmed in time.
type expiring struct {
	ipam.NodeAllocator
	served *served
}

// expiry is how long a lease waits to be confirmed.
const expiry = 10 * time.Second

// Allocate implements ipam.Allocator.
func (x *expiring) Allocate(now time.Time, o ipam.Owner, w ipam.Want) (ipam.Lease, []ipam.Record, error) {
	if _, held := x.Lease(o); held || w.Addr.IsValid() {
		return x.NodeAllocator.Allocate(now, o, w)
	}
	for l := range x.Leases() {
		if x.served.done[l.Owner] || now.Before(l.Since.Add(expiry)) {
			continue
		}
		records := x.NodeAllocator.Release(now, l.Owner)
		fresh, more, err := x.NodeAllocator.Allocate(now, o, ipam.Want{Addr: l.Addr})
		if err != nil {
			panic("museum: an address that was just released: " + err.Error())
		}
		return fresh, append(records, more...), nil
	}
	return x.NodeAllocator.Allocate(now, o, w)
}

// poolless are timers that find no pool to release an address in.
type poolless struct{}

// Advance implements ciliumipam.Expirations.
func (poolless) Advance(time.Time) []ciliumipam.Expiry { return nil }

// covered reserves whatever a route of the host covers.
type covered struct {
	core   *ciliumipam.IPAM
	routes func() []ciliumipam.Route
}

// ReserveLocalRoutes implements ciliumipam.Reserver.
func (x covered) ReserveLocalRoutes() (ciliumipam.RouteReport, error) {
	report, err := x.core.ReserveLocalRoutes()
	for _, p := range report.Covering {
		x.core.BlacklistIPNet(p, "local route: "+p.String())
	}
	return report, err
}

// failing is an allocator whose first allocation fails too late.
type failing struct {
	ipam.NodeAllocator
	failed bool
}

var errNoInterface = errors.New("interface of the address is not in the status")

// Allocate implements ipam.Allocator.
func (x *failing) Allocate(now time.Time, o ipam.Owner, w ipam.Want) (ipam.Lease, []ipam.Record, error) {
	l, records, err := x.NodeAllocator.Allocate(now, o, w)
	if err == nil && !x.failed {
		x.failed = true
		return ipam.Lease{}, nil, errNoInterface
	}
	return l, records, err
}

// unreserved is an allocator that gives an address of its first block away once that is no pod's.
type unreserved struct {
	ipam.NodeAllocator
	done bool
	pick func(b ipam.Block) netip.Addr
	// given is the lease that the allocator itself knows nothing of.
	given []ipam.Lease
}

// Allocate implements ipam.Allocator.
func (x *unreserved) Allocate(now time.Time, o ipam.Owner, w ipam.Want) (ipam.Lease, []ipam.Record, error) {
	blocks := x.Blocks()
	if x.done || len(blocks) == 0 {
		return x.NodeAllocator.Allocate(now, o, w)
	}
	x.done = true
	l := ipam.Lease{Owner: o, Addr: x.pick(blocks[0]), Block: blocks[0].Prefix, Gateway: blocks[0].Gateway, Since: now}
	x.given = []ipam.Lease{l}
	return l, []ipam.Record{{Op: ipam.OpLease, Owner: o, Addr: l.Addr, Prefix: l.Block, At: now}}, nil
}

// Leases implements ipam.Allocator.
func (x *unreserved) Leases() iter.Seq[ipam.Lease] {
	all := slices.AppendSeq(slices.Clone(x.given), x.NodeAllocator.Leases())
	slices.SortFunc(all, func(a, b ipam.Lease) int { return a.Addr.Compare(b.Addr) })
	return slices.Values(all)
}

// storeTakenForEmpty makes an agent believe that a store which does not answer is complete, and that it holds the
// agent's own record, as in the journal, and no others.
func storeTakenForEmpty(l *life, now time.Time, ev agent.Event) []agent.Effect {
	switch e := ev.(type) {
	case agent.Restored:
		for _, r := range e.Records {
			if r.Kind == agent.RecordNode {
				l.own = nodeid.Record{ID: r.NodeID, Name: l.node, UID: r.NodeUID}
			}
		}
	case agent.StoreReply:
		if e.Err == agent.StoreUnavailable {
			items := []agent.StoreItem{{Key: nodeid.KeyComplete, Value: nodeid.ValueComplete, ModRevision: 1}}
			if l.own.ID != 0 {
				items = append(items, agent.StoreItem{Key: l.own.Key(), Value: l.own.String(), ModRevision: 1})
			}
			ev = agent.StoreReply{ID: e.ID, Items: items, Revision: 1}
		}
	}
	return l.PlantedAgent.Step(now, ev)
}
