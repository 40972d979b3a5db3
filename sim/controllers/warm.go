package controllers

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/ipam/space"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/sim/cluster"
)

// unitSize is how many addresses a /28 has, which EC2 calls a prefix.
const unitSize = 16

// Warm implements System: AWS documents what the targets mean (amazon-vpc-cni-k8s, docs/eni-and-ip-target.md and
// docs/prefix-and-ip-target.md). Where the instance is full, or the subnet has no whole prefix for sure, nothing is promised.
func (s *cloudSystem) Warm(node string, taken []netip.Addr) []scenarios.Warm {
	i := s.instances[node]
	switch {
	case i == nil:
		return nil
	case !s.env.Plan.Datastore.PrefixDelegation:
		return s.warmAddresses(node, i, taken)
	}
	w, units := scenarios.Warm{}, 0
	enis := i.Metadata(s.env.now())
	for _, e := range enis {
		if len(e.Units) == 0 && !e.Primary && !e.Trunk {
			w.Empty++
		}
		for _, u := range e.Units {
			if u.Bits() != 28 {
				return nil // pieces of a subnet without whole prefixes
			}
			units++
			used := 0
			for _, a := range taken {
				if u.Contains(a) {
					used++
				}
			}
			w.Free += unitSize - used
			if used == 0 {
				w.Idle++
			}
		}
	}
	held := units*unitSize - w.Free
	roundUp := func(addresses int) int { return (addresses + unitSize - 1) / unitSize }
	t := s.env.Plan.Datastore
	switch {
	case t.WarmIP > 0 || t.MinimumIP > 0:
		w.LeastFree = max(t.WarmIP, t.MinimumIP-held)
		needed := max(roundUp(held+t.WarmIP), roundUp(t.MinimumIP))
		w.MostIdle = max(w.Idle-max(units-needed, 0), 0)
	case t.WarmPrefix > 0:
		w.LeastIdle, w.MostIdle = t.WarmPrefix, t.WarmPrefix
	default:
		w.LeastFree = 1
		if w.Free == w.Idle*unitSize {
			w.MostIdle = 1
		}
	}
	if full := s.forPods() * (s.limits.IPv4PerENI - 1); units >= full || s.zoneOf(node).pods.Free() < unitSize*unitSize {
		unpromised(&w)
	}
	return []scenarios.Warm{w}
}

// unpromised takes back what a node would have to keep if there was enough. Interfaces that it could not fill wait for when there is.
func unpromised(w *scenarios.Warm) {
	if w.Free < w.LeastFree || w.Idle < w.LeastIdle {
		w.Empty = 0
	}
	w.LeastFree, w.LeastIdle = 0, 0
}

// warmAddresses is Warm without prefix delegation: an address by itself is the least that is kept. Interfaces' worth of them are kept by
// WARM_ENI_TARGET, and only a whole interface that nobody uses goes back then.
func (s *cloudSystem) warmAddresses(node string, i Cloud, taken []netip.Addr) []scenarios.Warm {
	t, per := s.env.Plan.Datastore, s.limits.IPv4PerENI-1
	w, units, spare := scenarios.Warm{}, 0, false
	enis := i.Metadata(s.env.now())
	for _, e := range enis {
		free := 0
		for _, u := range e.Units {
			if !slices.Contains(taken, u.Addr()) {
				free++
			}
		}
		if len(e.Units) == 0 && !e.Primary && !e.Trunk {
			w.Empty++
		}
		spare = spare || !e.Primary && free > 0 && free == len(e.Units)
		units, w.Free = units+len(e.Units), w.Free+free
	}
	w.Idle, w.MostIdle = w.Free, w.Free
	if t.WarmIP > 0 || t.MinimumIP > 0 {
		w.LeastFree = max(t.WarmIP, t.MinimumIP-(units-w.Free))
		w.MostIdle = w.LeastFree
	} else {
		w.LeastFree = max(t.WarmENI*per, 1)
		if spare && w.Free >= (t.WarmENI+1)*per {
			w.MostIdle = w.Free - 1
		}
	}
	if units >= s.forPods()*per || s.zoneOf(node).pods.Free() <= len(s.instances)*s.limits.IPv4PerENI {
		unpromised(&w)
	}
	return []scenarios.Warm{w}
}

// Warm implements System: a controller gives each node one block.
func (*rangeSystem) Warm(string, []netip.Addr) []scenarios.Warm { return nil }

// Warm implements System: of each pool an agent asks for preAllocate addresses more than its pods have, and gives back whole CIDRs that it
// does not need for that (Cilium's documentation, Multi-Pool). Without a free block nothing is promised.
func (s *poolSystem) Warm(node string, taken []netip.Addr) []scenarios.Warm {
	o, ok := s.env.Cluster.API.Get(cluster.KindResource, cluster.Key{Name: node})
	if !ok || s.env.Plan.Cilium.Mode == scenarios.ClusterPool { // one CIDR each, whatever pods ask for
		return nil
	}
	blocks := shown(o.(*cluster.Resource))
	var list []scenarios.Warm
	for _, p := range s.pools() {
		own := slices.Clone(blocks)
		if len(s.env.Plan.Cilium.Pools) > 0 {
			own = slices.DeleteFunc(own, func(b netip.Prefix) bool { return s.poolOf(b) != p.Name })
		}
		w := s.warmOf(p, own, taken)
		if len(s.env.Plan.Cilium.Pools) > 0 {
			w.Pool = p.Name
		}
		list = append(list, w)
	}
	return list
}

// pools are all that there are, the default one with what the configuration says of it elsewhere.
func (s *poolSystem) pools() []scenarios.CiliumPool {
	c := s.env.Plan.Cilium
	return append([]scenarios.CiliumPool{{Name: cilium.DefaultPool, IPv4: s.ranges, MaskSize: s.bits, PreAllocate: c.PreAllocate}}, c.Pools...)
}

// warmOf is what a node keeps of a pool of which it has these blocks.
func (s *poolSystem) warmOf(p scenarios.CiliumPool, own []netip.Prefix, taken []netip.Addr) scenarios.Warm {
	w, size, blocks, held := scenarios.Warm{}, 0, len(own), 0
	for _, b := range own {
		size = int(space.Count(b))
		used := 0
		for _, a := range taken {
			if b.Contains(a) {
				used++
			}
		}
		held += used
		w.Free += size - used - 1 // one is the router's
		if used == 0 {
			w.Idle++
		}
	}
	if s.freeBlock(p.IPv4, cmp.Or(p.MaskSize, s.bits)) {
		w.LeastFree = p.PreAllocate
	}
	w.MostIdle = w.Idle
	// Of each block the agent keeps one or two addresses, and counts some of them as used.
	for w.MostIdle > 0 && (blocks-1)*(size-2) >= wanted(held+2*blocks, p.PreAllocate) {
		w.MostIdle--
		blocks--
	}
	return w
}

// wanted is how many addresses a node asks for that uses some: the next multiple of preAllocate that leaves so many.
func wanted(used, preAllocate int) int {
	if preAllocate == 0 {
		return used
	}
	return (used + 2*preAllocate - 1) / preAllocate * preAllocate
}
