package cilium

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// CIDRPool hands out the addresses of the CIDRs that a node holds of one pool and family, CIDR after CIDR in the order
// in which they came. It is a Node's ledger without routers, under the names of upstream's pool, which knows addresses
// and no owners.
//
// A CIDR that is given back stays attached until the operator no longer shows it; until that has been told it can be
// reclaimed. A CIDR that vanishes while addresses of it are in use drains: it gives out no more, and is gone with its
// last address.
type CIDRPool struct {
	ledger  *ipam.BlockLedger
	options RangeOptions
	// excluded are not picked.
	excluded []netip.Prefix
	// owners are who holds an address in the ledger: each allocation is an owner of its own.
	owners map[netip.Addr]ipam.Owner
	given  uint64
	// released CIDRs are given back but still shown.
	released []releasedCIDR
}

// NewCIDRPool returns a pool without CIDRs.
func NewCIDRPool(o RangeOptions, pick Picker) *CIDRPool {
	p := &CIDRPool{options: o, owners: make(map[netip.Addr]ipam.Owner)}
	p.ledger = ipam.NewBlockLedger(ipam.BlockLedgerConfig{System: poolSystem{pick: pick, options: o, excluded: &p.excluded}})
	return p
}

// UpdatePool makes cidrs what the operator shows. It is refused, and changes nothing, when two of them overlap.
// Released ones that are still shown stay released; a shown one that drained gives out addresses again.
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
	active := slices.DeleteFunc(p.active(), func(c netip.Prefix) bool { return !slices.Contains(shown, c) })
	for _, c := range shown {
		if !slices.Contains(active, c) && !p.isReleased(c) {
			active = append(active, c)
		}
	}
	if err := p.setActive(active); err != nil {
		return err
	}
	p.released = slices.DeleteFunc(p.released, func(r releasedCIDR) bool { return !slices.Contains(shown, r.cidr) })
	return nil
}

// active lists the CIDRs that give out addresses, in their order.
func (p *CIDRPool) active() (list []netip.Prefix) {
	for _, b := range p.ledger.Active() {
		list = append(list, b.Prefix)
	}
	return list
}

func (p *CIDRPool) setActive(cidrs []netip.Prefix) error {
	_, err := p.ledger.SetBlocks(time.Time{}, cidrs)
	return err
}

// Exclude keeps addresses of x from being picked, in CIDRs that come later too.
func (p *CIDRPool) Exclude(x netip.Prefix) {
	x = space.Normal(x)
	if !x.IsValid() || slices.Contains(p.excluded, x) {
		return
	}
	p.excluded = append(p.excluded, x)
	for _, b := range p.ledger.Held() {
		b.Own.(*addresses).Exclude(x)
	}
}

// Capacity is how many addresses could be given out now.
func (p *CIDRPool) Capacity() uint64 {
	_, free := p.ledger.Capacity(time.Time{})
	return uint64(free)
}

// Used is how many addresses are in use.
func (p *CIDRPool) Used() uint64 { return uint64(p.ledger.Len()) }

// Has reports whether ip is in use.
func (p *CIDRPool) Has(ip netip.Addr) bool {
	_, used := p.owners[space.NormalAddr(ip)]
	return used
}

// Allocate takes exactly ip out of an active CIDR. The error is a NotInRangeError or ErrAllocated.
func (p *CIDRPool) Allocate(ip netip.Addr) error {
	if p.Has(ip) {
		return ErrAllocated
	}
	if _, err := p.take(ipam.Want{Addr: ip}); err != nil {
		var valid netip.Prefix
		for _, c := range p.active() {
			if valid = c; c.Contains(space.NormalAddr(ip)) {
				break
			}
		}
		return NotInRangeError{ValidRange: valid}
	}
	return nil
}

// AllocateNext takes a free address, or returns ErrFull.
func (p *CIDRPool) AllocateNext() (netip.Addr, error) {
	ip, err := p.take(ipam.Want{})
	if err != nil {
		return netip.Addr{}, ErrFull
	}
	return ip, nil
}

func (p *CIDRPool) take(w ipam.Want) (netip.Addr, error) {
	o := ipam.Owner{Network: "pool", ContainerID: strconv.FormatUint(p.given, 10), IfName: "ip"}
	l, _, err := p.ledger.Allocate(time.Time{}, o, w)
	if err != nil {
		return netip.Addr{}, err
	}
	p.given++
	p.owners[l.Addr] = o
	return l.Addr, nil
}

// Release frees ip and reports whether it was in use.
func (p *CIDRPool) Release(ip netip.Addr) bool {
	ip = space.NormalAddr(ip)
	o, used := p.owners[ip]
	delete(p.owners, ip)
	p.ledger.Release(time.Time{}, o)
	return used
}

// InUseCIDRs lists the CIDRs that the node keeps: active ones in their order, then draining ones.
func (p *CIDRPool) InUseCIDRs() []netip.Prefix {
	list := []netip.Prefix{}
	for _, b := range p.ledger.Blocks() {
		list = append(list, b.Prefix)
	}
	return list
}

// dump lists the addresses in use in ascending order and says how full the pool is.
func (p *CIDRPool) dump() (ips []netip.Addr, status string) {
	ips = sortedAddrs(p.owners)
	return ips, fmt.Sprintf("%d/%d allocated from %d CIDRs", len(ips), uint64(len(ips))+p.Capacity(), len(p.ledger.Active()))
}
