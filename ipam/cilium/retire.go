package cilium

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// RetireRange takes a range from a pool: no CIDR of it is given out any more, nodes keep those that they have. The pool
// may be left without any. UpsertPool may bring the range back.
func (o *PoolOperator) RetireRange(name string, r netip.Prefix) error {
	r = space.Normal(r)
	c := o.claims.pools[ledgerPool(name, DeriveFamily(r.Addr()))]
	if c == nil || !c.retire(r) {
		return fmt.Errorf("pool %s has no range %s", name, r)
	}
	return nil
}

// retire forgets a range; what is held or cooling of it stays so.
func (c *carver) retire(r netip.Prefix) bool {
	i := slices.IndexFunc(c.ranges, func(s *space.Subnets) bool { return s.Prefix() == r })
	if i < 0 {
		return false
	}
	c.ranges = slices.Delete(c.ranges, i, i+1)
	return true
}
