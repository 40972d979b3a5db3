package datastore

import (
	"net/netip"
	"strings"

	"github.com/vppdrill/vppdrill/ipam"
)

// IPAMKey is the primary key of an assignment: network name, CNI_CONTAINERID and CNI_IFNAME (CNI spec 1.1, section 2).
// The zero IPAMKey means "nobody".
type IPAMKey struct {
	NetworkName string `json:"networkName"`
	ContainerID string `json:"containerID"`
	IfName      string `json:"ifName"`
}

// What stands in for the parts of a key that a container runtime does not know.
const (
	BackfillNetworkName  = "_migrated-from-cri"
	BackfillNetworkIface = "unknown"
)

// KeyOf is an owner as a key.
func KeyOf(o ipam.Owner) IPAMKey {
	return IPAMKey{NetworkName: o.Network, ContainerID: o.ContainerID, IfName: o.IfName}
}

// backfillKey is what an address that was learned from the container runtime is stored under.
func backfillKey(containerID string) IPAMKey {
	return IPAMKey{NetworkName: BackfillNetworkName, ContainerID: containerID, IfName: BackfillNetworkIface}
}

// IsZero reports whether k is nobody's.
func (k IPAMKey) IsZero() bool { return k == IPAMKey{} }

// Valid reports whether no part is empty, or has a slash or white space: the CNI specification (1.1, section 2) allows
// neither.
func (k IPAMKey) Valid() bool { return k.owner().Valid() }

// owner is a key as an owner.
func (k IPAMKey) owner() ipam.Owner {
	return ipam.Owner{Network: k.NetworkName, ContainerID: k.ContainerID, IfName: k.IfName}
}

// String is "network/container/interface".
func (k IPAMKey) String() string { return k.NetworkName + "/" + k.ContainerID + "/" + k.IfName }

func (k IPAMKey) compare(l IPAMKey) int {
	if c := strings.Compare(k.NetworkName, l.NetworkName); c != 0 {
		return c
	}
	if c := strings.Compare(k.ContainerID, l.ContainerID); c != 0 {
		return c
	}
	return strings.Compare(k.IfName, l.IfName)
}

// PodIPInfo is one assignment.
type PodIPInfo struct {
	IPAMKey IPAMKey
	// IP is the pod's address, DeviceNumber that of its ENI.
	IP           netip.Addr
	DeviceNumber int
}
