package ec2

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"time"
)

// ENI is a network interface. Values are copies.
type ENI struct {
	ID             string
	Device         int
	Primary, Trunk bool
	// Address is the ENI's own; Units are the secondary addresses (/32) and delegated prefixes, ascending.
	Address netip.Addr
	Units   []netip.Prefix
	// Prefixes6 are the delegated IPv6 prefixes, /80, ascending.
	Prefixes6 []netip.Prefix
	Tags      map[string]string

	subnet *Subnet
	// from is when it is attached, for the metadata service.
	from time.Time
}

func (e ENI) clone() ENI {
	e.Units, e.Prefixes6, e.Tags = slices.Clone(e.Units), slices.Clone(e.Prefixes6), maps.Clone(e.Tags)
	return e
}

// give adds units of the ENI's subnet, or nothing at all. limit is how many addresses it may have, its own one included.
func (e *ENI) give(limit, units int, prefixes bool) error {
	if units < 0 {
		return &APIError{CodeInvalidQuantity, fmt.Sprint(units)}
	}
	if 1+len(e.Units)+units > limit {
		return &APIError{CodeTooManyIPs, fmt.Sprintf("%d on %s", limit, e.ID)}
	}
	take, code := e.subnet.address, CodeSubnetFull
	if prefixes {
		take, code = e.subnet.block, CodeNoBlock
	}
	got, ok := takeAll(units, take, e.subnet.release)
	if !ok {
		return &APIError{code, e.subnet.prefix.String()}
	}
	e.Units = append(e.Units, got...)
	slices.SortFunc(e.Units, netip.Prefix.Compare)
	return nil
}

// takeAll takes that many of a subnet's, or none.
func takeAll(n int, take func() (netip.Prefix, bool), release func(netip.Prefix)) (got []netip.Prefix, ok bool) {
	for range n {
		p, ok := take()
		if !ok {
			for _, q := range got {
				release(q)
			}
			return nil, false
		}
		got = append(got, p)
	}
	return got, true
}

// takeBack gives units back to the subnet, or nothing at all.
func (e *ENI) takeBack(units []netip.Prefix) error {
	for _, p := range units {
		if !slices.Contains(e.Units, p) {
			return &APIError{CodeNotAssigned, p.String() + " is not assigned to " + e.ID}
		}
	}
	e.Units = slices.DeleteFunc(e.Units, func(p netip.Prefix) bool { return slices.Contains(units, p) })
	for _, p := range units {
		e.subnet.release(p)
	}
	return nil
}

// releaseAll gives everything that the ENI has back to its subnet.
func (e *ENI) releaseAll() {
	for _, p := range append(e.Units, netip.PrefixFrom(e.Address, e.Address.BitLen())) {
		e.subnet.release(p)
	}
	for _, p := range e.Prefixes6 {
		e.subnet.release6(p)
	}
}

// fresh are the units that were not there before.
func fresh(units, before []netip.Prefix) []netip.Prefix {
	return slices.DeleteFunc(slices.Clone(units), func(p netip.Prefix) bool { return slices.Contains(before, p) })
}
