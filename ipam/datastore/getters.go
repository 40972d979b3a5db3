package datastore

import (
	"maps"
	"net/netip"
	"slices"
)

// FreeableIPs lists the ENI's addresses of their own that no pod has, in ascending order, cooling ones among them. An
// unknown ENI has none. IdleUnits leaves cooling ones out.
func (ds *DataStore) FreeableIPs(eniID string) []netip.Addr {
	list := []netip.Addr{}
	e, ok := ds.enis[eniID]
	if !ok {
		return list
	}
	for _, u := range e.units {
		if len(u.entries) == 1 && (u.counts[idle] == 1 || u.counts[cooling] == 1) {
			list = append(list, u.entries[0].addr)
		}
	}
	return list
}

// IdleUnits lists what could be given back to EC2 without harm: addresses and delegated prefixes of the ENI of which every
// address could be assigned now, in ascending order.
func (ds *DataStore) IdleUnits(eniID string) []netip.Prefix {
	ds.thaw()
	list := []netip.Prefix{}
	if e, ok := ds.enis[eniID]; ok {
		for _, u := range e.units {
			if u.whole() {
				list = append(list, u.prefix)
			}
		}
	}
	return list
}

// Units lists everything that EC2 has given to the ENI and that is in the store, in ascending order; nil for an unknown ENI.
func (ds *DataStore) Units(eniID string) []netip.Prefix {
	e, ok := ds.enis[eniID]
	if !ok {
		return nil
	}
	list := make([]netip.Prefix, len(e.units))
	for i, u := range e.units {
		list[i] = u.prefix
	}
	return list
}

// GetENIIPs lists the ENI's addresses in ascending order. Error: ErrUnknownENI.
func (ds *DataStore) GetENIIPs(eniID string) ([]netip.Addr, error) {
	e, ok := ds.enis[eniID]
	if !ok {
		return nil, ErrUnknownENI
	}
	list := make([]netip.Addr, 0, e.counts.total())
	for _, u := range e.units {
		for _, a := range u.entries {
			list = append(list, a.addr)
		}
	}
	return list, nil
}

// AllocatedIPs lists the assignments in address order.
func (ds *DataStore) AllocatedIPs() []PodIPInfo {
	list := make([]PodIPInfo, 0, len(ds.byKey))
	for _, e := range ds.byKey {
		list = append(list, PodIPInfo{IPAMKey: e.key, IP: e.addr, DeviceNumber: e.unit.eni.device})
	}
	slices.SortFunc(list, func(a, b PodIPInfo) int { return a.IP.Compare(b.IP) })
	return list
}

// Lookup returns the assignment of a key.
func (ds *DataStore) Lookup(ipamKey IPAMKey) (PodIPInfo, bool) {
	e, ok := ds.byKey[ipamKey]
	if !ok {
		return PodIPInfo{}, false
	}
	return PodIPInfo{IPAMKey: e.key, IP: e.addr, DeviceNumber: e.unit.eni.device}, true
}

// GetENIInfos copies the whole store.
func (ds *DataStore) GetENIInfos() *ENIInfos {
	total, assignedIPs := ds.GetStats()
	infos := &ENIInfos{TotalIPs: total, AssignedIPs: assignedIPs, ENIs: make(map[string]ENI, len(ds.enis))}
	for _, e := range ds.order {
		infos.ENIs[e.id] = *e.public()
	}
	return infos
}

func (e *eni) public() *ENI {
	out := &ENI{
		ID: e.id, IsPrimary: e.primary, IsTrunk: e.trunk, DeviceNumber: e.device,
		IPv4Addresses: make(map[netip.Addr]*AddressInfo, e.counts.total()),
	}
	for _, u := range e.units {
		for _, a := range u.entries {
			out.IPv4Addresses[a.addr] = &AddressInfo{IPAMKey: a.key, Address: a.addr, UnassignedTime: a.released}
		}
	}
	return out
}

// ENIIDs lists the ENIs in store order: by device number, then ID.
func (ds *DataStore) ENIIDs() []string {
	list := make([]string, len(ds.order))
	for i, e := range ds.order {
		list[i] = e.id
	}
	return list
}

// GetENIs is how many ENIs there are.
func (ds *DataStore) GetENIs() int { return len(ds.enis) }

// GetTrunkENI is the ID of the trunk ENI, "" when there is none.
func (ds *DataStore) GetTrunkENI() string {
	for _, e := range ds.order {
		if e.trunk {
			return e.id
		}
	}
	return ""
}

// GetENINeedsIP copies the first ENI in store order that EC2 could give more: it has fewer than maxIPperENI units
// (addresses and delegated prefixes; the instance type's limit less one, because the ENI's own address is not in the
// store) and is no trunk. skipPrimary leaves the primary ENI out. Nil when there is none.
func (ds *DataStore) GetENINeedsIP(maxIPperENI int, skipPrimary bool) *ENI {
	for _, e := range ds.order {
		if !e.trunk && !(skipPrimary && e.primary) && len(e.units) < maxIPperENI {
			return e.public()
		}
	}
	return nil
}

// rooms is what Sizing.Grow looks at.
func (ds *DataStore) rooms() []Room {
	list := make([]Room, len(ds.order))
	for i, e := range ds.order {
		list[i] = Room{ENI: e.id, Units: len(e.units), Primary: e.primary, Trunk: e.trunk}
	}
	return list
}

func sortedAddrs[V any](m map[netip.Addr]V) []netip.Addr {
	return slices.SortedFunc(maps.Keys(m), netip.Addr.Compare)
}
