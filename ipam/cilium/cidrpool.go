package cilium

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// CIDRPool hands out the addresses of the CIDRs that a node holds of one pool and family, CIDR after CIDR in the order in
// which they came.
//
// A CIDR that is given back stays attached until the operator no longer shows it; until that has been told it can be reclaimed. A CIDR
// that vanishes while addresses of it are in use drains: it gives out no more, and is gone with its last address.
type CIDRPool struct {
	o      RangeOptions
	pick   Picker
	active []*CIDRRange
	// draining CIDRs are shown no more but in use.
	draining []*CIDRRange
	// released CIDRs are given back but still shown.
	released []releasedCIDR
	excluded []netip.Prefix
}

// NewCIDRPool returns a pool without CIDRs.
func NewCIDRPool(o RangeOptions, pick Picker) *CIDRPool { return &CIDRPool{o: o, pick: pick} }

// UpdatePool makes cidrs what the operator shows. It is refused, and changes nothing, when two of them overlap. Released
// ones that are still shown stay released; a shown one that drained gives out addresses again.
func (p *CIDRPool) UpdatePool(cidrs []netip.Prefix) error {
	shown, err := normalPrefixes(cidrs)
	if err != nil {
		return err
	}
	for i, c := range shown {
		for _, earlier := range shown[:i] {
			if c.Overlaps(earlier) {
				return fmt.Errorf("CIDR %s overlaps %s", c, earlier)
			}
		}
	}
	var fresh []*CIDRRange
	for _, c := range shown {
		if indexOf(p.active, c) >= 0 || p.isReleased(c) || indexOf(p.draining, c) >= 0 {
			continue
		}
		r, err := p.newRange(c)
		if err != nil {
			return err
		}
		fresh = append(fresh, r)
	}
	p.released = slices.DeleteFunc(p.released, func(r releasedCIDR) bool { return !slices.Contains(shown, r.cidr) })
	p.retire(shown)
	for _, c := range shown {
		if at := indexOf(p.draining, c); at >= 0 {
			fresh = append(fresh, p.draining[at])
			p.draining = slices.Delete(p.draining, at, at+1)
		}
	}
	p.active = append(p.active, fresh...)
	p.crossExclude()
	return nil
}

// retire moves active CIDRs that are not shown to the draining ones, or drops those without addresses in use.
func (p *CIDRPool) retire(shown []netip.Prefix) {
	p.active = slices.DeleteFunc(p.active, func(r *CIDRRange) bool {
		if slices.Contains(shown, r.CIDR()) {
			return false
		}
		if r.Used() > 0 {
			p.draining = append(p.draining, r)
		}
		return true
	})
}

// crossExclude keeps active CIDRs from giving out what is in use in a draining one that they overlap.
func (p *CIDRPool) crossExclude() {
	for _, old := range p.draining {
		for _, r := range p.active {
			if r.CIDR().Overlaps(old.CIDR()) {
				for ip := range old.All() {
					// An error can only mean that r never gives ip out.
					_ = r.Allocate(ip)
				}
			}
		}
	}
}

func (p *CIDRPool) newRange(c netip.Prefix) (*CIDRRange, error) {
	r, err := NewCIDRRange(c, p.o, p.pick)
	if err != nil {
		return nil, err
	}
	for _, x := range p.excluded {
		r.Exclude(x)
	}
	return r, nil
}

func indexOf(list []*CIDRRange, c netip.Prefix) int {
	return slices.IndexFunc(list, func(r *CIDRRange) bool { return r.CIDR() == c })
}

// Exclude keeps addresses of x from being picked, in CIDRs that come later too.
func (p *CIDRPool) Exclude(x netip.Prefix) {
	x = space.Normal(x)
	if !x.IsValid() || slices.Contains(p.excluded, x) {
		return
	}
	p.excluded = append(p.excluded, x)
	for _, r := range slices.Concat(p.active, p.draining) {
		r.Exclude(x)
	}
}

// Capacity is how many addresses could be given out now.
func (p *CIDRPool) Capacity() (n uint64) {
	for _, r := range p.active {
		n += r.Free()
	}
	return n
}

// Used is how many addresses are in use.
func (p *CIDRPool) Used() (n uint64) {
	for _, r := range p.active {
		n += r.Used()
	}
	for _, r := range p.draining {
		for ip := range r.All() {
			if !slices.ContainsFunc(p.active, func(a *CIDRRange) bool { return a.Has(ip) }) {
				n++
			}
		}
	}
	return n
}

// Has reports whether ip is in use.
func (p *CIDRPool) Has(ip netip.Addr) bool {
	return slices.ContainsFunc(p.active, func(r *CIDRRange) bool { return r.Has(ip) }) ||
		slices.ContainsFunc(p.draining, func(r *CIDRRange) bool { return r.Has(ip) })
}

// Allocate takes exactly ip out of an active CIDR. The error is a NotInRangeError or ErrAllocated.
func (p *CIDRPool) Allocate(ip netip.Addr) error {
	err := error(NotInRangeError{})
	for _, r := range p.active {
		if r.CIDR().Contains(space.NormalAddr(ip)) {
			return r.Allocate(ip)
		}
		err = NotInRangeError{ValidRange: r.CIDR()}
	}
	return err
}

// AllocateNext takes a free address, or returns ErrFull.
func (p *CIDRPool) AllocateNext() (netip.Addr, error) {
	for _, r := range p.active {
		if ip, err := r.AllocateNext(); err == nil {
			return ip, nil
		}
	}
	return netip.Addr{}, ErrFull
}

// Release frees ip and reports whether it was in use.
func (p *CIDRPool) Release(ip netip.Addr) bool {
	done := false
	for _, r := range p.active {
		done = r.Release(ip) || done
	}
	for _, r := range p.draining {
		done = r.Release(ip) || done
	}
	p.draining = slices.DeleteFunc(p.draining, func(r *CIDRRange) bool { return r.Used() == 0 })
	return done
}

// InUseCIDRs lists the CIDRs that the node keeps: active ones in their order, then draining ones.
func (p *CIDRPool) InUseCIDRs() []netip.Prefix {
	list := make([]netip.Prefix, 0, len(p.active)+len(p.draining))
	for _, r := range p.active {
		list = append(list, r.CIDR())
	}
	for _, r := range p.draining {
		list = append(list, r.CIDR())
	}
	return list
}

// dump lists the addresses in use in ascending order and says how full the pool is.
func (p *CIDRPool) dump() (ips []netip.Addr, status string) {
	for _, r := range p.active {
		ips = slices.AppendSeq(ips, r.All())
	}
	for _, r := range p.draining {
		ips = slices.AppendSeq(ips, r.All())
	}
	slices.SortFunc(ips, netip.Addr.Compare)
	ips = slices.Compact(ips)
	return ips, fmt.Sprintf("%d/%d allocated from %d CIDRs", len(ips), uint64(len(ips))+p.Capacity(), len(p.active))
}
