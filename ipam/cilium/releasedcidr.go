package cilium

import (
	"fmt"
	"net/netip"
	"slices"
)

// releasedCIDR is a CIDR that was given back. Once that has been told, it is the operator's, whatever an older view
// shows.
type releasedCIDR struct {
	cidr netip.Prefix
	// tellings is how many publications left the CIDR out; only the last can turn out to have failed.
	tellings int
}

// ReleaseExcessCIDRs gives back CIDRs without addresses in use, the last first, as long as those that stay have at
// least neededIPs addresses, in use or not; when they have fewer, it reclaims CIDRs that were given back without
// anybody being told, the last first.
func (p *CIDRPool) ReleaseExcessCIDRs(neededIPs int) {
	active, have := p.active(), size(p.ledger, anyBlock)
	for i := len(p.released) - 1; i >= 0 && have < uint64(max(neededIPs, 0)); i-- {
		if p.released[i].tellings == 0 {
			cidr := p.released[i].cidr
			p.released = slices.Delete(p.released, i, i+1)
			active = append(active, cidr)
			_, size := usable(cidr, p.options)
			have += size
		}
	}
	p.mustSetActive(active)
	excess := excess(p.ledger, neededIPs, anyBlock)
	for _, cidr := range excess {
		p.released = append(p.released, releasedCIDR{cidr: cidr})
	}
	p.mustSetActive(slices.DeleteFunc(active, func(c netip.Prefix) bool { return slices.Contains(excess, c) }))
}

// mustSetActive is setActive for CIDRs that were in the pool before and are shown together.
func (p *CIDRPool) mustSetActive(cidrs []netip.Prefix) {
	if err := p.setActive(cidrs); err != nil {
		panic(fmt.Sprintf("cilium: CIDRs %v were in the pool before: %v", cidrs, err))
	}
}

// Told says that InUseCIDRs is being published: what it leaves out cannot be reclaimed any more.
func (p *CIDRPool) Told() {
	for i := range p.released {
		p.released[i].tellings++
	}
}

// Untold says that the last publication has certainly failed.
func (p *CIDRPool) Untold() {
	for i := range p.released {
		p.released[i].tellings = max(p.released[i].tellings-1, 0)
	}
}

// ReleasedCIDRs lists CIDRs that are given back but still shown, oldest first.
func (p *CIDRPool) ReleasedCIDRs() []netip.Prefix {
	list := make([]netip.Prefix, len(p.released))
	for i, r := range p.released {
		list[i] = r.cidr
	}
	return list
}

func (p *CIDRPool) isReleased(c netip.Prefix) bool {
	return slices.ContainsFunc(p.released, func(r releasedCIDR) bool { return r.cidr == c })
}
