package datastore

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam"
)

// AssignPodIPv4Address gives the pod an address and returns it with its ENI's device number. The same key gets the same
// address again, without a write. What is returned is in the checkpoint.
//
// On every error the address is the zero Addr, the device is -1 and nothing has changed: ErrInvalidKey,
// *ExhaustedError, ErrBackingStore when the backing store could not be read, or the checkpoint's error.
func (ds *DataStore) AssignPodIPv4Address(ipamKey IPAMKey) (netip.Addr, int, error) {
	if ds.unread != nil {
		if !ipamKey.Valid() {
			return netip.Addr{}, -1, ErrInvalidKey
		}
		return netip.Addr{}, -1, ds.unread
	}
	ds.settle()
	o := ipamKey.owner()
	b, addr, held, err := ds.node.Assign(ds.clock(), o)
	if err != nil {
		if !ipamKey.Valid() {
			return netip.Addr{}, -1, ErrInvalidKey
		}
		return netip.Addr{}, -1, ds.exhausted() // of a valid key there is no other
	}
	if held {
		e := ds.eniOf(b, addr)
		if e == nil {
			return ds.reassign(o)
		}
		// After a write in doubt the file may say that this pod is gone.
		if err := ds.Flush(); err != nil {
			return netip.Addr{}, -1, err
		}
		return addr, e.device, nil
	}
	if err := ds.write(); err != nil {
		ds.node.Unassign(ds.clock(), o)
		ds.node.addrs.uncool(addr)
		return netip.Addr{}, -1, err
	}
	return addr, b.Own.eni.device, nil
}

// reassign gives an orphan's owner an address that is in the store: a sandbox that asks again does not use what it once
// had on an ENI that is gone.
func (ds *DataStore) reassign(o ipam.Owner) (netip.Addr, int, error) {
	ds.node.addrs.expire(ds.clock())
	if _, _, ok := ds.node.addrs.next(); !ok {
		return netip.Addr{}, -1, ds.exhausted()
	}
	old, _ := ds.node.Lease(o)
	orphaned := ds.drop(old)
	ds.node.addrs.uncool(old.Addr)
	addr, device, err := ds.AssignPodIPv4Address(KeyOf(o))
	if err != nil {
		ds.restoreClaims([]claim{orphaned})
	}
	return addr, device, err
}

func (ds *DataStore) exhausted() error {
	return &ExhaustedError{Stats: ds.GetIPStats(), FreeAt: ds.node.FreeAt(ds.clock())}
}

// UnassignPodIPv4Address takes the pod's address back and returns it with its ENI's device number; it cools from now
// on. A key that is unknown is looked for under what the container runtime told of its container.
//
// On error the address is the zero Addr and the device 0. ErrUnknownPod: there is nothing to take back, and a CNI DEL
// has succeeded. Any other error is the checkpoint's, and the pod has its address still.
func (ds *DataStore) UnassignPodIPv4Address(ipamKey IPAMKey) (ip netip.Addr, deviceNumber int, err error) {
	if ds.unread != nil {
		return netip.Addr{}, 0, ds.unread
	}
	ds.settle()
	for _, k := range [...]IPAMKey{ipamKey, backfillKey(ipamKey.ContainerID)} {
		b, addr := ds.node.Holding(k.owner())
		if b == nil {
			continue
		}
		e := ds.eniOf(b, addr)
		if e == nil {
			continue
		}
		dropped := ds.drop(ipam.Lease{Owner: k.owner(), Addr: addr, Since: ds.clock()})
		if err := ds.write(); err != nil {
			ds.restoreClaims([]claim{dropped})
			return netip.Addr{}, 0, err
		}
		return addr, e.device, nil
	}
	ds.renounce(ipamKey)
	return netip.Addr{}, 0, ErrUnknownPod
}

// renounce drops what is claimed for a pod that is gone without having an address in the store. When that cannot be
// written now, it is written with the next change; until then a restart brings the claim back, which harms nobody.
func (ds *DataStore) renounce(key IPAMKey) {
	if key.IsZero() {
		return
	}
	back := backfillKey(key.ContainerID)
	dropped := ds.discharge(func(q Quarantined) bool { return q.IPAMKey == key || q.IPAMKey == back })
	for _, k := range [...]IPAMKey{key, back} {
		if l, ok := ds.node.Lease(k.owner()); ok {
			ds.drop(l)
			dropped = true
		}
	}
	if dropped {
		if err := ds.write(); err != nil {
			ds.log.Warnf("pod %s had no address, but forgetting its claim was not written: %v", key, err)
		}
	}
}

// Sweep ends every assignment whose key is not among valid, as a CNI GC asks for: DELs get lost while an agent is down.
// It returns what it took back, in address order. Claims of orphans and of damaged entries with a readable key end too.
// On error nothing has changed.
func (ds *DataStore) Sweep(valid []IPAMKey) ([]PodIPInfo, error) {
	if ds.unread != nil {
		return nil, ds.unread
	}
	keep := make(map[IPAMKey]bool, len(valid))
	for _, k := range valid {
		keep[k] = true
		keep[backfillKey(k.ContainerID)] = true
	}
	stale := func(q Quarantined) bool { return q.IPAMKey.Valid() && !keep[q.IPAMKey] }
	list, _ := ds.assignments()
	list = slices.DeleteFunc(list, func(p PodIPInfo) bool { return keep[p.IPAMKey] })
	var dropped []claim
	for l := range ds.node.Leases() {
		if !keep[KeyOf(l.Owner)] {
			dropped = append(dropped, ds.drop(l))
		}
	}
	if len(dropped) == 0 && !slices.ContainsFunc(ds.quarantine, stale) {
		return nil, nil
	}
	if err := ds.write(); err != nil {
		ds.restoreClaims(dropped)
		return nil, err
	}
	if ds.discharge(stale) {
		ds.dirty = true // the claims are still in the file; they only hold addresses back
		return list, ds.Flush()
	}
	return list, nil
}
