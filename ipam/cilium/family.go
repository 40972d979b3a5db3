package cilium

import (
	"net/netip"
	"strings"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// Family is an address family, or empty for both where a method says so.
type Family string

// Families.
const (
	IPv4 Family = "ipv4"
	IPv6 Family = "ipv6"
)

// families in the order in which dual-stack allocations are tried.
var families = [...]Family{IPv6, IPv4}

// DeriveFamily is the family of ip; a 4-in-6 form is IPv4. The zero Addr has the empty family.
func DeriveFamily(ip netip.Addr) Family {
	switch {
	case !ip.IsValid():
		return ""
	case space.NormalAddr(ip).Is4():
		return IPv4
	}
	return IPv6
}

// at is the family's place in a pair, IPv4 first.
func (f Family) at() int {
	if f == IPv4 {
		return 0
	}
	return 1
}

// disabled is what methods return for a family without an allocator.
func (f Family) disabled() error {
	if f == IPv4 {
		return ErrIPv4Disabled
	}
	return ErrIPv6Disabled
}

// label is the family as status texts spell it.
func (f Family) label() string { return strings.Replace(string(f), "ip", "IP", 1) }
