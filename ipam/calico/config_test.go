package calico_test

import (
	"net/netip"
	"testing"

	"github.com/vppdrill/vppdrill/ipam/calico"
)

// Goal: a cluster's IPAMConfig is taken as Calico takes it. Method: what it says beside where two hosts of one pool find addresses by it, the
// second one after the first has claimed the only block.
func TestConfigured(t *testing.T) {
	pool := netip.MustParsePrefix("10.1.0.0/26")
	for _, c := range []struct {
		name          string
		config        calico.Config
		first, second bool
	}{
		{"none", calico.DefaultConfig(), true, true},
		{"strictAffinity", calico.Config{Strict: true, AutoAllocate: true}, true, false},
		{"autoAllocateBlocks: false", calico.Config{Strict: true}, false, false},
	} {
		p, err := calico.Pools{Ranges: []netip.Prefix{pool}, BlockBits: 26}.Configured(c.config)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if _, err := p.Assign(nil, "a", calico.Use{}); (err == nil) != c.first {
			t.Errorf("%s: a claims a block: %v", c.name, err)
		}
		if _, err := p.Assign([]calico.Block{calico.NewBlock(pool, "a")}, "b", calico.Use{}); (err == nil) != c.second {
			t.Errorf("%s: b borrows of a's block: %v", c.name, err)
		}
		if _, err := p.Assign([]calico.Block{calico.NewBlock(pool, "a")}, "a", calico.Use{}); err != nil {
			t.Errorf("%s: a uses the block that it has: %v", c.name, err)
		}
	}
	for _, c := range []calico.Config{{}, {AutoAllocate: true, MaxBlocks: -1}} {
		if _, err := (calico.Pools{}).Configured(c); err == nil {
			t.Errorf("%+v is taken", c)
		}
	}
	if p, err := (calico.Pools{}).Configured(calico.Config{AutoAllocate: true}); err != nil || p.MaxBlocks != calico.DefaultMaxBlocks {
		t.Errorf("%+v, %v", p, err)
	}
}

// Goal: each pool is cut by a block size of its own. Method: the blocks that one host claims where two pools have other sizes.
func TestBlockSizes(t *testing.T) {
	small, large := netip.MustParsePrefix("10.1.0.0/30"), netip.MustParsePrefix("10.2.0.0/24")
	p := calico.Pools{Ranges: []netip.Prefix{small, large}, BlockBits: 26, Lengths: map[netip.Prefix]int{small: 31}, MaxBlocks: 20}
	var blocks []calico.Block
	for _, want := range []int{31, 31, 26} {
		b, err := p.Assign(blocks, "a", make([]calico.Use, 64)...)
		if err != nil || b.CIDR.Bits() != want {
			t.Fatalf("%s, %v, want a /%d", b.CIDR, err, want)
		}
		blocks = append(blocks, b)
	}
}
