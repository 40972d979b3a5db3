package cilium

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"time"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// AllocateNextFamily allocates an address of the family.
func (ipam *IPAM) AllocateNextFamily(family Family, owner string) (result *AllocationResult, err error) {
	defer ipam.lock()()
	if result, err = ipam.next(family, owner); err == nil {
		ipam.give(space.NormalAddr(result.IP), owner)
	}
	return result, err
}

// next takes an address out of its allocator; nobody has been given it yet.
func (ipam *IPAM) next(family Family, owner string) (*AllocationResult, error) {
	if family != IPv4 && family != IPv6 {
		return nil, fmt.Errorf("unknown address %s family requested", strconv.Quote(string(family)))
	}
	a := ipam.allocator(family)
	if a == nil {
		return nil, fmt.Errorf("%s allocator not available", family)
	}
	// An allocator that cannot be told what to leave out may pick it. Such picks are held until there is a good one,
	// because a released one could be picked again, and then all of them go back.
	var aside map[netip.Addr]bool
	result, err := pickValid(a, owner)
	for err == nil && ipam.blacklisted(result) {
		ip := space.NormalAddr(result.IP)
		if aside[ip] {
			err = fmt.Errorf("allocator gave %s twice: %w", ip, ErrAllocated)
			break
		}
		if aside == nil {
			aside = make(map[netip.Addr]bool)
		}
		aside[ip] = true
		result, err = pickValid(a, owner)
	}
	for _, ip := range sortedAddrs(aside) {
		err = errors.Join(err, a.Release(ip))
	}
	if err != nil {
		if result != nil && !ipam.blacklisted(result) {
			err = errors.Join(err, a.Release(result.IP))
		}
		return nil, err
	}
	return result, nil
}

// pickValid takes nobody's word for an address.
func pickValid(a Allocator, owner string) (*AllocationResult, error) {
	r, err := a.AllocateNext(owner)
	if err == nil && (r == nil || !r.IP.IsValid()) {
		return nil, fmt.Errorf("allocator gave no address to %s", owner)
	}
	return r, err
}

func (ipam *IPAM) blacklisted(r *AllocationResult) bool {
	_, ok := ipam.blacklist.Contains(r.IP)
	return ok
}

// AllocateNext allocates an address of each enabled family, or of the one that family names, all or nothing: with an
// error no address is allocated and both results are nil. A family that is disabled, or unknown, gives nil without an
// error.
func (ipam *IPAM) AllocateNext(family, owner string) (ipv4Result, ipv6Result *AllocationResult, err error) {
	defer ipam.lock()()
	return ipam.nextPair(family, owner)
}

func (ipam *IPAM) nextPair(family, owner string) (ipv4Result, ipv6Result *AllocationResult, err error) {
	var pair [2]*AllocationResult
	for _, f := range families {
		if family != "" && family != string(f) || ipam.allocator(f) == nil {
			continue
		}
		if pair[f.at()], err = ipam.next(f, owner); err != nil {
			return nil, nil, errors.Join(err, ipam.undo(pair))
		}
	}
	for _, r := range pair {
		if r != nil {
			ipam.give(space.NormalAddr(r.IP), owner)
		}
	}
	return pair[0], pair[1], nil
}

// undo gives back what a half of a pair got.
func (ipam *IPAM) undo(pair [2]*AllocationResult) (err error) {
	for _, r := range pair {
		if r != nil {
			err = errors.Join(err, ipam.allocator(DeriveFamily(r.IP)).Release(r.IP))
		}
	}
	return err
}

// AllocateNextWithExpiration is AllocateNext with an expiration timer for each address, whose UUIDs are in the results.
// Timeout 0 starts none.
func (ipam *IPAM) AllocateNextWithExpiration(family, owner string, timeout time.Duration) (ipv4Result, ipv6Result *AllocationResult, err error) {
	defer ipam.lock()()
	if timeout < 0 {
		return nil, nil, errTimerDuration
	}
	ipv4Result, ipv6Result, err = ipam.nextPair(family, owner)
	if err != nil || timeout == 0 {
		return ipv4Result, ipv6Result, err
	}
	for _, r := range [...]*AllocationResult{ipv4Result, ipv6Result} {
		if r == nil {
			continue
		}
		// A timer can only be refused for a negative timeout or a second one, and a new owner's address has none.
		if r.ExpirationUUID, err = ipam.startTimer(r.IP, timeout); err != nil {
			panic(fmt.Sprintf("cilium: timer of %s, just allocated: %v", r.IP, err))
		}
	}
	return ipv4Result, ipv6Result, nil
}
