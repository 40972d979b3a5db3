package museum

import (
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	ciliumipam "github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/sim/internal/controllers"
)

// ciliumOperator are the faults between Cilium's operator and its agents.
func ciliumOperator() []Exhibit {
	return []Exhibit{
		{
			Name: "freed-while-assigned", Incidents: []string{"cilium/cilium#13412", "cilium/cilium#17939", "cilium/cilium#20026"}, Law: "grants-used",
			Upstream: "Addresses that looked like excess were released while the agent gave them to pods.",
			Fault:    "What was excess ten seconds ago is given back without asking the agent.",
			Plant: func() *sim.Plant {
				return &sim.Plant{Controllers: controllers.Plant{
					Demand: func(_ string, d ciliumipam.Demand) ciliumipam.Demand {
						return &hasty{Demand: d, since: map[netip.Prefix]time.Time{}}
					},
					Side: unheardOf,
				}}
			},
		},
		{
			Name: "used-and-released", Incidents: []string{"cilium/cilium#32531"}, Law: "grants-used",
			Upstream: "An operator that died during the release handshake left addresses both used and released.",
			Fault:    "An agent gives out addresses that it has called ready for release, until they are released.",
			Plant: func() *sim.Plant {
				return handshakes(func(_ int, h ciliumipam.Handshake) ciliumipam.Handshake { return agreeing{h} })
			},
		},
		{
			Name: "stuck-in-released", Incidents: []string{"cilium/cilium#39981"}, Law: "settles",
			Upstream: "Entries of the release handshake were never cleaned up when the agent restarted in between.",
			Fault:    "After a restart the agent never says that it is done with a released address.",
			Plant: func() *sim.Plant {
				return handshakes(func(life int, h ciliumipam.Handshake) ciliumipam.Handshake {
					if life == 1 {
						return h
					}
					return mindful{h}
				})
			},
		},
		{
			Name: "excess-below-minimum", Incidents: []string{"cilium/cilium#9858"}, Law: "grants-steady",
			Upstream: "The excess was calculated without the amounts that must stay, so that what was released had to be allocated again.",
			Fault:    "Every idle block is excess, however many addresses are wanted ready.",
			Plant: func() *sim.Plant {
				return &sim.Plant{Controllers: controllers.Plant{Demand: func(_ string, d ciliumipam.Demand) ciliumipam.Demand { return generous{d} }}}
			},
		},
		{
			Name: "deposed-leader-forgotten", Incidents: []string{"cilium/cilium#21482", "cilium/cilium#17277", "cilium/cilium#22770"}, Law: "grants-disjoint",
			Upstream: "After a change of leaders, one CIDR went to two nodes: the new operator had not seen the last writes of the old one.",
			Fault:    "A new operator does not see the last claim of its predecessor.",
			Plant: func() *sim.Plant {
				return pools(func(p *ledgered) { p.forgetLast = p.life > 1 })
			},
		},
		{
			Name: "extended-pool-forgets", Incidents: []string{"cilium/cilium#41986", "cilium/cilium#42126"}, Law: "grants-disjoint",
			Upstream: "A pool that was extended gave out blocks that were in use; a restart of the operator healed it.",
			Fault:    "A pool that gets another range starts with all blocks free.",
			Plant: func() *sim.Plant {
				return pools(func(p *ledgered) { p.forgetOnExtend = true })
			},
		},
		{
			Name: "returned-before-restore", Incidents: []string{"cilium/cilium#37746", "cilium/cilium#40350", "cilium/cilium#26668"}, Law: "grants-used",
			Upstream: "A restarted agent gave CIDRs back before it had restored the pods that used them.",
			Fault:    "The first look of a restarted agent finds no pods, and nobody waits for its agent to drop what it gives back.",
			Plant: func() *sim.Plant {
				r := &restarted{lives: map[string]int{}, allocs: map[string]ipam.NodeAllocator{}}
				return &sim.Plant{Allocator: r.allocator, Controllers: controllers.Plant{Demand: r.demand, Side: unheardOf}}
			},
		},
		{
			Name: "no-demand-no-block", Incidents: []string{"cilium/cilium#47379"}, Law: "nodes-served",
			Upstream: "With nothing to allocate ahead, an agent that needed an address for itself never asked for its first block.",
			Fault:    "Only pods that have an address count as demand.",
			Plant: func() *sim.Plant {
				return &sim.Plant{Controllers: controllers.Plant{Demand: func(_ string, d ciliumipam.Demand) ciliumipam.Demand { return modest{d} }}}
			},
		},
	}
}

