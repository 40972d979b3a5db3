package cilium

import (
	"net/netip"
	"time"
)

// Picker makes every free decision; sim/engine's Chooser is one, and Spread one for programs. Pick returns a number in
// 0..n-1 for n >= 1.
type Picker interface {
	Pick(label string, n int) int
}

// Labels of the decisions.
const (
	pickNext   = "cilium/next"   // where the search for an address starts
	pickCRD    = "cilium/crd"    // which free address of a CiliumNode's pool
	pickRouter = "cilium/router" // the router's address in a new block
	pickUUID   = "cilium/uuid"   // 16 bits of a UUID
)

// Locker is a sync.Locker. This package starts no goroutine and so needs none itself.
type Locker interface {
	Lock()
	Unlock()
}

// Owner is told what an IPAM does. Callbacks come from NewIPAM and from a NodeStore's Update and Delete; they must not
// call either of them.
type Owner interface {
	// K8sEventReceived counts an event of the node's own resource: scope is "CiliumNode", action "create", "update" or
	// "delete". It is not valid when it was refused, and equal when it changed nothing.
	K8sEventReceived(scope, action string, valid, equal bool)
	// K8sEventProcessed follows K8sEventReceived for a valid event; status is whether it was carried out.
	K8sEventProcessed(scope, action string, status bool)
	// UpdateCiliumNodeResource creates or updates the node's own CiliumNode; it returns when the resource exists.
	UpdateCiliumNodeResource()
}

// NodeAddressing knows the node's allocation ranges.
type NodeAddressing interface {
	IPv4() NodeAddressingFamily
	IPv6() NodeAddressingFamily
}

// NodeAddressingFamily is one family's half of NodeAddressing.
type NodeAddressingFamily interface {
	AllocationCIDR() netip.Prefix
}

// Addressing is a NodeAddressing with fixed ranges; the zero Prefix for a family without one.
type Addressing struct{ CIDR4, CIDR6 netip.Prefix }

// IPv4 is the IPv4 range.
func (a Addressing) IPv4() NodeAddressingFamily { return allocationCIDR(a.CIDR4) }

// IPv6 is the IPv6 range.
func (a Addressing) IPv6() NodeAddressingFamily { return allocationCIDR(a.CIDR6) }

type allocationCIDR netip.Prefix

func (c allocationCIDR) AllocationCIDR() netip.Prefix { return netip.Prefix(c) }

// Route is one of the node's routes.
type Route struct {
	// Dst is the destination; the zero Prefix is the default route.
	Dst netip.Prefix
	// Link is the output device's name, empty for none.
	Link string
	// Src and Gw are the zero Addr where the route has none.
	Src, Gw netip.Addr
}

// Modes of Configuration.IPAM, compared without regard to case. The first four carve addresses out of the node's
// allocation ranges; the next three take them from the CiliumNode's pool.
const (
	ModeHostScope   = "hostscope"
	ModeKubernetes  = "kubernetes"
	ModeClusterPool = "cluster-pool"
	ModeCRD         = "crd"
	ModeENI         = "eni"
	ModeAzure       = "azure"
	ModeMultiPool   = "multi-pool"
)

var modes = [...]string{ModeHostScope, ModeKubernetes, ModeClusterPool, ModeCRD, ModeENI, ModeAzure, ModeMultiPool}

// Configuration sets an IPAM up.
type Configuration struct {
	EnableIPv4, EnableIPv6 bool
	// IPAM is the mode; empty is ModeHostScope.
	IPAM string
	// BlacklistConflictingRoutes lets ReserveLocalRoutes do something.
	BlacklistConflictingRoutes bool
	// HostDevice is the device whose routes are the IPAM's own; empty is "cilium_host".
	HostDevice string
	// AllowFirstLastIPs gives out the first and the last address of a range too.
	AllowFirstLastIPs bool

	// Pick is needed in every mode.
	Pick Picker
	// Now is the clock; without one it is the time that Advance was called with last.
	Now func() time.Time
	// NewUUID returns another UUID each time; without it they are drawn from Pick (version 4).
	NewUUID func() string
	// Routes lists the node's routes of both families, for ReserveLocalRoutes.
	Routes func() ([]Route, error)
	// Store is the CiliumNode's pool, needed in the modes that use it.
	Store *NodeStore
	// MultiPool is needed in ModeMultiPool.
	MultiPool *MultiPool
	// Lock guards every method when several goroutines share the IPAM; nil when one owns it. Who calls Store or MultiPool
	// directly then takes it too.
	Lock Locker
}

const defaultHostDevice = "cilium_host"
