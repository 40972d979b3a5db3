package space

import (
	"net/netip"
	"slices"
)

// SpecialRange is a range of addresses that no machine, pod or service can have, because hosts do not forward them.
type SpecialRange struct {
	netip.Prefix
	// Name is what it is, with its RFC; Is ends a sentence about one of its addresses.
	Name, Is string
}

// specialRanges are those of RFC 6890 and the registries that follow it.
var specialRanges = []SpecialRange{
	{netip.MustParsePrefix("0.0.0.0/8"), "\"this network\" (RFC 791)", "stands for no host"},
	{netip.MustParsePrefix("127.0.0.0/8"), "loopback (RFC 1122)", "is loopback"},
	{netip.MustParsePrefix("169.254.0.0/16"), "link-local, with clouds' metadata service (RFC 3927)", "is link-local"},
	{netip.MustParsePrefix("224.0.0.0/4"), "multicast (RFC 5771)", "is multicast"},
	{netip.MustParsePrefix("240.0.0.0/4"), "reserved (RFC 1112)", "is reserved"},
	{netip.MustParsePrefix("::/127"), "loopback and unspecified (RFC 4291)", "stands for no host"},
	{netip.MustParsePrefix("fe80::/10"), "link-local (RFC 4291)", "is link-local"},
	{netip.MustParsePrefix("ff00::/8"), "multicast (RFC 4291)", "is multicast"},
}

// SpecialRanges are all, IPv4 first, ascending.
func SpecialRanges() []SpecialRange { return slices.Clone(specialRanges) }
