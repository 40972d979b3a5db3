package agent

import (
	"iter"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
)

// LeaseChanges follows what an agent's steps make of its leases, for a driver that tells of them. It looks at what the agent
// writes, not at what the agent holds: what is told is what a restart would find if every write reached the disk.
type LeaseChanges struct {
	held map[ipam.Owner]netip.Addr
}

// NewLeaseChanges starts from the leases that a restored agent holds.
func NewLeaseChanges(leases iter.Seq[ipam.Lease]) *LeaseChanges {
	c := &LeaseChanges{held: map[ipam.Owner]netip.Addr{}}
	for l := range leases {
		c.held[l.Owner] = l.Addr
	}
	return c
}

// Step returns what the effects of one step change: leases that are gone and leases that are new, each in ascending order of
// addresses. A step may ask for several writes, of which only the outcome counts: a lease that came and went within the step was
// nobody's. wrote is false for a step that asks for no write.
func (c *LeaseChanges) Step(effects []Effect) (gone, come []ipam.Record, wrote bool) {
	var after map[ipam.Owner]ipam.Record
	for _, e := range effects {
		if e, ok := e.(Persist); ok {
			if after == nil {
				after = map[ipam.Owner]ipam.Record{}
			}
			c.write(after, e)
		}
	}
	if after == nil {
		return nil, nil, false
	}
	for o, r := range after { //vppdrill:unordered sorted below
		addr, held := c.held[o]
		if held && (r.Op == ipam.OpRelease || addr != r.Addr) {
			gone = append(gone, ipam.Record{Owner: o, Addr: addr, Prefix: r.Prefix})
			delete(c.held, o)
		}
		if r.Op == ipam.OpLease && !(held && addr == r.Addr) {
			come = append(come, r)
			c.held[o] = r.Addr
		}
	}
	byAddress := func(x, y ipam.Record) int { return x.Addr.Compare(y.Addr) }
	slices.SortFunc(gone, byAddress)
	slices.SortFunc(come, byAddress)
	return gone, come, true
}

// write notes the last word of one write about each lease. A compacted history releases what it does not name.
func (c *LeaseChanges) write(after map[ipam.Owner]ipam.Record, e Persist) {
	if e.Replace {
		for o, addr := range c.held { //vppdrill:unordered one entry each
			after[o] = ipam.Record{Op: ipam.OpRelease, Owner: o, Addr: addr}
		}
		for o, r := range after { //vppdrill:unordered one entry each
			r.Op = ipam.OpRelease
			after[o] = r
		}
	}
	for i := range e.Records {
		if r := &e.Records[i]; r.Kind == RecordIPAM && r.IPAM.Owner != (ipam.Owner{}) &&
			(r.IPAM.Op == ipam.OpLease || r.IPAM.Op == ipam.OpRelease) {
			after[r.IPAM.Owner] = r.IPAM
		}
	}
}
