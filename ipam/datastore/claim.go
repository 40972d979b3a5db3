package datastore

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
)

// What the checkpoint says about an address that is not in the store, or says twice, is a claim. An ENI that cannot be
// seen is not proof that its pods are gone: their addresses must find their owners when it comes back. The Node keeps
// such an address as a lease of a block that drains.

// Quarantined is a checkpoint entry that was not believed. Addr is out of use as long as the entry exists, if it can be
// read at all.
type Quarantined struct {
	IPAMKey IPAMKey
	Addr    netip.Addr
	// Raw is the entry as it was found, JSON.
	Raw []byte
	Why string
}

// QuarantineError lists what one ReadBackingStore did not believe. It is ErrQuarantined.
type QuarantineError struct{ Entries []Quarantined }

func (e *QuarantineError) Error() string {
	first := e.Entries[0]
	return fmt.Sprintf("%v: %d, the first is %s: %s", ErrQuarantined, len(e.Entries), first.Raw, first.Why)
}

// Unwrap makes the sentinel match.
func (e *QuarantineError) Unwrap() error { return ErrQuarantined }

// claim is a lease with what the checkpoint says of it.
type claim struct {
	ipam.Lease
	extra []Field
}

// drop ends a lease, whose address cools from now on.
func (ds *DataStore) drop(l ipam.Lease) claim {
	c := claim{Lease: l}
	ds.node.Unassign(ds.clock(), l.Owner)
	if len(ds.extra) > 0 {
		c.extra = ds.extra[l.Owner]
		delete(ds.extra, l.Owner)
	}
	return c
}

// restoreClaims undoes drop.
func (ds *DataStore) restoreClaims(list []claim) {
	for _, c := range list {
		ds.node.addrs.uncool(c.Addr)
		ds.enter(c)
	}
}

// enter makes an owner that holds nothing hold an address that nobody holds, whether it is in the store or not.
func (ds *DataStore) enter(c claim) {
	lease := ipam.Record{Op: ipam.OpLease, Owner: c.Owner, Addr: c.Addr, At: c.Since}
	records := []ipam.Record{lease}
	if b := ds.node.ActiveAt(c.Addr); b != nil {
		records[0].Prefix = b.Prefix
	} else {
		p := netip.PrefixFrom(c.Addr, c.Addr.BitLen())
		lease.Prefix = p
		records = []ipam.Record{{Op: ipam.OpBlock, Prefix: p, At: c.Since}, lease, {Op: ipam.OpDrain, Prefix: p, At: c.Since}}
	}
	if _, err := ds.node.Replay(records); err != nil {
		panic(fmt.Sprintf("datastore: claim of %s to %s: %v", c.Owner, c.Addr, err))
	}
	if len(c.extra) > 0 {
		ds.extra[c.Owner] = c.extra
	}
}

// assignments are what pods have: in the store, in address order, and outside of it, in key order.
func (p *NodePool) assignments() (list, orphans []PodIPInfo) {
	p.settle()
	list, orphans = make([]PodIPInfo, 0, p.node.Len()), []PodIPInfo{}
	for l := range p.node.Leases() {
		if e := p.eniOf(nil, l.Addr); e != nil {
			list = append(list, PodIPInfo{IPAMKey: KeyOf(l.Owner), IP: l.Addr, DeviceNumber: e.device})
		} else {
			orphans = append(orphans, PodIPInfo{IPAMKey: KeyOf(l.Owner), IP: l.Addr, DeviceNumber: -1})
		}
	}
	slices.SortFunc(orphans, func(a, b PodIPInfo) int { return a.IPAMKey.compare(b.IPAMKey) })
	return list, orphans
}

// AllocatedIPs lists the assignments in address order.
func (p *NodePool) AllocatedIPs() []PodIPInfo {
	list, _ := p.assignments()
	return list
}

// Orphans lists the assignments of addresses that are not in the store, in key order; their DeviceNumber is -1. Each
// becomes a normal assignment when its address is added, and ends with its pod: UnassignPodIPv4Address or Sweep.
func (ds *DataStore) Orphans() []PodIPInfo {
	_, orphans := ds.assignments()
	return orphans
}

// Quarantined lists the checkpoint entries that were not believed and are still kept.
func (ds *DataStore) Quarantined() []Quarantined { return slices.Clone(ds.quarantine) }

func (ds *DataStore) addQuarantined(q Quarantined) {
	ds.quarantine = append(ds.quarantine, q)
	if q.Addr.IsValid() {
		ds.node.addrs.setBlocked(q.Addr, 1)
	}
}

// Discharge forgets everything that is quarantined and lets the addresses cool from now on: for an operator who knows
// that no pod uses them. The error is the checkpoint's; the quarantine is over all the same.
func (ds *DataStore) Discharge() error {
	ds.discharge(func(Quarantined) bool { return true })
	return ds.write()
}

// discharge drops the quarantined entries that match and reports whether there were any.
func (ds *DataStore) discharge(match func(Quarantined) bool) bool {
	ds.settle()
	before := len(ds.quarantine)
	a, now := &ds.node.addrs, ds.clock()
	ds.quarantine = slices.DeleteFunc(ds.quarantine, func(q Quarantined) bool {
		if !match(q) {
			return false
		}
		if q.Addr.IsValid() {
			was := a.state(q.Addr)
			a.setBlocked(q.Addr, -1)
			if b := ds.node.ActiveAt(q.Addr); b != nil && was == aside && a.state(q.Addr) != aside {
				_ = a.Cool(now, q.Addr, b.Prefix) // nobody holds it
			}
		}
		return true
	})
	return len(ds.quarantine) != before
}
