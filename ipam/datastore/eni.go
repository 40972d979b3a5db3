package datastore

import (
	"net/netip"
	"time"
)

// AddressInfo is one address of an ENI. It is a copy: changing it changes nothing in the store.
type AddressInfo struct {
	// IPAMKey is zero when no pod has the address.
	IPAMKey IPAMKey
	Address netip.Addr
	// UnassignedTime is when a pod gave the address back that cools, zero when it does not.
	UnassignedTime time.Time
}

// Assigned reports whether a pod has the address.
func (a AddressInfo) Assigned() bool { return !a.IPAMKey.IsZero() }

// ENI is a copy of one network interface as the store has it. Exported fields are what introspection shows.
type ENI struct {
	// ID is AWS' name of it, as eni-0123456789abcdef0.
	ID string
	// IsPrimary: the instance's first ENI, which cannot be detached.
	IsPrimary bool
	// IsTrunk: carries branch ENIs for pods that have one of their own; never detached.
	IsTrunk bool
	// DeviceNumber is 0 for the primary ENI.
	DeviceNumber int
	// IPv4Addresses has all addresses for pods; the ENI's own primary address is not among them.
	IPv4Addresses map[netip.Addr]*AddressInfo
}

// ENIInfos is the whole store for introspection.
type ENIInfos struct {
	TotalIPs, AssignedIPs int
	ENIs                  map[string]ENI
}
