package scenarios

import (
	"net/netip"
	"reflect"
	"strings"

	"github.com/vppdrill/vppdrill/vppwire/strictyaml"
)

// CIDRPair is a range of one family, or one of each in clusters of two, as Kubernetes writes it: 10.1.0.0/16,fd00:1::/64. The zero
// CIDRPair is not given.
type CIDRPair struct {
	// Prefix is the first one: of podSubnetCIDR the primary family's.
	netip.Prefix
	// Second is of the other family; the zero Prefix where there is one range.
	Second netip.Prefix
}

// CIDR is a pair of one range.
func CIDR(p netip.Prefix) CIDRPair { return CIDRPair{Prefix: p} }

// String is both ranges parted by a comma, empty for none.
func (p CIDRPair) String() string {
	switch {
	case !p.IsValid():
		return ""
	case p.Second.IsValid():
		return p.Prefix.String() + "," + p.Second.String()
	}
	return p.Prefix.String()
}

// OfFamily is the range of IPv6 or of IPv4, the zero Prefix where the pair has none.
func (p CIDRPair) OfFamily(ip6 bool) netip.Prefix {
	switch {
	case p.IsValid() && p.Addr().Is6() == ip6:
		return p.Prefix
	case p.Second.IsValid() && p.Second.Addr().Is6() == ip6:
		return p.Second
	}
	return netip.Prefix{}
}

// changed is the pair with change's ranges in the place of those of their families, or what is new behind.
func (p CIDRPair) changed(change CIDRPair) CIDRPair {
	for _, to := range [...]netip.Prefix{change.Prefix, change.Second} {
		switch {
		case !to.IsValid():
		case !p.IsValid(), p.Addr().Is6() == to.Addr().Is6():
			p.Prefix = to
		default:
			p.Second = to
		}
	}
	return p
}

func setPair(v reflect.Value, tag reflect.StructTag, text string) *strictyaml.ValueError {
	var p CIDRPair
	first, second, both := strings.Cut(text, ",")
	if err := setPrefix(reflect.ValueOf(&p.Prefix).Elem(), tag, strings.TrimSpace(first)); err != nil {
		return err
	}
	if both {
		if err := setPrefix(reflect.ValueOf(&p.Second).Elem(), tag, strings.TrimSpace(second)); err != nil {
			return err
		}
		if p.Prefix.Addr().Is6() == p.Second.Addr().Is6() {
			return strictyaml.Wrong(text, "has two ranges of one family: a pair has one of each, as 10.1.0.0/16,fd00:1::/64")
		}
	}
	v.Set(reflect.ValueOf(p))
	return nil
}
