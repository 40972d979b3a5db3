package contiv

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// AllocatePodIP gives the pod an address. With internal IPAM the same pod gets the same address again, and the other two
// arguments do not matter. With external IPAM ipamData is one IPConfig of a CNI result,
// {"version":"4","address":"10.244.3.9/24"}, which replaces the pod's address; ipamType is not looked at.
// Errors wrap ipam.ErrExhausted, or ipam.ErrTaken for an external address that another pod has.
func (i *IPAM) AllocatePodIP(podID PodID, ipamType, ipamData string) (netip.Addr, error) {
	defer i.lock()()
	s := &i.state
	if !s.ready {
		return netip.Addr{}, errNotReady
	}
	if s.plan.External {
		return s.allocateExternal(podID, ipamType, ipamData)
	}
	if addr, ok := s.podToIP[podID]; ok {
		return addr, nil
	}
	addr, ok := s.pool.Allocate(i.now())
	if !ok {
		return netip.Addr{}, fmt.Errorf("no IP address is free for allocation in the subnet %s with %d addresses: %w",
			s.pods, s.pool.Capacity(), ipam.ErrExhausted)
	}
	s.assign(podID, addr)
	return addr, nil
}

// ipConfig is the part of a CNI IPConfig that counts here.
type ipConfig struct {
	Address string `json:"address"`
}

func (s *state) allocateExternal(podID PodID, ipamType, ipamData string) (netip.Addr, error) {
	var c ipConfig
	if err := json.Unmarshal([]byte(ipamData), &c); err != nil {
		return netip.Addr{}, fmt.Errorf("error by unmarshalling external IPAM result of %q: %w", ipamType, err)
	}
	p, err := netip.ParsePrefix(c.Address)
	if err != nil {
		return netip.Addr{}, fmt.Errorf("error by unmarshalling external IPAM result of %q: %w", ipamType, err)
	}
	addr := space.NormalAddr(p.Addr())
	if other, taken := s.ipToPod[addr]; taken && other != podID {
		return netip.Addr{}, fmt.Errorf("address %s of pod %s is held by pod %s: %w", addr, podID, other, ipam.ErrTaken)
	}
	s.forget(podID)
	s.assign(podID, addr)
	return addr, nil
}

func (s *state) forget(podID PodID) (netip.Addr, bool) {
	addr, ok := s.podToIP[podID]
	if ok {
		delete(s.podToIP, podID)
		delete(s.ipToPod, addr)
	}
	return addr, ok
}

// GetPodIP is the pod's address with a full-length mask, the zero Prefix for a pod without one.
func (i *IPAM) GetPodIP(podID PodID) netip.Prefix {
	defer i.lock()()
	addr, ok := i.state.podToIP[podID]
	if !ok {
		return netip.Prefix{}
	}
	return netip.PrefixFrom(addr, addr.BitLen())
}

// ReleasePodIP takes the pod's address back. An unknown pod is success. The cursor stays: the address comes back only
// after the others.
func (i *IPAM) ReleasePodIP(podID PodID) error {
	defer i.lock()()
	if addr, ok := i.state.forget(podID); ok {
		i.state.pool.Release(i.now(), addr)
	}
	return nil
}

// now is only looked at by a pool with a reuse delay, and then there is a clock.
func (i *IPAM) now() time.Time {
	if i.Now == nil {
		return time.Time{}
	}
	return i.Now()
}
