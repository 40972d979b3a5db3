package museum

import (
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	contivipam "github.com/vppdrill/vppdrill/ipam/contiv"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/vppwire/agent"
	"github.com/vppdrill/vppdrill/vppwire/agent/nodeid"
)

// contiv are the faults of contiv/vpp and its predecessor.
func contiv() []Exhibit {
	return []Exhibit{
		{
			Name: "etcd-lost-ids", Incidents: []string{"contiv/vpp#1492"}, Law: "node-ids-disjoint",
			Upstream: "After etcd had lost its data, nodes registered in another order and got each other's IDs while their pods kept running.",
			Fault:    "The node ID is only in the store, and a node that finds none claims the smallest at once.",
			Plant:    func() *sim.Plant { return &sim.Plant{Config: impatient, Records: idForgotten} },
		},
		{
			Name: "subnet-regenerated", Incidents: []string{"contiv/vpp#1491"}, Law: "lease-in-range",
			Upstream: "Regenerated data gave a node another pod subnet than its running pods had; only deleting the pods healed it.",
			Fault:    "A node without a record takes a new ID, and its new block replaces the old one at once.",
			Plant: func() *sim.Plant {
				return &sim.Plant{Config: impatient, Records: idForgotten, Allocator: func(_ string, a ipam.NodeAllocator) ipam.NodeAllocator {
					return &undrained{NodeAllocator: a}
				}}
			},
		},
		{
			Name: "address-reused-at-once", Incidents: []string{"contiv/vpp#573"}, Law: "address-rests",
			Upstream: "A released address was given out again at once, and the old pod's policies hit the new one.",
			Fault:    "The address released last is given out next, without a rest.",
			Plant: func() *sim.Plant {
				return &sim.Plant{Allocator: func(string, ipam.NodeAllocator) ipam.NodeAllocator { return newEager() }}
			},
		},
		{
			Name: "unreported-add-forgotten", Incidents: []string{"contiv/vpp#641"}, Law: "add-not-forgotten",
			Upstream: "An agent that restarted before a pod's status was in etcd had forgotten the pod's address.",
			Fault:    "A lease reaches the disk ten seconds late, as a reflected pod status does.",
			Plant:    func() *sim.Plant { return &sim.Plant{Journal: newReflected(10 * time.Second).write} },
		},
		{
			Name: "id-released-on-close", Incidents: []string{"contiv/vpp#832"}, Law: "node-ids-disjoint",
			Upstream: "An agent released its node ID when it was closed, and a node that joined during its restart took it.",
			Fault:    "A closing agent deletes its record, and a joining one claims the smallest ID at once.",
			Plant: func() *sim.Plant {
				c := &closing{records: map[string]map[string]agent.StoreItem{}}
				return &sim.Plant{Config: impatient, Agent: agents(c.step), Stopping: c.stop}
			},
		},
		{
			Name: "last-id-out-of-range", Incidents: []string{"contiv/vpp#849"}, Law: "reachable",
			Upstream: "The ID at the power of two was mapped to a subnet behind the cluster's range.",
			Fault:    "The block of the last ID is the one behind the pod subnet, which the nodes themselves have.",
			Plant: func() *sim.Plant {
				return &sim.Plant{Allocator: func(_ string, a ipam.NodeAllocator) ipam.NodeAllocator { return &outOfRange{NodeAllocator: a} }}
			},
		},
		{
			Name: "custom-range-ignored", Incidents: []string{"contiv/vpp#1110", "contiv/vpp#1145", "contiv/vpp#1478"}, Law: "reachable",
			Upstream: "Custom ranges were silently ignored: some came from the automatic split of one range, whatever the file said.",
			Fault:    "One node acts on the usual range for the nodes' own addresses instead of the configured one.",
			Plant: func() *sim.Plant {
				return &sim.Plant{Agent: agents(func(l *life, now time.Time, ev agent.Event) []agent.Effect {
					if changed, ok := ev.(agent.PoolsChanged); ok && l.node == "node-2" {
						changed.Pools.NodeInterconnect = netip.MustParsePrefix("192.168.16.0/24")
						ev = changed
					}
					return l.PlantedAgent.Step(now, ev)
				})}
			},
		},
		{
			Name: "failed-add-leaks", Incidents: []string{"contiv/netplugin#1133"}, Law: "books-agree",
			Upstream: "An endpoint that could not be created left its address taken.",
			Fault:    "An address is given back only for attachments that were answered.",
			Plant: func() *sim.Plant {
				s := newServed()
				return &sim.Plant{Agent: agents(s.watched), Allocator: func(_ string, a ipam.NodeAllocator) ipam.NodeAllocator {
					return &leaky{NodeAllocator: a, keep: func(o ipam.Owner) bool { return !s.done[o] }}
				}}
			},
		},
	}
}

