package datastore

import (
	"errors"
	"fmt"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
)

// Texts of errors, as callers of amazon-vpc-cni-k8s compare them (pkg/ipamd/datastore, v1.7.5).
const (
	DuplicatedENIError    = "data store: duplicate ENI"
	IPAlreadyInStoreError = "datastore: IP already in data store"
	UnknownIPError        = "datastore: unknown IP"
	IPInUseError          = "datastore: IP is used and can not be deleted"
	ENIInUseError         = "datastore: ENI is used and can not be deleted"
	UnknownENIError       = "datastore: unknown ENI"
)

// Errors that callers branch on. They come bare, so that comparing their texts works too.
var (
	// ErrDuplicatedENI: AddENI of an ENI that is in the store.
	ErrDuplicatedENI = errors.New(DuplicatedENIError)
	// ErrIPAlreadyInStore: the address is in the store, on whichever ENI.
	ErrIPAlreadyInStore = errors.New(IPAlreadyInStoreError)
	// ErrUnknownIP: the ENI does not have that address or prefix.
	ErrUnknownIP = errors.New(UnknownIPError)
	// ErrIPInUse: a pod has the address, and the removal was not forced.
	ErrIPInUse = errors.New(IPInUseError)
	// ErrENIInUse: pods have addresses of the ENI, and the removal was not forced.
	ErrENIInUse = errors.New(ENIInUseError)
	// ErrUnknownENI: no such ENI in the store.
	ErrUnknownENI = errors.New(UnknownENIError)
	// ErrUnknownPod: no address is assigned under the key. A CNI DEL that meets it is done.
	ErrUnknownPod = errors.New("datastore: unknown pod")
	// ErrNoAvailableIPs: every address is assigned, cooling or set aside. It comes as *ExhaustedError.
	ErrNoAvailableIPs = errors.New("assignPodIPv4AddressUnsafe: no available IP addresses")
	// ErrInvalidKey: a part of the key is empty, or has a slash or white space. Upstream takes the empty key for "free".
	ErrInvalidKey = errors.New("datastore: invalid IPAM key, a part is empty")
	// ErrInvalidAddress: not an IPv4 address or prefix.
	ErrInvalidAddress = errors.New("datastore: not an IPv4 address")
	// ErrUnknownFormat: the backing store's version is not CheckpointFormatVersion. It comes wrapped.
	ErrUnknownFormat = errors.New("datastore: unknown backing store format")
	// ErrBackingStore: the backing store could not be read. It comes wrapped. Until a ReadBackingStore succeeds nothing is
	// assigned and nothing written, because what live pods hold is unknown.
	ErrBackingStore = errors.New("datastore: error reading backing store")
	// ErrMigrationPhase: CheckpointMigrationPhase is not 0..3, or needs a CRI that is not there.
	ErrMigrationPhase = errors.New("datastore: unexpected value of checkpoint migration phase")
	// ErrQuarantined: parts of the backing store were damaged and set aside; everything else was restored and the store
	// works. It comes as *QuarantineError.
	ErrQuarantined = errors.New("datastore: damaged entries are quarantined")
	// ErrUncertain: the checkpoint may have reached the disk or not. It comes wrapped by JSONFile.
	ErrUncertain = errors.New("datastore: checkpoint is in doubt")
)

// errAddToUnknownENI has upstream's text of its own for one method, and is ErrUnknownENI.
var errAddToUnknownENI error = addToUnknownENI{}

type addToUnknownENI struct{}

func (addToUnknownENI) Error() string { return "add ENI's IP to datastore: unknown ENI" }
func (addToUnknownENI) Unwrap() error { return ErrUnknownENI }

// ExhaustedError says that no address can be assigned now, and what holds them. It is ErrNoAvailableIPs, whose text it
// has, and ipam.ErrExhausted.
type ExhaustedError struct {
	Stats
	// FreeAt is when the next cooling address becomes assignable, the zero time when none cools.
	FreeAt time.Time
}

func (e *ExhaustedError) Error() string { return ErrNoAvailableIPs.Error() }

// Unwrap makes both sentinels match.
func (e *ExhaustedError) Unwrap() []error { return []error{ErrNoAvailableIPs, ipam.ErrExhausted} }

// Detail names the store's capacity and where it went, for logs.
func (e *ExhaustedError) Detail() string {
	return fmt.Sprintf("%d addresses: %d assigned, %d cooling, %d set aside", e.TotalIPs, e.AssignedIPs, e.CooldownIPs, e.QuarantinedIPs)
}
