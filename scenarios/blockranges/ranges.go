package blockranges

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam/cilium"
	"github.com/vppdrill/vppdrill/ipam/nodeipam"
	"github.com/vppdrill/vppdrill/ipam/space"
	"github.com/vppdrill/vppdrill/scenarios"
)

// Ranges are those of one cluster at one time.
type Ranges struct {
	// hostBits are how many bits a block leaves to hosts, of IPv4 and of IPv6.
	hostBits [2]int
	// service and second are the ranges of services, of the first and the second family.
	service, second netip.Prefix
	// list is in order of creation.
	list []nodeipam.ClusterCIDR
	made int
}

// Start are the ranges that a plan starts with: those it names, or its pod subnet of each family.
func Start(plan scenarios.IPAM) ([]netip.Prefix, error) {
	p, err := plan.Plan()
	if err != nil {
		return nil, err
	}
	if len(plan.Ranges) > 0 {
		return slices.Clone(plan.Ranges), nil
	}
	var list []netip.Prefix
	for _, of := range p.Families() {
		list = append(list, of.PodSubnet)
	}
	return list, nil
}

// New returns the ranges of the start of a plan, which gives each node a block of each family that it has.
func New(plan scenarios.IPAM) (*Ranges, error) {
	p, err := plan.Plan()
	if err != nil {
		return nil, err
	}
	start, err := Start(plan)
	if err != nil {
		return nil, err
	}
	r := &Ranges{service: p.Service}
	for _, of := range p.Families() {
		r.hostBits[placeOf(of.PodSubnet)] = of.PodSubnet.Addr().BitLen() - of.PodSubnetOneNodePrefixLen
	}
	if p.Second != nil {
		r.second = p.Second.Service
	}
	if p.Second != nil && plan.System == scenarios.NodeIPAM { // one range of both, as nodes have a block of each
		c := r.Add(p.PodSubnet)
		c.IPv4, c.IPv6 = plan.PodSubnetCIDR.OfFamily(false), plan.PodSubnetCIDR.OfFamily(true)
		r.list[0] = c
		return r, nil
	}
	for _, prefix := range start {
		r.Add(prefix)
	}
	return r, nil
}

// placeOf is the place of a range's family in hostBits.
func placeOf(r netip.Prefix) int {
	if space.Normal(r).Addr().Is4() {
		return 0
	}
	return 1
}

// Add adds a range, and returns it as Kubernetes' ClusterCIDR, with a name that no other had.
func (r *Ranges) Add(p netip.Prefix) nodeipam.ClusterCIDR {
	r.made++
	c := nodeipam.ClusterCIDR{Name: fmt.Sprintf("range-%d", r.made), PerNodeHostBits: r.hostBits[placeOf(p)]}
	if space.Normal(p).Addr().Is4() {
		c.IPv4 = p
	} else {
		c.IPv6 = p
	}
	r.list = append(r.list, c)
	return c
}

// Remove takes a range away, and returns its name. The last one stays.
func (r *Ranges) Remove(p netip.Prefix) (name string, err error) {
	i := slices.IndexFunc(r.list, func(c nodeipam.ClusterCIDR) bool { return c.IPv4 == p || c.IPv6 == p })
	switch {
	case i < 0:
		return "", fmt.Errorf("there is no range %s", p)
	case len(r.list) == 1:
		return "", fmt.Errorf("range %s is the last one", p)
	}
	name = r.list[i].Name
	r.list = slices.Delete(r.list, i, i+1)
	return name, nil
}

// Restart makes the ranges those that a controller is started with again, and says which are new and which are gone.
func (r *Ranges) Restart(a scenarios.RestartController) (opened, closed []netip.Prefix) {
	if n := a.PodSubnetOneNodePrefixLen; n != 0 {
		within, _ := r.First()
		host := within.Addr().BitLen() - n // as many in both families
		r.hostBits = [2]int{host, host}
		for i := range r.list {
			r.list[i].PerNodeHostBits = host
		}
	}
	old, ranges := r.list, a.Ranges
	if len(ranges) == 0 {
		return nil, nil
	}
	r.list = nil
	for _, p := range ranges {
		r.Add(p)
	}
	among := func(list []nodeipam.ClusterCIDR, p netip.Prefix) bool {
		return slices.ContainsFunc(list, func(c nodeipam.ClusterCIDR) bool { return c.IPv4 == p || c.IPv6 == p })
	}
	for _, p := range ranges {
		if !among(old, p) {
			opened = append(opened, p)
		}
	}
	for _, c := range old {
		p := c.IPv4
		if !p.IsValid() {
			p = c.IPv6
		}
		if !among(r.list, p) {
			closed = append(closed, p)
		}
	}
	return opened, closed
}

