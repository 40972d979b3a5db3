package plan

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// Cilium is a cluster whose operator carves node CIDRs out of pools.
type Cilium struct {
	// Pools by name; with one pool and without Multi it is mode cluster-pool, where a node has one CIDR of each family.
	Pools []CiliumPool
	// Multi is mode multi-pool: nodes get CIDRs of each pool as pods ask for addresses.
	Multi bool
	// Kept is how many addresses of each CIDR no pod gets beside its first and its last: the health endpoint's, or
	// addresses that the wiring needs. In mode cluster-pool the router has one more; in mode multi-pool it is counted here
	// if it has one.
	Kept int
	// Outside: pods in CIDRs of fewer than 16 addresses have a gateway outside of them, and such CIDRs keep nothing.
	Outside bool
	// Namespace is the pool of pods that name none; the default pool when empty.
	Namespace string
	// Keys are the default pool's names in the configuration where they are not upstream's.
	Keys   Keys
	Fabric Fabric
}

// CiliumPool is one pool.
type CiliumPool struct {
	Name string
	cilium.PoolSpec
	// PreAllocate is how many addresses a node keeps ready in mode multi-pool.
	PreAllocate int
}

func (Cilium) System() string { return "cilium" }

func (s Cilium) Draft(d *Draft, c Cluster) error {
	switch {
	case len(s.Pools) == 0:
		return errors.New("no pool")
	case len(s.Pools) > 1 && !s.Multi:
		return fmt.Errorf("%d pools in mode cluster-pool, which has one", len(s.Pools))
	}
	// Pods that say nothing are in their namespace's pool; without one they are expected in the first.
	named := cmp.Or(s.Namespace, cilium.DefaultPool)
	main := max(slices.IndexFunc(s.Pools, func(p CiliumPool) bool { return p.Name == named }), 0)
	for i, p := range s.Pools {
		if err := s.pool(d, c, p, i == main); err != nil {
			return err
		}
	}
	s.Fabric.Draft(d)
	d.refusal = s.refused()
	return nil
}

// refused is what the operator itself says against the pools.
func (s Cilium) refused() error {
	if !s.Multi {
		p := s.Pools[0].PoolSpec
		_, err := cilium.NewClusterPool(cilium.ClusterPoolConfig{IPv4: p.IPv4, IPv6: p.IPv6, MaskSize4: p.MaskSize4, MaskSize6: p.MaskSize6})
		return err
	}
	o, err := cilium.NewPoolOperator(cilium.PoolOperatorConfig{})
	if err != nil {
		return err
	}
	for _, p := range s.Pools {
		spec := p.PoolSpec
		spec.MaskSize4 = cmp.Or(spec.MaskSize4, cilium.DefaultClusterPoolIPv4MaskSize)
		spec.MaskSize6 = cmp.Or(spec.MaskSize6, cilium.DefaultClusterPoolIPv6MaskSize)
		if err := o.UpsertPool(p.Name, spec); err != nil {
			return err
		}
	}
	return nil
}

// half is the ranges of one family of a pool.
type half struct {
	name, key string
	ranges    []netip.Prefix
	bits      int
	// parts is how many CIDRs there are, each how many pods one is enough for.
	parts, each uint64
}

func (h half) String() string {
	return fmt.Sprintf("%s, %s of /%d", h.name, plural(h.parts, "CIDR"), h.bits)
}

func (s Cilium) pool(d *Draft, c Cluster, p CiliumPool, main bool) error {
	halves := []half{
		{name: "clusterPoolIPv4PodCIDRList", key: "clusterPoolIPv4MaskSize", ranges: p.IPv4, bits: p.MaskSize4},
		{name: "clusterPoolIPv6PodCIDRList", key: "clusterPoolIPv6MaskSize", ranges: p.IPv6, bits: p.MaskSize6},
	}
	pods := uint64(countMax)
	for i, h := range halves {
		if len(h.ranges) == 0 {
			continue
		}
		if h.bits == 0 {
			h.bits = [...]int{cilium.DefaultClusterPoolIPv4MaskSize, cilium.DefaultClusterPoolIPv6MaskSize}[i]
		}
		if s.Multi {
			h.name, h.key = "pool "+p.Name, "pool "+p.Name+" maskSize"
		}
		if p.Name == cilium.DefaultPool {
			h.name, h.key = cmp.Or(s.Keys.Range, h.name), cmp.Or(s.Keys.Length, h.key)
		}
		if err := s.split(d, &h); err != nil {
			return err
		}
		if s.Multi {
			s.shared(d, c, p, h, main)
		} else {
			s.owned(d, h)
		}
		pods = min(pods, times(h.parts, h.each))
	}
	if len(p.IPv4)+len(p.IPv6) == 0 {
		return fmt.Errorf("pool %q has no ranges", p.Name)
	}
	if s.Multi {
		d.podsKnown, d.Pods = true, plus(d.Pods, pods)
	}
	return nil
}

