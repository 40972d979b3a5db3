package ec2

import (
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// Subnet is the addresses that instances share. AWS keeps the first four and the last of them for itself.
type Subnet struct {
	prefix netip.Prefix
	taken  *space.Bitmap
	// rotates: single addresses go on behind next, so that what was given back comes again late.
	rotates bool
	next    uint64
	// prefix6 is the /64 of the second family, if there is one; taken6 has its /80 prefixes.
	prefix6 netip.Prefix
	taken6  *space.Bitmap
}

// Rotate makes single addresses come in turn instead of the lowest first.
func (s *Subnet) Rotate() { s.rotates = true }

const (
	reservedFirst = 4
	delegatedBits = 28
	delegated     = 1 << (32 - delegatedBits)
	// Of the second family a subnet is a /64, and what it delegates is a /80.
	subnet6Bits    = 64
	delegated6Bits = 80
)

// NewSubnet returns a subnet of which only AWS' own addresses are taken. The prefix must be IPv4, /16 to /28.
func NewSubnet(prefix netip.Prefix) *Subnet {
	if p := space.Normal(prefix); !p.IsValid() || !p.Addr().Is4() || p.Bits() < 16 || p.Bits() > 28 {
		panic("ec2: " + prefix.String() + " can be no subnet: want IPv4 from /16 to /28")
	}
	s := &Subnet{prefix: space.Normal(prefix)}
	s.taken = space.NewBitmap(space.Count(s.prefix))
	s.taken.SetRange(0, reservedFirst-1)
	s.taken.Set(s.taken.Size() - 1)
	return s
}

// Add6 gives the subnet a /64 of IPv6, whose first /80 is kept for single addresses.
func (s *Subnet) Add6(prefix netip.Prefix) {
	if p := space.Normal(prefix); !p.IsValid() || !p.Addr().Is6() || p.Bits() != subnet6Bits {
		panic("ec2: " + prefix.String() + " can be no IPv6 range of a subnet: want a /64")
	}
	s.prefix6 = space.Normal(prefix)
	s.taken6 = space.NewBitmap(1 << (delegated6Bits - subnet6Bits))
	s.taken6.Set(0)
}

// Free is the number of unassigned addresses.
func (s *Subnet) Free() int { return int(s.taken.Size() - s.taken.Count()) }

// Occupy takes an address for another user of the subnet; false when it is taken.
func (s *Subnet) Occupy(a netip.Addr) bool {
	i, ok := space.Index(s.prefix, a)
	return ok && s.taken.Set(i)
}

// Vacate gives back what Occupy took, and nothing else.
func (s *Subnet) Vacate(a netip.Addr) {
	if s.prefix.Contains(a) {
		s.release(netip.PrefixFrom(a, a.BitLen()))
	}
}

// address takes the lowest free address, or the next one in turn.
func (s *Subnet) address() (netip.Prefix, bool) {
	i, ok := s.taken.NextClear(s.next)
	if !ok {
		if i, ok = s.taken.NextClear(0); !ok {
			return netip.Prefix{}, false
		}
	}
	s.taken.Set(i)
	if s.rotates {
		s.next = i + 1
	}
	return s.unit(i, 32), true
}

// block takes the highest free aligned /28, so that single addresses leave room for it as long as possible.
func (s *Subnet) block() (netip.Prefix, bool) {
	for start := s.taken.Size(); start >= delegated; start -= delegated {
		first := start - delegated
		if next, ok := s.taken.NextSet(first); !ok || next >= start {
			s.taken.SetRange(first, start-1)
			return s.unit(first, delegatedBits), true
		}
	}
	return netip.Prefix{}, false
}

func (s *Subnet) unit(index uint64, bits int) netip.Prefix {
	a, err := space.Nth(s.prefix, index)
	if err != nil {
		panic(err)
	}
	return netip.PrefixFrom(a, bits)
}

func (s *Subnet) release(p netip.Prefix) {
	i, ok := space.Index(s.prefix, p.Addr())
	if n := space.Count(p); !ok || s.taken.ClearRange(i, i+n-1) != n {
		// it would lack addresses indefinitely
		panic("ec2: " + p.String() + " is given back to " + s.prefix.String() + ", which has not given all of it")
	}
}

// block6 takes the lowest free /80.
func (s *Subnet) block6() (netip.Prefix, bool) {
	if s.taken6 == nil {
		return netip.Prefix{}, false
	}
	i, ok := s.taken6.NextClear(0)
	if !ok {
		return netip.Prefix{}, false
	}
	s.taken6.Set(i)
	raw := s.prefix6.Addr().As16()
	raw[8], raw[9] = byte(i>>8), byte(i)
	return netip.PrefixFrom(netip.AddrFrom16(raw), delegated6Bits), true
}

func (s *Subnet) release6(p netip.Prefix) {
	raw := p.Addr().As16()
	if !s.taken6.Clear(uint64(raw[8])<<8 | uint64(raw[9])) {
		panic("ec2: " + p.String() + " is given back to " + s.prefix6.String() + ", which has not given it")
	}
}