// First is the first range, and how long a block of it is.
func (r *Ranges) First() (within netip.Prefix, bits int) {
	within = r.list[0].IPv4
	if !within.IsValid() {
		within = r.list[0].IPv6
	}
	return within, within.Addr().BitLen() - r.hostBits[placeOf(within)]
}

// Service is the range of services of the first family, invalid for none.
func (r *Ranges) Service() netip.Prefix { return r.service }

// Params are what Kubernetes' RangeAllocator is given.
func (r *Ranges) Params() nodeipam.CIDRAllocatorParams {
	return nodeipam.CIDRAllocatorParams{ServiceCIDR: r.service, SecondaryServiceCIDR: r.second, MultiCIDRs: slices.Clone(r.list)}
}

// Services are what Params say of services, for controllers that carve no ranges.
func (r *Ranges) Services() nodeipam.CIDRAllocatorParams {
	return nodeipam.CIDRAllocatorParams{ServiceCIDR: r.service, SecondaryServiceCIDR: r.second}
}

// Pool is what cilium-operator is given.
func (r *Ranges) Pool() cilium.PoolSpec {
	var p cilium.PoolSpec
	for _, c := range r.list {
		if c.IPv6.IsValid() {
			p.IPv6, p.MaskSize6 = append(p.IPv6, c.IPv6), c.IPv6.Addr().BitLen()-r.hostBits[1]
		} else {
			p.IPv4, p.MaskSize4 = append(p.IPv4, c.IPv4), c.IPv4.Addr().BitLen()-r.hostBits[0]
		}
	}
	return p
}

// WithServices is what is taken, and the ranges of services, which no block may overlap.
func (r *Ranges) WithServices(taken []netip.Prefix) []netip.Prefix {
	taken = slices.Clone(taken)
	for _, services := range [...]netip.Prefix{r.service, r.second} {
		if services.IsValid() {
			taken = append(taken, services)
		}
	}
	return taken
}

// Free reports whether there is a block of each family that overlaps nothing taken and no service. Where a range is of both, one range has
// both blocks.
func (r *Ranges) Free(taken []netip.Prefix) bool {
	taken = r.WithServices(taken)
	free := func(c nodeipam.ClusterCIDR) bool {
		for _, prefix := range [...]netip.Prefix{c.IPv4, c.IPv6} {
			if prefix.IsValid() && !HasFree(prefix, prefix.Addr().BitLen()-c.PerNodeHostBits, taken) {
				return false
			}
		}
		return true
	}
	var there, has [2]bool
	for _, c := range r.list {
		both := free(c)
		for k, prefix := range [...]netip.Prefix{c.IPv4, c.IPv6} {
			there[k] = there[k] || prefix.IsValid()
			has[k] = has[k] || prefix.IsValid() && both
		}
	}
	return there == has
}

// HasFree reports whether a range has a block of this length that overlaps nothing taken.
func HasFree(r netip.Prefix, bits int, taken []netip.Prefix) bool { return Left(r, bits, taken) > 0 }

// Left is how many blocks of this length a range has that overlap nothing taken, whose parts may overlap each other.
func Left(r netip.Prefix, bits int, taken []netip.Prefix) uint64 {
	r = space.Normal(r)
	left := blocksIn(r, bits)
	full := make(map[netip.Prefix]bool, len(taken))
	var wide []netip.Prefix // some blocks at once: a service range
	for _, p := range taken {
		switch p = space.Normal(p); {
		case !p.Overlaps(r):
		case p.Bits() <= r.Bits():
			return 0
		case p.Bits() < bits:
			wide = append(wide, p)
		default:
			full[netip.PrefixFrom(p.Addr(), bits).Masked()] = true
		}
	}
	slices.SortFunc(wide, func(a, b netip.Prefix) int { return cmp.Compare(a.Bits(), b.Bits()) })
	for i, p := range wide {
		if !slices.ContainsFunc(wide[:i], p.Overlaps) { // else it lies in that one
			left -= blocksIn(p, bits)
		}
	}
	for b := range full { //vppdrill:unordered it is a count
		if !slices.ContainsFunc(wide, b.Overlaps) {
			left--
		}
	}
	return left
}

// blocksIn is how many blocks of this length fit into a range, at most 2^63.
func blocksIn(r netip.Prefix, bits int) uint64 {
	if bits < r.Bits() || bits > r.Addr().BitLen() {
		return 0
	}
	return 1 << min(bits-r.Bits(), 63)
}
