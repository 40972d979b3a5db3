package cilium

import (
	"net/netip"
	"time"
)

// multiPoolAllocator is one family's view on the default pool, for an IPAM.
type multiPoolAllocator struct {
	m      *MultiPool
	family Family
	now    func() time.Time
}

// Allocate implements Allocator.
func (a *multiPoolAllocator) Allocate(ip netip.Addr, owner string) (*AllocationResult, error) {
	return a.m.AllocateIP(DefaultPool, ip, owner)
}

// AllocateNext implements Allocator.
func (a *multiPoolAllocator) AllocateNext(owner string) (*AllocationResult, error) {
	return a.m.AllocateNext(a.now(), DefaultPool, a.family, owner)
}

// Release implements Allocator; an address that is not in use is no error.
func (a *multiPoolAllocator) Release(ip netip.Addr) error {
	a.m.ReleaseIP(DefaultPool, ip)
	return nil
}

// Exclude keeps addresses of p from being picked.
func (a *multiPoolAllocator) Exclude(p netip.Prefix) { a.m.Exclude(p) }

// Dump implements Allocator.
func (a *multiPoolAllocator) Dump() (allocated map[string]string, status string) {
	ips, status := a.m.pool(DefaultPool).half[a.family.at()].dump()
	allocated = make(map[string]string, len(ips))
	for _, ip := range ips {
		allocated[ip.String()] = ""
	}
	return allocated, status
}
