package cilium

import (
	"fmt"
	"net/netip"
	"slices"
)

// releasedCIDR is a CIDR that was given back. Once that has been told, it is the operator's, whatever an older view shows.
type releasedCIDR struct {
	cidr netip.Prefix
	// tellings is how many publications left the CIDR out; only the last can turn out to have failed.
	tellings int
}

// ReleaseExcessCIDRs gives back CIDRs without addresses in use, the last first, as long as at least neededIPs addresses can
// still be given out; when fewer can, it reclaims CIDRs that were given back without anybody being told, the last first.
// The operator adds CIDRs only when those in use do not fit any more, so the two never fight over one.
func (p *CIDRPool) ReleaseExcessCIDRs(neededIPs int) {
	needed, free := uint64(max(neededIPs, 0)), p.Capacity()
	for i := len(p.released) - 1; i >= 0 && free < needed; i-- {
		if p.released[i].tellings > 0 {
			continue
		}
		r, err := p.newRange(p.released[i].cidr)
		if err != nil {
			panic(fmt.Sprintf("cilium: CIDR %s was in the pool before: %v", p.released[i].cidr, err))
		}
		p.released = slices.Delete(p.released, i, i+1)
		p.active = append(p.active, r)
		p.crossExclude()
		free = p.Capacity()
	}
	for i := len(p.active) - 1; i >= 0; i-- {
		r := p.active[i]
		if r.Used() > 0 || free-r.Free() < needed {
			continue
		}
		free -= r.Free()
		p.released = append(p.released, releasedCIDR{cidr: r.CIDR()})
		p.active = slices.Delete(p.active, i, i+1)
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
