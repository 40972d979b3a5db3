package plan

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam/datastore"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// What AWS keeps of each subnet: the first four addresses and the last (VPC user guide, "Subnet sizing"), and how large
// one is.
const (
	subnetReservedFirst = 4
	subnetReserved      = 5
	subnetBitsMin       = 16
	subnetBitsMax       = 28
)

// subnet is an EC2 subnet of which single addresses are taken from the lower end and prefixes from the upper one, as
// long as nobody gives anything back.
type subnet struct {
	name   string
	prefix netip.Prefix
	taken  *space.Bitmap
	// high is the end of the addresses in which a whole /28 may be free.
	high uint64
}

// newSubnet adds a range; nil, with a finding, when EC2 has no such subnets. Only usable parts are free, all of it when
// there are none.
func newSubnet(d *Draft, name, purpose string, p netip.Prefix, usable []netip.Prefix) (*subnet, error) {
	if !p.IsValid() {
		return nil, errors.New(name + " has no prefix")
	}
	d.Ranges = append(d.Ranges, Range{Name: name, Prefix: p, Purpose: purpose, use: useNodes, fixed: true})
	if !p.Addr().Is4() || p.Bits() < subnetBitsMin || p.Bits() > subnetBitsMax {
		d.Find(ruleSubnet, Error, name+" "+p.String(), "EC2 has no such subnets", fmt.Sprintf("give IPv4, /%d to /%d", subnetBitsMin, subnetBitsMax))
		return nil, nil
	}
	d.Reserve(name+" "+p.String(), "first four addresses and the last, kept by AWS", subnetReserved, "cluster")
	size := space.Count(p)
	s := &subnet{name: name, prefix: p, taken: space.NewBitmap(size), high: size}
	if len(usable) > 0 {
		s.taken.SetRange(0, size-1)
		for _, u := range usable {
			if first, ok := space.Index(p, u.Addr()); ok && space.Contains(p, u) {
				s.taken.ClearRange(first, first+space.Count(u)-1)
			}
		}
		d.Reserve(name+" "+p.String(), "addresses that somebody else has", s.taken.Count(), "cluster")
	}
	s.taken.SetRange(0, subnetReservedFirst-1)
	s.taken.Set(size - 1)
	return s, nil
}

// take marks what others have.
func (s *subnet) take(d *Draft, list []netip.Prefix) {
	before := s.taken.Count()
	for _, p := range list {
		if first, ok := space.Index(s.prefix, p.Addr()); ok && space.Contains(s.prefix, p) {
			s.taken.SetRange(first, first+space.Count(p)-1)
		}
	}
	d.Reserve(s.name+" "+s.prefix.String(), "addresses that others have", s.taken.Count()-before, "cluster")
}

// address takes the lowest free address.
func (s *subnet) address() bool {
	i, ok := s.taken.NextClear(0)
	return ok && s.taken.Set(i)
}

// block takes the highest /28 that is free as a whole.
func (s *subnet) block() bool {
	const n = datastore.DelegatedIPs
	for ; s.high >= n; s.high -= n {
		if s.whole(s.high) {
			s.taken.SetRange(s.high-n, s.high-1)
			s.high -= n
			return true
		}
	}
	return false
}

// without counts what is free but for so many single addresses: as addresses, and as whole /28.
func (s *subnet) without(addresses int) (free, blocks uint64) {
	var took []uint64
	for range addresses {
		i, ok := s.taken.NextClear(0)
		if !ok {
			break
		}
		s.taken.Set(i)
		took = append(took, i)
	}
	free, blocks = s.taken.Size()-s.taken.Count(), s.blocks()
	for _, i := range took {
		s.taken.Clear(i)
	}
	return free, blocks
}

// whole reports whether the /28 that ends before an index is free.
func (s *subnet) whole(end uint64) bool {
	next, ok := s.taken.NextSet(end - datastore.DelegatedIPs)
	return !ok || next >= end
}

// blocks is how many /28 are free as a whole.
func (s *subnet) blocks() (n uint64) {
	for end := s.high; end >= datastore.DelegatedIPs; end -= datastore.DelegatedIPs {
		if s.whole(end) {
			n++
		}
	}
	return n
}
