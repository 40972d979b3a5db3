package cilium

import (
	"fmt"
	"net/netip"
)

// AllocationResult is what an allocation gives.
type AllocationResult struct {
	// IP is the allocated address.
	IP netip.Addr
	// CIDRs are ranges that the address reaches directly, the VPC's own first. Empty outside cloud modes.
	CIDRs []netip.Prefix
	// Master is the MAC address of the interface that all traffic of IP goes through; empty outside cloud modes.
	Master string
	// GatewayIP is the gateway that IP must use; the zero Addr when the node itself is.
	GatewayIP netip.Addr
	// ExpirationUUID names the expiration timer that AllocateNextWithExpiration started, else empty.
	ExpirationUUID string
	// PoolName is the pool that IP is from; empty in modes with one pool.
	PoolName string
}

// Allocator hands out addresses of one family.
type Allocator interface {
	// Allocate allocates exactly ip.
	Allocate(ip netip.Addr, owner string) (*AllocationResult, error)
	// Release frees ip.
	Release(ip netip.Addr) error
	// AllocateNext allocates an address of the allocator's choice.
	AllocateNext(owner string) (*AllocationResult, error)
	// Dump lists allocated addresses as keys and says in one line how full the allocator is.
	Dump() (allocated map[string]string, status string)
}

// excluder is an Allocator that can be told what not to pick. IPAM undoes picks of the others.
type excluder interface{ Exclude(p netip.Prefix) }

// hostScope hands out the node's allocation range.
type hostScope struct{ r *CIDRRange }

func newHostScope(cidr netip.Prefix, o RangeOptions, pick Picker) (*hostScope, error) {
	r, err := NewCIDRRange(cidr, o, pick)
	if err != nil {
		return nil, err
	}
	return &hostScope{r: r}, nil
}

// Allocate implements Allocator.
func (h *hostScope) Allocate(ip netip.Addr, _ string) (*AllocationResult, error) {
	if err := h.r.Allocate(ip); err != nil {
		return nil, err
	}
	return &AllocationResult{IP: ip}, nil
}

// Release implements Allocator; an address that is free, or not of this range, is no error.
func (h *hostScope) Release(ip netip.Addr) error {
	h.r.Release(ip)
	return nil
}

// AllocateNext implements Allocator.
func (h *hostScope) AllocateNext(string) (*AllocationResult, error) {
	ip, err := h.r.AllocateNext()
	if err != nil {
		return nil, err
	}
	return &AllocationResult{IP: ip}, nil
}

// Exclude keeps addresses of p from being picked.
func (h *hostScope) Exclude(p netip.Prefix) { h.r.Exclude(p) }

// Dump implements Allocator.
func (h *hostScope) Dump() (allocated map[string]string, status string) {
	allocated = make(map[string]string, h.r.Used())
	for ip := range h.r.All() {
		allocated[ip.String()] = ""
	}
	return allocated, fmt.Sprintf("%d/%d allocated from %s", h.r.Used(), h.r.Max(), h.r.CIDR())
}
