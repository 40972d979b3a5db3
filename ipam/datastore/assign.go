package datastore

import (
	"net/netip"
	"slices"
	"time"
)

// AssignPodIPv4Address gives the pod an address and returns it with its ENI's device number. The same key gets the same
// address again, without a write. What is returned is in the checkpoint.
//
// On every error the address is the zero Addr, the device is -1 and nothing has changed: ErrInvalidKey, *ExhaustedError,
// ErrBackingStore when the backing store could not be read, or the checkpoint's error.
func (ds *DataStore) AssignPodIPv4Address(ipamKey IPAMKey) (netip.Addr, int, error) {
	switch {
	case !ipamKey.Valid():
		return netip.Addr{}, -1, ErrInvalidKey
	case ds.unread != nil:
		return netip.Addr{}, -1, ds.unread
	}
	if e, ok := ds.byKey[ipamKey]; ok {
		// After a write in doubt the file may say that this pod is gone.
		if err := ds.Flush(); err != nil {
			return netip.Addr{}, -1, err
		}
		return e.addr, e.unit.eni.device, nil
	}
	e := ds.pick()
	if e == nil {
		return netip.Addr{}, -1, ds.exhausted()
	}
	// A sandbox that asks again does not use what it once had on an ENI that is gone.
	o, wasOrphan := ds.takeOrphan(ipamKey)
	ds.give(e, ipamKey)
	if err := ds.write(); err != nil {
		ds.take(e)
		ds.move(e, idle)
		if wasOrphan {
			ds.addOrphan(o)
		}
		return netip.Addr{}, -1, err
	}
	return e.addr, e.unit.eni.device, nil
}

// pick is the address to assign next, nil when there is none.
func (ds *DataStore) pick() *entry {
	ds.thaw()
	i, ok := ds.open.NextSet(0)
	if !ok {
		return nil
	}
	return ds.order[i].idle.list[0]
}

func (ds *DataStore) exhausted() error {
	e := &ExhaustedError{Stats: ds.GetIPStats()}
	if len(ds.chill.list) > 0 {
		e.FreeAt = ds.chill.list[0].released.Add(ds.Cooling + 1) // a nanosecond later, because the boundary still cools
	}
	return e
}

// UnassignPodIPv4Address takes the pod's address back and returns it with its ENI's device number; it cools from now on. A
// key that is unknown is looked for under what the container runtime told of its container.
//
// On error the address is the zero Addr and the device 0. ErrUnknownPod: there is nothing to take back, and a CNI DEL has
// succeeded. Any other error is the checkpoint's, and the pod has its address still.
func (ds *DataStore) UnassignPodIPv4Address(ipamKey IPAMKey) (ip netip.Addr, deviceNumber int, err error) {
	if ds.unread != nil {
		return netip.Addr{}, 0, ds.unread
	}
	e := ds.byKey[ipamKey]
	if e == nil {
		e = ds.byKey[backfillKey(ipamKey.ContainerID)]
	}
	if e == nil {
		ds.renounce(ipamKey)
		return netip.Addr{}, 0, ErrUnknownPod
	}
	key, extra, released := e.key, e.extra, e.released
	ds.take(e)
	e.released = ds.now()
	ds.rest(e)
	if err := ds.write(); err != nil {
		ds.give(e, key)
		e.extra, e.released = extra, released
		return netip.Addr{}, 0, err
	}
	return e.addr, e.unit.eni.device, nil
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
		if o, ok := ds.takeOrphan(k); ok {
			ds.addEmber(o.addr, ds.now())
			dropped = true
		}
	}
	if dropped {
		if err := ds.write(); err != nil {
			ds.log.Warnf("pod %s had no address, but forgetting its claim was not written: %v", key, err)
		}
	}
}

// Sweep ends every assignment whose key is not among valid, as a CNI GC asks for: DELs get lost while an agent is down. It
// returns what it took back, in address order. Claims of orphans and of damaged entries with a readable key end too. On
// error nothing has changed.
func (ds *DataStore) Sweep(valid []IPAMKey) ([]PodIPInfo, error) {
	if ds.unread != nil {
		return nil, ds.unread
	}
	keep := make(map[IPAMKey]bool, len(valid))
	for _, k := range valid {
		keep[k] = true
		keep[backfillKey(k.ContainerID)] = true
	}
	var swept []sweptPod
	now := ds.now()
	for _, p := range ds.AllocatedIPs() {
		if keep[p.IPAMKey] {
			continue
		}
		e := ds.byKey[p.IPAMKey]
		swept = append(swept, sweptPod{info: p, extra: e.extra, released: e.released})
		ds.take(e)
		e.released = now
		ds.rest(e)
	}
	var orphans []orphan
	for _, p := range ds.Orphans() {
		if !keep[p.IPAMKey] {
			o, _ := ds.takeOrphan(p.IPAMKey)
			orphans = append(orphans, o)
		}
	}
	stale := func(q Quarantined) bool { return q.IPAMKey.Valid() && !keep[q.IPAMKey] }
	if len(swept) == 0 && len(orphans) == 0 && !slices.ContainsFunc(ds.quarantine, stale) {
		return nil, nil
	}
	if err := ds.write(); err != nil {
		for _, s := range swept {
			e := ds.byAddr[s.info.IP]
			ds.give(e, s.info.IPAMKey)
			e.extra, e.released = s.extra, s.released
		}
		for _, o := range orphans {
			ds.addOrphan(o)
		}
		return nil, err
	}
	list := make([]PodIPInfo, len(swept))
	for i, s := range swept {
		list[i] = s.info
	}
	for _, o := range orphans {
		ds.addEmber(o.addr, now)
	}
	if ds.discharge(stale) {
		ds.dirty = true // the claims are still in the file; they only hold addresses back
		return list, ds.Flush()
	}
	return list, nil
}

// sweptPod is what an assignment was before Sweep.
type sweptPod struct {
	info     PodIPInfo
	extra    []Field
	released time.Time
}