// undrained is an allocator whose blocks vanish with their replacement, with or without pods.
type undrained struct{ ipam.NodeAllocator }

// Blocks implements ipam.NodeAllocator.
func (u *undrained) Blocks() []ipam.Block {
	var active []ipam.Block
	for _, b := range u.NodeAllocator.Blocks() {
		if !b.Draining {
			active = append(active, b)
		}
	}
	return active
}

// eager is an allocator without reuse delay that prefers the address released last.
type eager struct {
	ipam.NodeAllocator
	last netip.Addr
}

func newEager() *eager {
	a, err := contivipam.New(contivipam.Config{})
	if err != nil {
		panic("museum: an allocator without configuration: " + err.Error())
	}
	return &eager{NodeAllocator: a}
}

// Allocate implements ipam.Allocator.
func (e *eager) Allocate(now time.Time, o ipam.Owner, w ipam.Want) (ipam.Lease, []ipam.Record, error) {
	if e.last.IsValid() && !w.Addr.IsValid() {
		if l, records, err := e.NodeAllocator.Allocate(now, o, ipam.Want{Addr: e.last}); err == nil {
			e.last = netip.Addr{}
			return l, records, nil
		}
	}
	return e.NodeAllocator.Allocate(now, o, w)
}

// Release implements ipam.Allocator.
func (e *eager) Release(now time.Time, o ipam.Owner) []ipam.Record {
	if l, ok := e.Lease(o); ok {
		e.last = l.Addr
	}
	return e.NodeAllocator.Release(now, o)
}

// leaky is an allocator that keeps addresses after their release.
type leaky struct {
	ipam.NodeAllocator
	keep func(o ipam.Owner) bool
}

// Release implements ipam.Allocator.
func (x *leaky) Release(now time.Time, o ipam.Owner) []ipam.Record {
	if _, held := x.Lease(o); held && x.keep(o) {
		return nil
	}
	return x.NodeAllocator.Release(now, o)
}

// outOfRange is an allocator that puts the first block of a range behind its end.
type outOfRange struct{ ipam.NodeAllocator }

// SetBlocks implements ipam.NodeAllocator. 10.1.0.0/22 is the scenario's pod subnet.
func (x *outOfRange) SetBlocks(now time.Time, prefixes []netip.Prefix) ([]ipam.Record, error) {
	moved := make([]netip.Prefix, len(prefixes))
	for i, p := range prefixes {
		if moved[i] = p; p == netip.MustParsePrefix("10.1.0.0/24") {
			moved[i] = netip.MustParsePrefix("10.1.4.0/24")
		}
	}
	return x.NodeAllocator.SetBlocks(now, moved)
}

// reflected is a journal that leases reach late.
type reflected struct {
	delay time.Duration
	held  map[string][]agent.Record
}

func newReflected(delay time.Duration) *reflected {
	return &reflected{delay: delay, held: map[string][]agent.Record{}}
}

func (r *reflected) write(node string, e agent.Persist) agent.Persist {
	if e.Replace {
		r.held[node] = nil
		return e
	}
	var now time.Time
	for i := range e.Records {
		if e.Records[i].Kind == agent.RecordIPAM && e.Records[i].IPAM.At.After(now) {
			now = e.Records[i].IPAM.At
		}
	}
	var due []agent.Record
	for len(r.held[node]) > 0 && !now.Before(r.held[node][0].IPAM.At.Add(r.delay)) {
		due, r.held[node] = append(due, r.held[node][0]), r.held[node][1:]
	}
	for _, one := range e.Records {
		if one.Kind == agent.RecordIPAM && one.IPAM.Op == ipam.OpLease {
			r.held[node] = append(r.held[node], one)
		} else {
			due = append(due, one)
		}
	}
	e.Records = due
	return e
}

// closing knows each node's record in the store, so that a closing agent can delete it.
type closing struct {
	records map[string]map[string]agent.StoreItem
}

func (c *closing) step(l *life, now time.Time, ev agent.Event) []agent.Effect {
	var items []agent.StoreItem
	switch e := ev.(type) {
	case agent.StoreReply:
		items = e.Items
	case agent.StoreChanged:
		items = e.Items
	}
	if c.records[l.node] == nil {
		c.records[l.node] = map[string]agent.StoreItem{}
	}
	for _, item := range items {
		if info, err := nodeid.ParseRecord(item.Value); err == nil && info.Name == l.node {
			c.records[l.node][item.Key] = item
		}
	}
	return l.PlantedAgent.Step(now, ev)
}

func (c *closing) stop(node string) (requests []agent.StoreRequest) {
	for key, item := range c.records[node] { // in any order: a node has one record
		requests = append(requests, agent.StoreRequest{ID: unasked, Op: agent.StoreDelete, Key: key, Revision: item.ModRevision})
	}
	return requests
}
