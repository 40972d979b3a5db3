package space

import (
	"errors"
	"net/netip"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Goal: Subnets hands out, occupies and releases exactly the blocks that share addresses with what is asked.
// Method: the twin compares prefixes pairwise, block by block.
func TestSubnetsAgreesWithPairwiseOverlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SampledFrom([]netip.Prefix{
			netip.MustParsePrefix("10.1.0.0/20"), netip.MustParsePrefix("2001:db8::/56"), netip.MustParsePrefix("0.0.0.0/0"),
		}).Draw(t, "prefix")
		length := p.Bits() + rapid.IntRange(0, 7).Draw(t, "split")
		s, err := NewSubnets(p, length)
		if err != nil {
			t.Fatal(err)
		}
		var blocks []netip.Prefix
		for i := range SubnetCount(p, length) {
			b, _ := Subnet(p, length, i)
			blocks = append(blocks, b)
		}
		taken, cursor := make([]bool, len(blocks)), 0
		other := func() netip.Prefix {
			a, _ := Nth(p, rapid.Uint64Range(0, Count(p)-1).Draw(t, "address"))
			return netip.PrefixFrom(a, rapid.IntRange(max(p.Bits()-2, 0), p.Addr().BitLen()).Draw(t, "bits")).Masked()
		}
		mark := func(q netip.Prefix, to bool) (changed uint64) {
			for i, b := range blocks {
				if b.Overlaps(q) && taken[i] != to {
					taken[i] = to
					changed++
				}
			}
			return changed
		}
		t.Repeat(map[string]func(*rapid.T){
			"allocate": func(t *rapid.T) {
				want := netip.Prefix{}
				for n := range blocks {
					if i := (cursor + n) % len(blocks); !taken[i] {
						taken[i], cursor, want = true, i+1, blocks[i]
						break
					}
				}
				if have, ok := s.Allocate(); have != want || ok != want.IsValid() {
					t.Fatalf("allocated %s %v, want %s", have, ok, want)
				}
			},
			"occupy": func(t *rapid.T) {
				q := other()
				want := mark(q, true)
				if have, err := s.Occupy(q); err != nil || have != want || !s.Has(q) {
					t.Fatalf("occupy %s: %d %v, want %d", q, have, err, want)
				}
			},
			"release": func(t *rapid.T) {
				q := other()
				want := mark(q, false)
				if have, err := s.Release(q); err != nil || have != want || s.Has(q) {
					t.Fatalf("release %s: %d %v, want %d", q, have, err, want)
				}
			},
			"": func(t *rapid.T) {
				var want []netip.Prefix
				for i, b := range blocks {
					if taken[i] {
						want = append(want, b)
					}
				}
				if have := slices.Collect(s.All()); !slices.Equal(have, want) || s.Taken() != uint64(len(want)) {
					t.Fatalf("holds %v, want %v", have, want)
				}
			},
		})
	})
}

func TestSubnetsOutside(t *testing.T) {
	s, err := NewSubnets(netip.MustParsePrefix("10.1.0.0/16"), 24)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range [...]string{"10.2.0.0/24", "2001:db8::/64"} {
		if _, err := s.Occupy(netip.MustParsePrefix(text)); !errors.Is(err, ErrOutside) {
			t.Errorf("occupy %s: %v", text, err)
		}
	}
	if _, err := NewSubnets(netip.MustParsePrefix("::/0"), 128); err == nil {
		t.Error("2^128 subnets were accepted")
	}
	if _, err := NewSubnets(netip.MustParsePrefix("10.0.0.0/16"), 8); err == nil {
		t.Error("subnets longer than the prefix were accepted")
	}
}