// unheard is an agent that is never asked whether it still has a block.
type unheard struct{ controllers.Side }

// Blocks implements controllers.Side.
func (unheard) Blocks() []ipam.Block { return nil }

// Idle implements controllers.Side.
func (unheard) Idle() bool { return true }

func unheardOf(_ string, s controllers.Side) controllers.Side { return unheard{s} }

// hasty gives back what was excess some time ago.
type hasty struct {
	ciliumipam.Demand
	now time.Time
	// since is when a block became excess.
	since map[netip.Prefix]time.Time
}

// decided is how long it takes from the decision to the release.
const decided = 10 * time.Second

// Needed implements ciliumipam.Demand.
func (h *hasty) Needed(now time.Time) int {
	h.now = now
	return h.Demand.Needed(now)
}

// Excess implements ciliumipam.Demand.
func (h *hasty) Excess(needed int) (list []netip.Prefix) {
	for _, p := range h.Demand.Excess(needed) {
		if h.since[p].IsZero() {
			h.since[p] = h.now
		}
	}
	for p, since := range h.since { // in any order: sorted below
		if !h.now.Before(since.Add(decided)) {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, netip.Prefix.Compare)
	return list
}

// Occupied implements ciliumipam.Demand.
func (*hasty) Occupied(netip.Prefix) bool { return false }

// handshakes wraps what every life of an agent says in the release handshake.
func handshakes(wrap func(life int, h ciliumipam.Handshake) ciliumipam.Handshake) *sim.Plant {
	return &sim.Plant{Controllers: controllers.Plant{Handshake: func(_ string, life int, h ciliumipam.Handshake) ciliumipam.Handshake { return wrap(life, h) }}}
}

// agreeing gives out what it has agreed to give back.
type agreeing struct{ ciliumipam.Handshake }

// Blocked implements ciliumipam.Handshake.
func (e agreeing) Blocked(s ciliumipam.HandshakeState) bool {
	return s != ciliumipam.ReadyForRelease && e.Handshake.Blocked(s)
}

// mindful never forgets what was released.
type mindful struct{ ciliumipam.Handshake }

// Forget implements ciliumipam.Handshake.
func (mindful) Forget() bool { return false }

// generous gives back whatever is idle.
type generous struct{ ciliumipam.Demand }

// Excess implements ciliumipam.Demand.
func (g generous) Excess(int) []netip.Prefix { return g.Demand.Excess(0) }

// modest never asks for a first block.
type modest struct{ ciliumipam.Demand }

// Needed implements ciliumipam.Demand.
func (modest) Needed(time.Time) int { return 0 }

// restarted are agents that give everything back when they come up again.
type restarted struct {
	lives  map[string]int
	allocs map[string]ipam.NodeAllocator
}

func (r *restarted) allocator(node string, a ipam.NodeAllocator) ipam.NodeAllocator {
	r.lives[node]++
	r.allocs[node] = a
	return a
}

func (r *restarted) demand(node string, d ciliumipam.Demand) ciliumipam.Demand {
	return &unrestored{Demand: d, alloc: r.allocs[node], done: r.lives[node] == 1}
}

// unrestored knows no pods at its first look.
type unrestored struct {
	ciliumipam.Demand
	alloc ipam.NodeAllocator
	done  bool
}

// Excess implements ciliumipam.Demand.
func (u *unrestored) Excess(needed int) []netip.Prefix {
	if u.done {
		return u.Demand.Excess(needed)
	}
	u.done = true
	var all []netip.Prefix
	for _, b := range u.alloc.Blocks() {
		all = append(all, b.Prefix)
	}
	return all
}

// Occupied implements ciliumipam.Demand.
func (*unrestored) Occupied(netip.Prefix) bool { return false }
