package datastore

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// DelIPv4AddressFromStore removes an address that is a unit of its own; cooling ones too. With force also one that a pod
// has: the pod's claim stays, so that the address is the pod's again should it come back, until the pod is gone. Errors:
// ErrUnknownENI, ErrUnknownIP, ErrIPInUse.
func (ds *DataStore) DelIPv4AddressFromStore(eniID string, ipv4 netip.Addr, force bool) error {
	ipv4 = space.NormalAddr(ipv4)
	return ds.DelIPv4CidrFromStore(eniID, netip.PrefixFrom(ipv4, ipv4.BitLen()), force)
}

// DelIPv4CidrFromStore removes a delegated prefix as DelIPv4AddressFromStore removes an address; it must be the very
// prefix that was added.
func (ds *DataStore) DelIPv4CidrFromStore(eniID string, cidr netip.Prefix, force bool) error {
	e, ok := ds.enis[eniID]
	if !ok {
		return ErrUnknownENI
	}
	i, ok := e.find(space.Normal(cidr))
	if !ok {
		return ErrUnknownIP
	}
	u := e.units[i]
	if u.counts[assigned] > 0 {
		if !force {
			return ErrIPInUse
		}
		ds.forcedIPs += u.counts[assigned]
	}
	e.units = slices.Delete(e.units, i, i+1)
	ds.removeUnit(u)
	return nil
}

func (e *eni) find(cidr netip.Prefix) (int, bool) {
	if !cidr.IsValid() {
		return 0, false
	}
	return slices.BinarySearchFunc(e.units, &unit{prefix: cidr}, compareUnit)
}

// removeUnit takes a unit out of every account. The checkpoint does not change: what it says about assigned and cooling
// addresses stays true of pods and of time, so claims keep it.
func (ds *DataStore) removeUnit(u *unit) {
	if len(u.entries) > 1 {
		ds.prefixes--
		if u.whole() {
			ds.freePrefixes--
		}
	}
	for _, e := range u.entries {
		switch e.state {
		case assigned:
			ds.log.Warnf("address %s of pod %s is gone, its claim is kept", e.addr, e.key)
			ds.addOrphan(orphan{key: e.key, addr: e.addr, extra: e.extra})
			ds.take(e)
		case cooling:
			ds.addEmber(e.addr, e.released)
		}
		ds.leaveHeap(e)
		delete(ds.byAddr, e.addr)
		u.eni.counts[e.state]--
		ds.counts[e.state]--
	}
}

// RemoveENIFromDataStore removes an ENI with its addresses. With force also one that pods use, whose claims stay as in
// DelIPv4AddressFromStore. Errors: ErrUnknownENI, ErrENIInUse.
func (ds *DataStore) RemoveENIFromDataStore(eniID string, force bool) error {
	e, ok := ds.enis[eniID]
	if !ok {
		return ErrUnknownENI
	}
	if e.counts[assigned] > 0 {
		if !force {
			return ErrENIInUse
		}
		ds.forcedENIs++
		ds.forcedIPs += e.counts[assigned]
	}
	ds.removeENI(e)
	return nil
}

func (ds *DataStore) removeENI(e *eni) {
	for _, u := range e.units {
		ds.removeUnit(u)
	}
	delete(ds.enis, e.id)
	ds.order = slices.DeleteFunc(ds.order, func(x *eni) bool { return x == e })
	ds.number()
}

// RemoveUnusedENIFromStore removes one ENI that the targets do not need and returns its ID, for the caller to detach; ""
// when there is none. 0 means that a target is not set. The ENI with the highest device number goes first.
//
// An ENI stays when it is primary or a trunk, younger than ENILifeMin, when one of its addresses is assigned, cooling or
// quarantined, or when without it fewer than warmIPTarget addresses were available or fewer than minimumIPTarget there.
func (ds *DataStore) RemoveUnusedENIFromStore(warmIPTarget, minimumIPTarget int) string {
	return ds.RemoveUnusedENI(enough(warmIPTarget, minimumIPTarget))
}

func enough(warmIPTarget, minimumIPTarget int) func(Stats) bool {
	return func(rest Stats) bool {
		return rest.AvailableAddresses() >= warmIPTarget && rest.TotalIPs >= minimumIPTarget
	}
}

// RemoveUnusedENI is RemoveUnusedENIFromStore with any condition: enough judges the account as it would be without the
// ENI.
func (ds *DataStore) RemoveUnusedENI(enough func(rest Stats) bool) string {
	for _, e := range slices.Backward(ds.order) {
		if ds.deletable(e) && enough(ds.statsWithout(e)) {
			ds.removeENI(e)
			return e.id
		}
	}
	return ""
}

// DeletableENIs lists the ENIs that RemoveUnusedENIFromStore could remove now, in store order.
func (ds *DataStore) DeletableENIs(warmIPTarget, minimumIPTarget int) []string {
	list := []string{}
	for _, e := range ds.order {
		if ds.deletable(e) && enough(warmIPTarget, minimumIPTarget)(ds.statsWithout(e)) {
			list = append(list, e.id)
		}
	}
	return list
}

func (ds *DataStore) deletable(e *eni) bool {
	ds.thaw()
	return !e.primary && !e.trunk && ds.now().Sub(e.created) >= ENILifeMin && e.counts[idle] == e.counts.total()
}
