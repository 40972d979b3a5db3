package cilium

import (
	"errors"
	"net/netip"
	"slices"
)

const (
	// delegatedIPs is how many addresses a delegated prefix has (pkg/ipam/option, ENIPDBlockSizeIPv4).
	delegatedIPs = 16
	// noBlock is EC2's code where a subnet has too few whole /28 (pkg/aws/ec2, InsufficientPrefixesInSubnetStr).
	noBlock = "InsufficientCidrBlocks"
)

// Interface is what a node's interface has: single addresses and delegated prefixes, each of which takes one place.
type Interface struct {
	ID    string
	Units []netip.Prefix
}

// Placement decides on which of a node's interfaces it gets more addresses, and as what.
type Placement struct {
	Interfaces []Interface
	// Most is how many units an interface may have, Left how many addresses the subnet has left.
	Most, Left int
	// Prefixes: nodes get delegated prefixes (aws-enable-prefix-delegation).
	Prefixes bool
}

// Units are what one request to the cloud asks for: so many addresses, or prefixes, on an interface, or on a new one
// where it has no name.
type Units struct {
	Interface string
	Count     int
	Prefixes  bool
}

// Assign asks for count addresses, on the first interface with room for more than it has, and on a new one where there
// is none. It never asks for more than the addresses that are left, as EC2 gives all or none (pkg/aws/eni,
// PrepareIPAllocation); a new interface takes one for itself.
//
// With prefixes it asks for as many as have those addresses. Where the subnet has too few in one piece, it asks for
// single addresses instead, which then are beside prefixes, or make it a node of single addresses as long as an
// interface has nothing else (pkg/aws/eni, AllocateIPs, IsPrefixDelegated). Unlike Cilium it counts places, not
// addresses: there a single address beside prefixes lets requests go on for a prefix too many, without an end.
func (p Placement) Assign(count int, ask func(Units) error) error {
	u, room, left := Units{}, p.Most, max(p.Left-1, 1)
	for _, i := range p.Interfaces {
		if free := p.Most - len(i.Units); free > 0 {
			u.Interface, room, left = i.ID, free, max(p.Left, 1)
			break
		}
	}
	count = min(count, left)
	if p.Prefixes && p.delegated() {
		err := ask(Units{u.Interface, min(room, (count+delegatedIPs-1)/delegatedIPs), true})
		var coded interface{ ErrorCode() string }
		if !errors.As(err, &coded) || coded.ErrorCode() != noBlock {
			return err
		}
	}
	u.Count = min(room, count)
	return ask(u)
}

// delegated reports whether prefixes may come: every interface has some, or nothing at all.
func (p Placement) delegated() bool {
	return !slices.ContainsFunc(p.Interfaces, func(i Interface) bool {
		return len(i.Units) > 0 && !slices.ContainsFunc(i.Units, func(u netip.Prefix) bool { return !u.IsSingleIP() })
	})
}

// Singles are those of the interface's single addresses that are among ips. Delegated prefixes are never given back
// (pkg/aws/eni, PrepareIPRelease).
func (i Interface) Singles(ips []netip.Addr) (list []netip.Prefix) {
	for _, u := range i.Units {
		if u.IsSingleIP() && slices.Contains(ips, u.Addr()) {
			list = append(list, u)
		}
	}
	return list
}

// AddUnits adds the IPv4 addresses of an interface's units.
func (m AllocationMap) AddUnits(id string, units []netip.Prefix) {
	for _, u := range units {
		for _, a := range AddressesOf(u) {
			m[a] = AllocationIP{Resource: id, delegated: !u.IsSingleIP()}
		}
	}
}

// AddressesOf are the IPv4 addresses of units, which are what nodes' pools have.
func AddressesOf(units ...netip.Prefix) (list []netip.Addr) {
	for _, u := range units {
		if !u.Addr().Is4() {
			continue
		}
		for a := u.Addr(); u.Contains(a); a = a.Next() {
			list = append(list, a)
		}
	}
	return list
}
