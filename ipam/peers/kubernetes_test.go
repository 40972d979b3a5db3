package peers

import (
	"net"
	"net/netip"
	"testing"

	"github.com/vppdrill/vppdrill/ipam/space"
	"k8s.io/kubernetes/pkg/controller/nodeipam/ipam/cidrset"
	"k8s.io/kubernetes/pkg/registry/core/service/ipallocator"
)

const kubernetesModule = "k8s.io/kubernetes"

// ipNet is a prefix in the standard library's older form, 4 bytes for IPv4.
func ipNet(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}

// prefixOf is the other way.
func prefixOf(n *net.IPNet) netip.Prefix {
	a, _ := netip.AddrFromSlice(n.IP)
	ones, _ := n.Mask.Size()
	return netip.PrefixFrom(a.Unmap(), ones)
}

// kubernetesServices is what the API server gives service addresses from.
func kubernetesServices() contestant {
	return contestant{name: "Kubernetes service ipallocator", module: kubernetesModule, class: bare, fill: func(fill int) (func(int) error, error) {
		r, err := ipallocator.NewInMemory(ipNet(slash16))
		if err != nil {
			return nil, err
		}
		for i := 1; i < 1<<16-1; i++ {
			if scattered(i, fill) {
				if err := r.Allocate(nth(i).AsSlice()); err != nil {
					return nil, err
				}
			}
		}
		return func(n int) error {
			for range n {
				a, err := r.AllocateNext()
				if err != nil {
					return err
				}
				if err := r.Release(a); err != nil {
					return err
				}
			}
			return nil
		}, nil
	}}
}

// kubernetesBlocks is what the node IPAM controller gives pod CIDRs from.
func kubernetesBlocks() blockSet {
	return blockSet{name: "Kubernetes cidrset", module: kubernetesModule, fresh: func(cluster netip.Prefix, bits int) (blockBook, error) {
		s, err := cidrset.NewCIDRSet(ipNet(cluster), bits)
		return blockBook{
			next: func() (netip.Prefix, error) {
				n, err := s.AllocateNext()
				if err != nil {
					return netip.Prefix{}, err
				}
				return prefixOf(n), nil
			},
			pairs:   blockPairs(s),
			take:    blockTakes(s),
			occupy:  func(p netip.Prefix) error { return s.Occupy(ipNet(p)) },
			release: func(p netip.Prefix) error { return s.Release(ipNet(p)) },
		}, err
	}}
}

// Kubernetes' services: neither first nor last address of IPv4, not the first of IPv6. Ours is a pool that reserves
// them.
func TestAgreeKubernetesServices(t *testing.T) {
	for _, text := range [...]string{"10.1.0.0/24", "10.1.0.0/27", "10.1.0.0/29", "fd00::/120"} {
		t.Run(text, func(t *testing.T) {
			p := netip.MustParsePrefix(text)
			peer, err := ipallocator.NewInMemory(ipNet(p))
			if err != nil {
				t.Fatal(err)
			}
			reserved := []netip.Addr{p.Addr()}
			if p.Addr().Is4() {
				reserved = append(reserved, space.Last(p))
			}
			ours, err := space.NewPool(space.PoolConfig{Prefix: p, Reserved: reserved})
			if err != nil {
				t.Fatal(err)
			}
			agree(t, false, poolTaker(ours), taker{
				func() (string, error) { return textOf(peer.AllocateNext()) },
				func(a string) error { return peer.Release(net.ParseIP(a)) },
				is(ipallocator.ErrFull),
			})
		})
	}
}
