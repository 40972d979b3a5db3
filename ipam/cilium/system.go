package cilium

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// poolSystem is what Cilium decides on its own about a node's blocks.
type poolSystem struct {
	pick    Picker
	options RangeOptions
	// excluded are not picked, but who asks for one gets it.
	excluded *[]netip.Prefix
}

// system is a poolSystem whose blocks have routers.
type system struct {
	pick Picker
	hold func(block netip.Prefix) []netip.Addr
	// avoid are not given out, and restored all the same; nil for none.
	avoid func(block netip.Prefix) []netip.Addr
	// outside is the gateway of blocks without room for one, invalid where such are refused.
	outside netip.Addr
	// routerLabel is the decision where a router's search starts, "" for the first address.
	routerLabel string
}

var (
	_ ipam.System = system{}
	_ ipam.Router = system{}
	_ ipam.System = poolSystem{}
)

// Small reports whether a block has so few addresses, fewer than 16, that first, last, router's and kept one leave few or
// none for pods: see NodeConfig.Outside.
func Small(block netip.Prefix) bool { return space.HostBits(block) < 4 }

// bare reports whether a block has neither a router nor kept addresses.
func (s system) bare(prefix netip.Prefix) bool {
	return s.outside.IsValid() && s.outside.Is4() == prefix.Addr().Is4() && Small(prefix)
}

// Gateway implements ipam.System: Router picks it, or it is outside.
func (s system) Gateway(prefix netip.Prefix) (netip.Addr, error) {
	if s.bare(prefix) {
		return s.outside, nil
	}
	if _, size := usable(prefix, RangeOptions{}); size < 2 {
		return netip.Addr{}, errors.New("no room for a router and a pod")
	}
	return netip.Addr{}, nil
}

// Own implements ipam.System.
func (s system) Own(b *ipam.AddressBlock) (kept, edges []netip.Addr) {
	if s.hold != nil && !s.bare(b.Prefix) {
		for _, a := range s.hold(b.Prefix) {
			kept = append(kept, space.NormalAddr(a))
		}
	}
	if b.Prefix.Contains(b.Gateway) {
		kept = append(kept, b.Gateway)
	}
	if skip, _ := usable(b.Prefix, RangeOptions{}); skip > 0 {
		edges = []netip.Addr{b.Prefix.Addr(), space.Last(b.Prefix)}
	}
	return kept, edges
}

// Fill implements ipam.System.
func (s system) Fill(b *ipam.AddressBlock) ipam.Addresses {
	a := poolSystem{pick: s.pick}.fill(b.Prefix)
	kept, _ := s.Own(b)
	for at, addr := range kept {
		if _, inside := a.offset(addr); inside && !slices.Contains(kept[:at], addr) {
			a.kept++
		}
	}
	if s.avoid != nil && !s.bare(b.Prefix) {
		for _, addr := range s.avoid(b.Prefix) {
			if _, inside := a.offset(addr); inside && !slices.Contains(kept, addr) && !slices.Contains(a.avoided, addr) {
				a.avoided = append(a.avoided, addr)
				a.Exclude(netip.PrefixFrom(addr, addr.BitLen()))
				a.kept++
			}
		}
	}
	return a
}

// Router implements ipam.Router.
func (s system) Router(a ipam.Addresses) (netip.Addr, bool) {
	r := a.(*addresses)
	if s.routerLabel == "" {
		return r.open(0)
	}
	return r.peek(s.routerLabel)
}

// Gateway implements ipam.System: a CIDR of a pool has none.
func (s poolSystem) Gateway(prefix netip.Prefix) (netip.Addr, error) {
	_, err := NewCIDRRange(prefix, s.options, s.pick)
	return netip.Addr{}, err
}

// Own implements ipam.System.
func (s poolSystem) Own(*ipam.AddressBlock) (kept, edges []netip.Addr) { return nil, nil }

// Fill implements ipam.System.
func (s poolSystem) Fill(b *ipam.AddressBlock) ipam.Addresses { return s.fill(b.Prefix) }

func (s poolSystem) fill(cidr netip.Prefix) *addresses {
	r, err := NewCIDRRange(cidr, s.options, s.pick)
	if err != nil {
		panic(fmt.Sprintf("cilium: block %s was checked: %v", cidr, err))
	}
	if s.excluded != nil {
		for _, x := range *s.excluded {
			r.Exclude(x)
		}
	}
	return &addresses{CIDRRange: r}
}

// addresses is a CIDRRange as a ledger's blocks have it.
type addresses struct {
	*CIDRRange
	kept     uint64 // addresses that the block itself keeps
	reserved []netip.Addr
	avoided  []netip.Addr // excluded; Restore takes them
}

// Allocate implements ipam.Addresses.
func (a *addresses) Allocate(time.Time) (netip.Addr, bool) {
	ip, err := a.AllocateNext()
	return ip, err == nil
}

// Take implements ipam.Addresses.
func (a *addresses) Take(_ time.Time, ip netip.Addr) error {
	if slices.Contains(a.avoided, ip) && !a.Has(ip) {
		return space.ErrReserved
	}
	return a.Restore(ip)
}

// Restore implements ipam.Addresses.
func (a *addresses) Restore(ip netip.Addr) error {
	if slices.Contains(a.reserved, ip) && !a.Has(ip) {
		return space.ErrReserved
	}
	switch err := a.CIDRRange.Allocate(ip); {
	case err == nil:
		return nil
	case errors.Is(err, ErrAllocated):
		return space.ErrHeld
	}
	return space.ErrOutside
}

// Release implements ipam.Addresses.
func (a *addresses) Release(_ time.Time, ip netip.Addr) bool { return a.CIDRRange.Release(ip) }

// Reserve implements ipam.Addresses.
func (a *addresses) Reserve(ip netip.Addr) bool {
	if _, inside := a.offset(ip); !inside || a.Has(ip) {
		return false
	}
	a.reserved = append(a.reserved, ip)
	a.Exclude(netip.PrefixFrom(ip, ip.BitLen()))
	return true
}

// Holds implements ipam.Addresses.
func (a *addresses) Holds(ip netip.Addr) bool { return a.Has(ip) }

// Capacity implements ipam.Addresses. It is what the block holds when no other block takes part of it.
func (a *addresses) Capacity() uint64 { return a.Max() - a.kept }

// Free implements ipam.Addresses.
func (a *addresses) Free(time.Time) uint64 { return a.CIDRRange.Free() }

// excess lists active blocks that a node can give back and still have needed addresses: without leases, the last one
// first, and never all of them while needed is above 0. The operator gives blocks only when those of the node do not
// have needed addresses, so the two never fight over one.
func excess(l *ipam.BlockLedger, needed int, of func(block netip.Prefix) bool) []netip.Prefix {
	var excess []netip.Prefix
	have := size(l, of)
	for _, b := range slices.Backward(l.Active()) {
		if !of(b.Prefix) {
			continue
		}
		if n := b.Own.(*addresses).Max(); b.Leases() == 0 && have-n >= uint64(max(needed, 0)) {
			have -= n
			excess = append(excess, b.Prefix)
		}
	}
	return excess
}

// size is how many addresses the active blocks have, as the operator counts them.
func size(l *ipam.BlockLedger, of func(block netip.Prefix) bool) (n uint64) {
	for _, b := range l.Active() {
		if of(b.Prefix) {
			n += b.Own.(*addresses).Max()
		}
	}
	return n
}

// anyBlock is for ledgers of one pool.
func anyBlock(netip.Prefix) bool { return true }
