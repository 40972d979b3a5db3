package agent

import (
	"iter"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
)

// LeaseChanges follows what an agent's steps make of its leases, for a driver that tells of them. It looks at what the
// agent writes, not at what the agent holds: what is told is what a restart would find if every write reached the disk.
type LeaseChanges struct {
	held map[ipam.Owner]netip.Addr
	// said is Step's scratch: what the writes of one step say of leases, in order.
	said []ipam.Record
}

// NewLeaseChanges starts from the leases that a restored agent holds.
func NewLeaseChanges(leases iter.Seq[ipam.Lease]) *LeaseChanges {
	c := &LeaseChanges{held: map[ipam.Owner]netip.Addr{}}
	for l := range leases {
		c.held[l.Owner] = l.Addr
	}
	return c
}

// Step returns what the effects of one step change: leases that are gone and leases that are new, each in ascending
// order of addresses. A step may ask for several writes, of which only the outcome counts: a lease that came and went
// within the step was nobody's. wrote is false for a step that asks for no write.
func (c *LeaseChanges) Step(effects []Effect) (gone, come []ipam.Record, wrote bool) {
	c.said = c.said[:0]
	for i := range effects {
		if e, ok := effects[i].(Persist); ok {
			wrote = true
			c.write(e)
		}
	}
	// The last word about each owner counts.
	slices.SortStableFunc(c.said, func(x, y ipam.Record) int { return compareOwners(x.Owner, y.Owner) })
	for i := range c.said {
		r := &c.said[i]
		if i+1 < len(c.said) && c.said[i+1].Owner == r.Owner {
			continue
		}
		addr, held := c.held[r.Owner]
		if held && (r.Op == ipam.OpRelease || addr != r.Addr) {
			gone = append(gone, ipam.Record{Owner: r.Owner, Addr: addr, Prefix: r.Prefix})
			delete(c.held, r.Owner)
		}
		if r.Op == ipam.OpLease && !(held && addr == r.Addr) {
			come = append(come, *r)
			c.held[r.Owner] = r.Addr
		}
	}
	byAddress := func(x, y ipam.Record) int { return x.Addr.Compare(y.Addr) }
	slices.SortFunc(gone, byAddress)
	slices.SortFunc(come, byAddress)
	return gone, come, wrote
}

// write notes what one write says of leases. A compacted history releases what it does not name.
func (c *LeaseChanges) write(e Persist) {
	if e.Replace {
		for i := range c.said {
			c.said[i].Op = ipam.OpRelease
		}
		for o, addr := range c.held { //vppdrill:unordered sorted by Step
			c.said = append(c.said, ipam.Record{Op: ipam.OpRelease, Owner: o, Addr: addr})
		}
	}
	for i := range e.Records {
		if r := &e.Records[i]; r.Kind == RecordIPAM && r.IPAM.Owner != (ipam.Owner{}) &&
			(r.IPAM.Op == ipam.OpLease || r.IPAM.Op == ipam.OpRelease) {
			c.said = append(c.said, r.IPAM)
		}
	}
}
