package peers

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/cilium/cilium/pkg/ipam/cidrset"
	"github.com/cilium/cilium/pkg/ipam/service/ipallocator"
	ourcilium "github.com/vppdrill/vppdrill/ipam/cilium"
)

const ciliumModule = "github.com/cilium/cilium"

// ciliumRange is what Cilium's agents give pod addresses from.
func ciliumRange() contestant {
	return contestant{name: "Cilium ipallocator", module: ciliumModule, class: bare, fill: func(fill int) (func(int) error, error) {
		r := ipallocator.NewCIDRRange(slash16)
		for i := 1; i < 1<<16-1; i++ {
			if scattered(i, fill) {
				if err := r.Allocate(nth(i)); err != nil {
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
				r.Release(a)
			}
			return nil
		}, nil
	}}
}

// ciliumBlocks is what Cilium's operator gives pod CIDRs from.
func ciliumBlocks() blockSet {
	return blockSet{name: "Cilium cidrset", module: ciliumModule, fresh: func(cluster netip.Prefix, bits int) (blockBook, error) {
		s, err := cidrset.NewCIDRSet(cluster, bits)
		return blockBook{
			next: func() (netip.Prefix, error) { return s.AllocateNext() }, pairs: blockPairs(s), take: blockTakes(s), occupy: s.Occupy, release: s.Release,
		}, err
	}}
}

// Cilium's range: first and last address are left out unless a range has at most two, and asking for them is allowed.
func TestAgreeCiliumRange(t *testing.T) {
	for _, text := range [...]string{"10.1.0.0/24", "10.1.0.0/29", "10.1.0.4/30", "10.1.0.4/31", "10.1.0.5/32", "10.1.0.9/28", "fd00::/120", "fd00::/127", "fd00::1/128"} {
		for _, o := range [...]struct {
			ours ourcilium.RangeOptions
			peer []ipallocator.CIDRRangeOption
		}{
			{},
			{ourcilium.RangeOptions{AllowFirst: true}, []ipallocator.CIDRRangeOption{ipallocator.WithAllowFirstIP()}},
			{ourcilium.RangeOptions{AllowLast: true}, []ipallocator.CIDRRangeOption{ipallocator.WithAllowLastIP()}},
			{ourcilium.RangeOptions{AllowFirst: true, AllowLast: true}, []ipallocator.CIDRRangeOption{ipallocator.WithAllowFirstLastIPs()}},
		} {
			t.Run(fmt.Sprintf("%s/%+v", text, o.ours), func(t *testing.T) {
				p := netip.MustParsePrefix(text)
				ours, err := ourcilium.NewCIDRRange(p, o.ours, dice{})
				if err != nil {
					t.Fatal(err)
				}
				peer := ipallocator.NewCIDRRange(p, o.peer...)
				if a, b := int(ours.Free()), peer.Free(); a != b {
					t.Errorf("ours has %d free, the peer %d", a, b)
				}
				for a := p.Masked().Addr(); p.Contains(a); a = a.Next() {
					if x, y := ours.Allocate(a) == nil, peer.Allocate(a) == nil; x != y {
						t.Fatalf("take %s: ours %v, the peer %v", a, x, y)
					}
					if x, y := ours.Allocate(a) == nil, peer.Allocate(a) == nil; x || y {
						t.Fatalf("take %s again: ours %v, the peer %v", a, x, y)
					}
					ours.Release(a)
					peer.Release(a)
				}
				agree(t, false, taker{
					func() (string, error) { return textOf(ours.AllocateNext()) },
					func(a string) error { ours.Release(netip.MustParseAddr(a)); return nil },
					is(ourcilium.ErrFull),
				}, taker{
					func() (string, error) { return textOf(peer.AllocateNext()) },
					func(a string) error { peer.Release(netip.MustParseAddr(a)); return nil },
					is(ipallocator.ErrFull),
				})
			})
		}
	}
}
