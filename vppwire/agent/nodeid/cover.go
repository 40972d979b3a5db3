package nodeid

import "net/netip"

// cover is a prefix that all networks of a record lie in, the zero Prefix where there is none that says anything.
// Whether two nodes share addresses is asked for each block of each node: with single addresses as blocks, reading
// every record for it took minutes in a cluster of 300.
type cover struct{ netip.Prefix }

// coverOf is nil for a record that is regular.
func coverOf(p Plan, id uint32, networks []netip.Prefix) *cover {
	if p.Regular(id, networks) {
		return nil
	}
	var c netip.Prefix
	for _, n := range networks {
		switch {
		case !c.IsValid():
			c = n.Masked()
		case c.Addr().BitLen() != n.Addr().BitLen():
			return &cover{}
		}
		for c.Bits() > n.Bits() || !c.Contains(n.Addr()) {
			c = netip.PrefixFrom(c.Addr(), c.Bits()-1).Masked()
		}
	}
	return &cover{c}
}

// mayMeet is false only where no network of the record has an address of block.
func (c *cover) mayMeet(block netip.Prefix) bool { return !c.IsValid() || c.Overlaps(block) }
