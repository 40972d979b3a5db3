package datastore

import (
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
)

// FreeableIPs lists the ENI's addresses of their own that no pod has, in ascending order, cooling ones among them. An
// unknown ENI has none. IdleUnits leaves cooling ones out.
func (ds *DataStore) FreeableIPs(eniID string) []netip.Addr {
	list := []netip.Addr{}
	for _, u := range ds.Units(eniID) {
		if c := ds.count(u); u.IsSingleIP() && c[idle]+c[cooling] == 1 {
			list = append(list, u.Addr())
		}
	}
	return list
}

// GetENIIPs lists the ENI's addresses in ascending order. Error: ErrUnknownENI.
func (ds *DataStore) GetENIIPs(eniID string) ([]netip.Addr, error) {
	e := ds.eni(eniID)
	if e == nil {
		return nil, ErrUnknownENI
	}
	list := []netip.Addr{}
	for _, u := range e.units {
		for a := u.Addr(); u.Contains(a); a = a.Next() {
			list = append(list, a)
		}
	}
	return list, nil
}

// Lookup returns the assignment of a key.
func (ds *DataStore) Lookup(ipamKey IPAMKey) (PodIPInfo, bool) {
	ds.settle()
	b, addr := ds.node.Holding(ipamKey.owner())
	if b == nil {
		return PodIPInfo{}, false
	}
	e := ds.eniOf(b, addr)
	if e == nil {
		return PodIPInfo{}, false
	}
	return PodIPInfo{IPAMKey: ipamKey, IP: addr, DeviceNumber: e.device}, true
}

// GetENIInfos copies the whole store.
func (p *NodePool) GetENIInfos() *ENIInfos {
	total, assignedIPs := p.GetStats()
	infos := &ENIInfos{TotalIPs: total, AssignedIPs: assignedIPs, ENIs: make(map[string]ENI, len(p.enis))}
	owners := p.owners()
	for _, e := range p.enis {
		infos.ENIs[e.id] = *p.public(e, owners)
	}
	return infos
}

func (p *NodePool) owners() map[netip.Addr]ipam.Owner {
	owners := make(map[netip.Addr]ipam.Owner, p.node.Len())
	for l := range p.node.Leases() {
		owners[l.Addr] = l.Owner
	}
	return owners
}

func (p *NodePool) public(e *eni, owners map[netip.Addr]ipam.Owner) *ENI {
	out := &ENI{ID: e.id, IsPrimary: e.primary, IsTrunk: e.trunk, DeviceNumber: e.device, IPv4Addresses: make(map[netip.Addr]*AddressInfo)}
	for _, u := range e.units {
		for a := u.Addr(); u.Contains(a); a = a.Next() {
			info := &AddressInfo{IPAMKey: KeyOf(owners[a]), Address: a}
			if f, ok := p.node.addrs.facts[a]; ok && !f.held {
				info.UnassignedTime = time.Unix(0, f.at).UTC()
			}
			out.IPv4Addresses[a] = info
		}
	}
	return out
}

// GetENINeedsIP copies the first ENI in store order that EC2 could give more: it has fewer than maxIPperENI units
// (addresses and delegated prefixes; the instance type's limit less one, because the ENI's own address is not in the
// store) and is no trunk. skipPrimary leaves the primary ENI out. Nil when there is none.
func (ds *DataStore) GetENINeedsIP(maxIPperENI int, skipPrimary bool) *ENI {
	for _, e := range ds.enis {
		if !e.trunk && !(skipPrimary && e.primary) && len(e.units) < maxIPperENI {
			return ds.public(e, ds.owners())
		}
	}
	return nil
}
