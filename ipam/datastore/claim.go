package datastore

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"time"
)

// claims are what the checkpoint says about addresses that are not in the store, or says twice. An ENI that cannot be
// seen is not proof that its pods are gone: their addresses must find their owners when it comes back.
type claims struct {
	// orphans are assignments of addresses that are not in the store.
	orphans  map[IPAMKey]orphan
	orphanOf map[netip.Addr]IPAMKey
	// embers are release times of addresses that left the store while they cooled.
	embers map[netip.Addr]time.Time
	// quarantine has what is damaged, in the order of the checkpoint; quarantined counts it by address.
	quarantine  []Quarantined
	quarantined map[netip.Addr]int
}

type orphan struct {
	key   IPAMKey
	addr  netip.Addr
	extra []Field
}

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

func newClaims() claims {
	return claims{
		orphans:     make(map[IPAMKey]orphan),
		orphanOf:    make(map[netip.Addr]IPAMKey),
		embers:      make(map[netip.Addr]time.Time),
		quarantined: make(map[netip.Addr]int),
	}
}

func (c *claims) addOrphan(o orphan) {
	c.orphans[o.key] = o
	c.orphanOf[o.addr] = o.key
}

func (c *claims) takeOrphan(key IPAMKey) (orphan, bool) {
	o, ok := c.orphans[key]
	if ok {
		delete(c.orphans, key)
		delete(c.orphanOf, o.addr)
	}
	return o, ok
}

func (c *claims) takeOrphanOf(addr netip.Addr) (orphan, bool) {
	key, ok := c.orphanOf[addr]
	if !ok {
		return orphan{}, false
	}
	return c.takeOrphan(key)
}

func (c *claims) takeEmber(addr netip.Addr) (time.Time, bool) {
	at, ok := c.embers[addr]
	delete(c.embers, addr)
	return at, ok
}

// addEmber keeps a release time that no entry can, and forgets those that matter no more.
func (ds *DataStore) addEmber(addr netip.Addr, released time.Time) {
	maps.DeleteFunc(ds.embers, func(_ netip.Addr, at time.Time) bool { return !ds.cools(at) })
	if ds.cools(released) {
		ds.embers[addr] = released
	}
}

func (c *claims) isQuarantined(addr netip.Addr) bool { return c.quarantined[addr] > 0 }

func (c *claims) addQuarantined(q Quarantined) {
	c.quarantine = append(c.quarantine, q)
	if q.Addr.IsValid() {
		c.quarantined[q.Addr]++
	}
}

// Quarantined lists the checkpoint entries that were not believed and are still kept.
func (ds *DataStore) Quarantined() []Quarantined { return slices.Clone(ds.quarantine) }

// Orphans lists the assignments of addresses that are not in the store, in key order; their DeviceNumber is -1. Each
// becomes a normal assignment when its address is added, and ends with its pod: UnassignPodIPv4Address or Sweep.
func (ds *DataStore) Orphans() []PodIPInfo {
	list := make([]PodIPInfo, 0, len(ds.orphans))
	for _, key := range slices.SortedFunc(maps.Keys(ds.orphans), IPAMKey.compare) {
		list = append(list, PodIPInfo{IPAMKey: key, IP: ds.orphans[key].addr, DeviceNumber: -1})
	}
	return list
}

// Discharge forgets everything that is quarantined and lets the addresses cool from now on: for an operator who knows that
// no pod uses them. The error is the checkpoint's; the quarantine is over all the same.
func (ds *DataStore) Discharge() error {
	ds.discharge(func(Quarantined) bool { return true })
	return ds.write()
}

// discharge drops the quarantined entries that match and reports whether there were any.
func (ds *DataStore) discharge(match func(Quarantined) bool) bool {
	var freed []netip.Addr
	before := len(ds.quarantine)
	ds.quarantine = slices.DeleteFunc(ds.quarantine, func(q Quarantined) bool {
		if !match(q) {
			return false
		}
		if q.Addr.IsValid() {
			if ds.quarantined[q.Addr]--; ds.quarantined[q.Addr] == 0 {
				delete(ds.quarantined, q.Addr)
				freed = append(freed, q.Addr)
			}
		}
		return true
	})
	for _, addr := range freed {
		if e, ok := ds.byAddr[addr]; ok && e.state == aside {
			e.released = ds.now()
			ds.rest(e)
		}
	}
	return len(ds.quarantine) != before
}
