package datastore

import (
	"net/netip"
	"slices"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// DelIPv4AddressFromStore removes an address that is a unit of its own; cooling ones too. With force also one that a
// pod has: the pod's claim stays, so that the address is the pod's again should it come back, until the pod is gone.
// Errors: ErrUnknownENI, ErrUnknownIP, ErrIPInUse.
func (ds *DataStore) DelIPv4AddressFromStore(eniID string, ipv4 netip.Addr, force bool) error {
	ipv4 = space.NormalAddr(ipv4)
	return ds.DelIPv4CidrFromStore(eniID, netip.PrefixFrom(ipv4, ipv4.BitLen()), force)
}

// DelIPv4CidrFromStore removes a delegated prefix as DelIPv4AddressFromStore removes an address; it must be the very
// prefix that was added. The checkpoint does not change: what it says about assigned and cooling addresses stays true
// of pods and of time.
func (ds *DataStore) DelIPv4CidrFromStore(eniID string, cidr netip.Prefix, force bool) error {
	return ds.removing(func() error { return ds.pool.DelIPv4CidrFromStore(eniID, cidr, force) })
}

// RemoveENIFromDataStore removes an ENI with its addresses. With force also one that pods use, whose claims stay as in
// DelIPv4AddressFromStore. Errors: ErrUnknownENI, ErrENIInUse.
func (ds *DataStore) RemoveENIFromDataStore(eniID string, force bool) error {
	return ds.removing(func() error { return ds.pool.RemoveENIFromDataStore(eniID, force) })
}

// removing tells whose address goes away under a pod.
func (ds *DataStore) removing(remove func() error) error {
	ips, enis := ds.forcedIPs, ds.forcedENIs
	known := ds.Orphans()
	if err := remove(); err != nil || ips == ds.forcedIPs && enis == ds.forcedENIs {
		return err
	}
	for _, p := range ds.Orphans() {
		if !slices.Contains(known, p) {
			ds.log.Warnf("address %s of pod %s is gone, its claim is kept", p.IP, p.IPAMKey)
		}
	}
	return nil
}

// RemoveUnusedENIFromStore is RemoveUnusedENI for address targets: an ENI stays when without it fewer than warmIPTarget
// addresses were available or fewer than minimumIPTarget there. 0 means that a target is not set.
func (ds *DataStore) RemoveUnusedENIFromStore(warmIPTarget, minimumIPTarget int) string {
	return ds.RemoveUnusedENI(enough(warmIPTarget, minimumIPTarget))
}

func enough(warmIPTarget, minimumIPTarget int) func(Stats) bool {
	return func(rest Stats) bool {
		return rest.AvailableAddresses() >= warmIPTarget && rest.TotalIPs >= minimumIPTarget
	}
}

// DeletableENIs lists the ENIs that RemoveUnusedENIFromStore could remove now, in store order.
func (ds *DataStore) DeletableENIs(warmIPTarget, minimumIPTarget int) []string {
	list := []string{}
	for _, e := range ds.enis {
		if ds.deletable(e) && enough(warmIPTarget, minimumIPTarget)(ds.stats(e)) {
			list = append(list, e.id)
		}
	}
	return list
}
