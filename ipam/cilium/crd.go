package cilium

import (
	"fmt"
	"net/netip"
)

// crdAllocator hands out the CiliumNode's pool.
type crdAllocator struct {
	store  *NodeStore
	family Family
}

// Allocate implements Allocator.
func (a *crdAllocator) Allocate(ip netip.Addr, owner string) (*AllocationResult, error) {
	return a.store.allocate(ip, owner)
}

// AllocateNext implements Allocator.
func (a *crdAllocator) AllocateNext(owner string) (*AllocationResult, error) {
	return a.store.allocateNext(a.family, owner)
}

// Release implements Allocator; an address that is not allocated is an error.
func (a *crdAllocator) Release(ip netip.Addr) error { return a.store.release(ip) }

// Exclude keeps addresses of p from being picked.
func (a *crdAllocator) Exclude(p netip.Prefix) {
	a.store.excluded.add(IPNetWithOwner{net: p})
	a.store.index()
}

// Dump implements Allocator.
func (a *crdAllocator) Dump() (allocated map[string]string, status string) {
	allocated = make(map[string]string)
	//vppdrill:unordered a map is filled
	for ip := range a.store.used {
		if DeriveFamily(ip) == a.family {
			allocated[ip.String()] = ""
		}
	}
	return allocated, fmt.Sprintf("%d/%d allocated", len(allocated), a.store.size(a.family))
}
