package contiv

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/ipam/space"
)

// AllocatePodIP gives the pod an address. With internal IPAM the same pod gets the same address again, and the other
// two arguments do not matter. With external IPAM ipamData is one IPConfig of a CNI result,
// {"version":"4","address":"10.244.3.9/24"}, which replaces the pod's address; ipamType is not looked at. Errors wrap
// ipam.ErrExhausted, or ipam.ErrTaken for an external address that another pod has.
func (i *IPAM) AllocatePodIP(podID PodID, ipamType, ipamData string) (netip.Addr, error) {
	defer i.lock()()
	s := &i.state
	if s.alloc == nil {
		return netip.Addr{}, errNotReady
	}
	if s.plan.External {
		return s.allocateExternal(i.now(), podID, ipamType, ipamData)
	}
	if addr, ok := s.aside[podID]; ok {
		return addr, nil
	}
	l, _, err := s.alloc.Allocate(i.now(), podID.owner(), ipam.Want{})
	if err != nil {
		return netip.Addr{}, fmt.Errorf("no IP address is free for allocation in the subnet: %w", err)
	}
	return l.Addr, nil
}

// owner is the pod as the allocator knows it: a plugin's pod has one interface.
func (id PodID) owner() ipam.Owner {
	return ipam.Owner{Network: "pod", ContainerID: id.Namespace + ":" + id.Name, IfName: "eth0"}
}

// ipConfig is the part of a CNI IPConfig that counts here.
type ipConfig struct {
	Address string `json:"address"`
}

func (s *state) allocateExternal(now time.Time, podID PodID, ipamType, ipamData string) (netip.Addr, error) {
	var c ipConfig
	err := json.Unmarshal([]byte(ipamData), &c)
	var p netip.Prefix
	if err == nil {
		p, err = netip.ParsePrefix(c.Address)
	}
	if err != nil {
		return netip.Addr{}, fmt.Errorf("error by unmarshalling external IPAM result of %q: %w", ipamType, err)
	}
	addr, o := space.NormalAddr(p.Addr()), podID.owner()
	old, had := s.alloc.Lease(o)
	if had && old.Addr == addr {
		return addr, nil
	}
	s.alloc.Release(now, o)
	_, _, err = s.alloc.Allocate(now, o, ipam.Want{Addr: addr})
	switch {
	case err == nil:
		delete(s.aside, podID)
	case errors.Is(err, ipam.ErrNotInPool):
		err = s.putAside(podID, addr)
	}
	if err != nil && had {
		// Nobody has taken it since.
		_ = s.alloc.Apply(ipam.Record{Op: ipam.OpLease, Owner: o, Addr: old.Addr, Prefix: old.Block, At: old.Since})
	}
	if err != nil {
		return netip.Addr{}, err
	}
	return addr, nil
}

// GetPodIP is the pod's address with a full-length mask, the zero Prefix for a pod without one.
func (i *IPAM) GetPodIP(podID PodID) netip.Prefix {
	defer i.lock()()
	addr := i.state.aside[podID]
	if i.state.alloc != nil && !addr.IsValid() {
		l, _ := i.state.alloc.Lease(podID.owner())
		addr = l.Addr
	}
	return netip.PrefixFrom(addr, addr.BitLen())
}

// ReleasePodIP takes the pod's address back. An unknown pod is success. The cursor stays: the address comes back only
// after the others.
func (i *IPAM) ReleasePodIP(podID PodID) error {
	defer i.lock()()
	if i.state.alloc != nil {
		delete(i.state.aside, podID)
		i.state.alloc.Release(i.now(), podID.owner())
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
