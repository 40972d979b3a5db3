package cilium

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/vppdrill/vppdrill/ipam/space"
)

// normalize gives every address and prefix its normal form and empty lists and maps their nil form.
func (n *CiliumNode) normalize() (err error) {
	w := n.Spec.IPAM.Watermarks
	for _, x := range [...]int{w.MinAllocate, w.MaxAllocate, w.PreAllocate, w.MaxAboveWatermark} {
		if x < 0 || x > numberMax {
			return fmt.Errorf("watermark %d is not in 0..%d", x, numberMax)
		}
	}
	if n.Spec.IPAM.Pool, err = normalKeys(n.Spec.IPAM.Pool); err != nil {
		return err
	}
	if n.Status.IPAM.Used, err = normalKeys(n.Status.IPAM.Used); err != nil {
		return err
	}
	if n.Status.IPAM.ReleaseIPs, err = normalKeys(n.Status.IPAM.ReleaseIPs); err != nil {
		return err
	}
	for _, ip := range sortedAddrs(n.Status.IPAM.ReleaseIPs) {
		if s := n.Status.IPAM.ReleaseIPs[ip]; !s.Valid() {
			return fmt.Errorf("handshake state %q of %s is not known", s, ip)
		}
	}
	if n.Spec.IPAM.PodCIDRs, err = normalPrefixes(n.Spec.IPAM.PodCIDRs); err != nil {
		return err
	}
	return errors.Join(n.Spec.IPAM.Pools.normalize(), n.Status.ENI.normalize())
}

func (p *PoolsSpec) normalize() (err error) {
	for _, r := range p.Requested {
		if r.Pool == "" || min(r.Needed.IPv4Addrs, r.Needed.IPv6Addrs) < 0 || max(r.Needed.IPv4Addrs, r.Needed.IPv6Addrs) > numberMax {
			return fmt.Errorf("request of %+v from pool %q", r.Needed, r.Pool)
		}
	}
	for i := range p.Allocated {
		a := &p.Allocated[i]
		if a.Pool == "" {
			return errors.New("an allocation names no pool")
		}
		if a.CIDRs, err = normalPrefixes(a.CIDRs); err != nil {
			return err
		}
	}
	if len(p.Requested) == 0 {
		p.Requested = nil
	}
	if len(p.Allocated) == 0 {
		p.Allocated = nil
	}
	return nil
}

func normalKeys[M ~map[netip.Addr]V, V any](m M) (M, error) {
	if len(m) == 0 {
		return nil, nil
	}
	normal := make(M, len(m))
	for _, ip := range sortedAddrs(map[netip.Addr]V(m)) {
		key := space.NormalAddr(ip)
		if _, twice := normal[key]; twice || !key.IsValid() {
			return nil, fmt.Errorf("address %q is not valid or there twice", key)
		}
		normal[key] = m[ip]
	}
	return normal, nil
}

func normalPrefixes(list []netip.Prefix) ([]netip.Prefix, error) {
	if len(list) == 0 {
		return nil, nil
	}
	normal := make([]netip.Prefix, len(list))
	for i, p := range list {
		if normal[i] = space.Normal(p); !normal[i].IsValid() {
			return nil, errors.New("a CIDR is empty")
		}
	}
	return normal, nil
}
