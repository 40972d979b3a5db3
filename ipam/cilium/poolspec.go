package cilium

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// PoolSpec is a CiliumPodIPPool: the ranges of a named pool and the lengths of the CIDRs that nodes get of them.
type PoolSpec struct {
	IPv4, IPv6           []netip.Prefix
	MaskSize4, MaskSize6 int
}

// poolName reports whether name can stand in a ledger.
func poolName(name string) bool { return word(name) && !strings.Contains(name, "/") }

func ledgerPool(pool string, f Family) string { return pool + "/" + string(f) }

// UpsertPool makes or extends a pool. Ranges may be added; a range that is gone, a changed length, and ranges that
// overlap those of any pool are refused, and nothing has changed then.
func (o *PoolOperator) UpsertPool(name string, spec PoolSpec) error {
	if !poolName(name) {
		return fmt.Errorf("pool %q: not a name", name)
	}
	var added [2][]netip.Prefix
	for _, f := range [...]Family{IPv4, IPv6} {
		ranges, bits := spec.IPv4, spec.MaskSize4
		if f == IPv6 {
			ranges, bits = spec.IPv6, spec.MaskSize6
		}
		fresh, err := o.check(name, f, ranges, bits)
		if err != nil {
			return fmt.Errorf("pool %s: %w", name, err)
		}
		added[f.at()] = fresh
	}
	for _, f := range [...]Family{IPv4, IPv6} {
		bits := spec.MaskSize4
		if f == IPv6 {
			bits = spec.MaskSize6
		}
		if len(added[f.at()]) == 0 {
			continue
		}
		c := o.claims.pool(ledgerPool(name, f), bits, o.cfg.ReuseDelay)
		c.bits, c.delay = bits, o.cfg.ReuseDelay
		for _, r := range added[f.at()] {
			if err := c.extend(r); err != nil {
				panic(fmt.Sprintf("cilium: range %s of pool %s was checked: %v", r, name, err))
			}
		}
	}
	return nil
}

// check returns the ranges that a pool does not have yet, if the specification is good.
func (o *PoolOperator) check(name string, f Family, ranges []netip.Prefix, bits int) (fresh []netip.Prefix, err error) {
	wanted, err := normalPrefixes(ranges)
	if err != nil {
		return nil, err
	}
	for i, r := range wanted {
		if DeriveFamily(r.Addr()) != f {
			return nil, fmt.Errorf("range %s is not %s", r, f)
		}
		if _, err := space.NewSubnets(r, bits); err != nil {
			return nil, err
		}
		for _, earlier := range wanted[:i] {
			if r.Overlaps(earlier) {
				return nil, fmt.Errorf("range %s overlaps %s", r, earlier)
			}
		}
	}
	own := ledgerPool(name, f)
	for _, other := range o.claims.names {
		for _, s := range o.claims.pools[other].ranges {
			there := slices.Contains(wanted, s.Prefix())
			switch {
			case other == own && !there:
				return nil, fmt.Errorf("range %s is gone", s.Prefix())
			case other == own && s.Bits() != bits:
				return nil, fmt.Errorf("length %d of range %s became %d", s.Bits(), s.Prefix(), bits)
			case other != own && slices.ContainsFunc(wanted, s.Prefix().Overlaps):
				return nil, fmt.Errorf("range %s of pool %s overlaps", s.Prefix(), other)
			}
		}
	}
	have := o.claims.pools[own]
	for _, r := range wanted {
		if have == nil || !slices.ContainsFunc(have.ranges, func(s *space.Subnets) bool { return s.Prefix() == r }) {
			fresh = append(fresh, r)
		}
	}
	return fresh, nil
}