// split adds the ranges of one family and counts its CIDRs.
func (s Cilium) split(d *Draft, h *half) error {
	for _, prefix := range h.ranges {
		r := Range{Name: h.name, Prefix: space.Normal(prefix), Purpose: "pods", OneNode: h.bits, use: usePods}
		if !r.Prefix.IsValid() {
			return fmt.Errorf("%s: a range is empty", h.name)
		}
		r.Parts = splitInto(d, h.key, r, 1, 1)
		if r.Parts > 0 && h.bits-r.Prefix.Bits() > widthMax {
			d.Find(ruleSplit, Error, fmt.Sprintf("%s %d", h.key, h.bits), fmt.Sprintf("%s would have more than 2^%d parts", r, widthMax), "give a shorter length")
			r.Parts = 0
		}
		d.Ranges = append(d.Ranges, r)
		h.parts = plus(h.parts, r.Parts)
	}
	if h.parts == 0 {
		return nil
	}
	one := h.one()
	h.each = s.fit(one)
	if h.each == 0 {
		d.Find(ruleSplit, Error, fmt.Sprintf("%s %d", h.key, h.bits), "the reserved addresses of a CIDR leave none for pods", "give a shorter length")
	}
	if space.Count(one) > cilium.RangeSize(one) {
		d.Notes = append(d.Notes, fmt.Sprintf("of an IPv6 CIDR of /%d Cilium uses the first %d addresses", h.bits, cilium.RangeSize(one)))
	}
	d.Reserve(h.name, "first, last, router's and other kept addresses of the CIDR", s.reserved(one), "node")
	return nil
}

// widthMax is how many times a range may be halved (ipam/space).
const widthMax = 63

// one is a prefix as long as a CIDR of h.
func (h half) one() netip.Prefix {
	first := space.Normal(h.ranges[0])
	return netip.PrefixFrom(first.Addr(), max(h.bits, first.Bits()))
}

// owned adds the limits of mode cluster-pool.
func (s Cilium) owned(d *Draft, h half) {
	d.Node(h.String(), h.parts, "one CIDR each")
	why := "no CIDR has an address for a pod"
	if h.each > 0 {
		why = fmt.Sprintf("a /%d without %d reserved addresses", h.bits, s.reserved(h.one()))
	}
	d.Pod("CIDR of "+h.name, h.each, why)
}

// shared adds the limits of a pool of which a node takes as many CIDRs as its pods need. Pods are expected in
// the main pool alone.
func (s Cilium) shared(d *Draft, c Cluster, p CiliumPool, h half, main bool) {
	if h.each == 0 {
		d.Node(h.String(), 0, "no CIDR has an address for a pod")
		if main {
			d.Pod(h.name, 0, "no CIDR has an address for a pod")
		}
		return
	}
	pods := uint64(0)
	if main {
		pods = min(c.PodsPerNode, ciliumNumberMax)
	}
	// The operator counts kept addresses as good for pods, so a node asks for them too; more CIDRs keep more.
	kept := s.kept(h.one())
	operators := h.each + kept
	cidrs, needed := uint64(0), uint64(0)
	for {
		needed = uint64(cilium.NeededIPCeil(int(pods+cidrs*kept), p.PreAllocate))
		if n := (needed + operators - 1) / operators; n > cidrs {
			cidrs = n
			continue
		}
		break
	}
	if cidrs > 0 {
		d.Node(h.String(), h.parts/cidrs, fmt.Sprintf("%s each for the %d addresses that %s and pre-allocation %d ask for",
			plural(cidrs, "CIDR"), needed, plural(pods, "pod"), p.PreAllocate))
	} else {
		d.Node(h.String(), countMax, "no CIDR as long as no pod asks for this pool")
	}
	switch {
	case !main:
		d.Notes = append(d.Notes, fmt.Sprintf("%s has %s, for pods that name it", h.name, plural(times(h.parts, h.each), "address")))
	case c.Nodes > 0:
		d.Pod(h.name, times(h.parts/c.Nodes, h.each), "an equal share of its CIDRs for "+plural(c.Nodes, "node"))
	default:
		d.Pod(h.name, times(h.parts, h.each), "one node may have the whole pool")
	}
}

// ciliumNumberMax bounds the pods of a request, which is an int32 in the resource.
const ciliumNumberMax = 1 << 30

// kept is how many addresses of a node's CIDR are kept in mode multi-pool.
func (s Cilium) kept(one netip.Prefix) uint64 {
	if s.Outside && one.Addr().Is4() && cilium.Small(one) {
		return 0
	}
	return uint64(max(s.Kept, 0))
}

// reserved is how many addresses of a CIDR no pod gets.
func (s Cilium) reserved(one netip.Prefix) uint64 { return less(cilium.RangeSize(one), s.fit(one)) }

// fit is how many pods of a node's CIDR get an address. In mode multi-pool the router's is an ordinary request.
func (s Cilium) fit(one netip.Prefix) uint64 {
	n := cilium.RangeSize(one)
	if space.HostBits(one) >= 2 {
		n -= 2
	}
	if s.Multi {
		return less(n, s.kept(one))
	}
	return less(n, uint64(max(s.Kept, 0))+1)
}
