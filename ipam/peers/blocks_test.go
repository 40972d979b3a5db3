package peers

import (
	"errors"
	"fmt"
	"net/netip"
	"testing"

	ciliumset "github.com/cilium/cilium/pkg/ipam/cidrset"
	"github.com/vppdrill/vppdrill/ipam/internal/cidrset"
	kubeset "k8s.io/kubernetes/pkg/controller/nodeipam/ipam/cidrset"
)

// cluster is what node CIDRs are cut from: 65,536 of /24.
var cluster = netip.MustParsePrefix("10.0.0.0/8")

const blockBits = 24

// blockSet makes allocators of node CIDRs.
type blockSet struct {
	name   string
	module string
	fresh  func(cluster netip.Prefix, bits int) (blockBook, error)
}

// blockBook is one set of node CIDRs. pairs and take loop inside, so that no contestant pays for the call of another's
// shape.
type blockBook struct {
	next            func() (netip.Prefix, error)
	pairs, take     func(n int) error
	occupy, release func(netip.Prefix) error
}

// blockSource is what gives and takes back node CIDRs in a contestant's own shape.
type blockSource[P any] interface {
	AllocateNext() (P, error)
	Release(P) error
}

// blockPairs takes a block and gives it back, so many times.
func blockPairs[P any](s blockSource[P]) func(n int) error {
	return func(n int) error {
		for range n {
			p, err := s.AllocateNext()
			if err != nil {
				return err
			}
			if err := s.Release(p); err != nil {
				return err
			}
		}
		return nil
	}
}

// blockTakes takes so many blocks.
func blockTakes[P any](s blockSource[P]) func(n int) error {
	return func(n int) error {
		for range n {
			if _, err := s.AllocateNext(); err != nil {
				return err
			}
		}
		return nil
	}
}

func allBlockSets() []blockSet {
	return []blockSet{ourBlocks(), ciliumBlocks(), kubernetesBlocks()}
}

func ourBlocks() blockSet {
	return blockSet{name: "ours: ipam/internal/cidrset", fresh: func(cluster netip.Prefix, bits int) (blockBook, error) {
		s, err := cidrset.NewCIDRSet(cluster, bits)
		return blockBook{
			next: func() (netip.Prefix, error) { return s.AllocateNext() }, pairs: blockPairs(s), take: blockTakes(s), occupy: s.Occupy, release: s.Release,
		}, err
	}}
}

// racer gives a block and takes it back at a fill.
func (s blockSet) racer() contestant {
	return contestant{name: s.name, module: s.module, class: blocks, fill: func(fill int) (func(int) error, error) {
		allocator, err := s.fresh(cluster, blockBits)
		if err != nil {
			return nil, err
		}
		for i := range 1 << 16 {
			if scattered(i, fill) {
				p := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i >> 8), byte(i), 0}), blockBits)
				if err := allocator.occupy(p); err != nil {
					return nil, err
				}
			}
		}
		return allocator.pairs, nil
	}}
}

// filler gives all 65,536 blocks of fresh sets, one after the other: what a cluster's controller does with new nodes.
func (s blockSet) filler() contestant {
	return contestant{name: s.name, module: s.module, class: blocks, fill: func(int) (func(int) error, error) {
		return func(n int) error {
			for n > 0 {
				allocator, err := s.fresh(cluster, blockBits)
				if err != nil {
					return err
				}
				if err := allocator.take(min(n, 1<<16)); err != nil {
					return err
				}
				n -= 1 << 16
			}
			return nil
		}, nil
	}}
}

// churn takes from both, and gives the oldest of what is held back at each third step, to see that both go on behind
// the block given last. In the end everything is given back.
func churn(t *testing.T, ours, peer taker) {
	t.Helper()
	var held []string
	for step := range 50 {
		a, ourErr := ours.take()
		b, peerErr := peer.take()
		if a != b || (ourErr == nil) != (peerErr == nil) {
			t.Fatalf("step %d: ours gave %q (%v), the peer %q (%v)", step, a, ourErr, b, peerErr)
		}
		if ourErr == nil {
			held = append(held, a)
		}
		if step%3 == 2 && len(held) > 0 {
			if err := errors.Join(ours.giveBack(held[0]), peer.giveBack(held[0])); err != nil {
				t.Fatal(err)
			}
			held = held[1:]
		}
	}
	for _, a := range held {
		if err := errors.Join(ours.giveBack(a), peer.giveBack(a)); err != nil {
			t.Fatal(err)
		}
	}
}

// Node CIDRs: both peers and ours give the same blocks in the same order, refuse the same widths, and pass over what
// was occupied before, whole blocks, parts of them, and ranges of them.
func TestAgreeCIDRSets(t *testing.T) {
	for _, c := range [...]struct {
		cluster string
		bits    int
		occupy  []string
	}{
		{"10.0.0.0/16", 24, nil},
		{"10.0.0.0/16", 24, []string{"10.0.0.0/24", "10.0.7.0/24", "10.0.16.0/20", "10.0.255.0/24"}},
		{"10.0.0.0/24", 28, []string{"10.0.0.18/31"}},
		{"10.0.0.0/24", 24, nil},
		{"10.0.0.0/24", 26, []string{"10.0.0.0/8"}},
		{"10.0.0.0/24", 30, []string{"10.0.0.0/25"}},
		{"fd00::/56", 64, []string{"fd00:0:0:7::/64", "fd00:0:0:80::/58"}},
		{"fd00::/120", 126, nil},
		{"fd00::/48", 65, nil}, // too big for all three
	} {
		t.Run(fmt.Sprintf("%s into /%d less %v", c.cluster, c.bits, c.occupy), func(t *testing.T) {
			p := netip.MustParsePrefix(c.cluster)
			full := map[string]error{ // each side's word
				"ours: ipam/internal/cidrset": cidrset.ErrCIDRRangeNoCIDRsRemaining,
				"Cilium cidrset":              ciliumset.ErrCIDRRangeNoCIDRsRemaining,
				"Kubernetes cidrset":          kubeset.ErrCIDRRangeNoCIDRsRemaining,
			}
			sides := allBlockSets()
			refused := 0
			takers := make([]taker, len(sides))
			for i, s := range sides {
				allocator, err := s.fresh(p, c.bits)
				if err != nil {
					refused++
					continue
				}
				for _, o := range c.occupy {
					if err := allocator.occupy(netip.MustParsePrefix(o)); err != nil {
						t.Fatalf("%s: occupy %s: %v", s.name, o, err)
					}
				}
				takers[i] = taker{
					func() (string, error) { return textOf(allocator.next()) },
					func(b string) error { return allocator.release(netip.MustParsePrefix(b)) },
					is(full[s.name]),
				}
			}
			if refused == len(sides) {
				return
			}
			if refused > 0 {
				t.Fatalf("%d of %d refuse", refused, len(sides))
			}
			for i := 1; i < len(takers); i++ {
				ours := blockTaker(t, p, c.bits, c.occupy)
				churn(t, ours, takers[i])
				agree(t, true, ours, takers[i])
			}
		})
	}
}

func blockTaker(t *testing.T, p netip.Prefix, bits int, occupy []string) taker {
	t.Helper()
	allocator, err := ourBlocks().fresh(p, bits)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range occupy {
		if err := allocator.occupy(netip.MustParsePrefix(o)); err != nil {
			t.Fatal(err)
		}
	}
	return taker{
		func() (string, error) { return textOf(allocator.next()) },
		func(b string) error { return allocator.release(netip.MustParsePrefix(b)) },
		is(cidrset.ErrCIDRRangeNoCIDRsRemaining),
	}
}
