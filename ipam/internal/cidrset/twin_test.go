package cidrset

import (
	"errors"
	"math"
	"net/netip"
	"slices"
	"testing"

	"github.com/vppdrill/vppdrill/ipam/space"
	"pgregory.net/rapid"
)

// Goal: CIDRSet is a set of addresses seen in blocks, Ledger a bag of CIDRs seen in blocks, and neither miscounts.
// Method: rapid drives them beside twins that keep every address, or every claim, and look at all of them each time.

var clusters = []netip.Prefix{
	netip.MustParsePrefix("10.1.2.0/26"), netip.MustParsePrefix("10.1.2.0/30"), netip.MustParsePrefix("2001:db8::/122"),
	netip.MustParsePrefix("255.255.255.192/26"), netip.MustParsePrefix("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffc0/122"),
	netip.MustParsePrefix("0.0.0.0/26"), netip.MustParsePrefix("::/122"),
}

// drawCluster draws a cluster of at most 64 addresses and a node mask.
func drawCluster(t *rapid.T) (netip.Prefix, int) {
	c := rapid.SampledFrom(clusters).Draw(t, "cluster")
	return c, rapid.IntRange(c.Bits(), c.Addr().BitLen()).Draw(t, "mask")
}

// drawCIDR draws a prefix in or around a cluster, with host bits at times.
func drawCIDR(t *rapid.T, cluster netip.Prefix) netip.Prefix {
	a := cluster.Addr()
	for range rapid.IntRange(0, 63).Draw(t, "address") {
		if n := a.Next(); n.IsValid() {
			a = n
		}
	}
	return netip.PrefixFrom(a, rapid.IntRange(cluster.Bits()-2, a.BitLen()).Draw(t, "bits"))
}

// addresses are those of p inside the cluster.
func addresses(cluster, p netip.Prefix) (list []netip.Addr) {
	for a := cluster.Addr(); cluster.Contains(a); a = a.Next() {
		if p.Masked().Contains(a) {
			list = append(list, a)
		}
	}
	return list
}

// upTo are upstream's bounds of the histogram of tries.
var upTo = []int{1, 5, 25, 125, 625, math.MaxInt}

// slowSet is a CIDRSet that keeps addresses.
type slowSet struct {
	blocks []netip.Prefix
	used   map[netip.Addr]bool
	next   int
	// was says which blocks were taken when looked at last; metrics counts what became of them since the beginning.
	was     []bool
	metrics Metrics
}

// look counts blocks that became taken or free since the last look: after each operation, as one does not do both.
func (s *slowSet) look() Metrics {
	for i, b := range s.blocks {
		is := s.taken(b)
		if is && !s.was[i] {
			s.metrics.Allocations++
		} else if !is && s.was[i] {
			s.metrics.Releases++
		}
		s.was[i] = is
	}
	s.metrics.MaxCIDRs = uint64(len(s.blocks))
	return s.metrics
}

func newSlowSet(t *rapid.T, cluster netip.Prefix, mask int) *slowSet {
	s := &slowSet{used: make(map[netip.Addr]bool)}
	for i := range space.SubnetCount(cluster, mask) {
		b, err := space.Subnet(cluster, mask, i)
		if err != nil {
			t.Fatal(err)
		}
		s.blocks = append(s.blocks, b)
	}
	s.was = make([]bool, len(s.blocks))
	return s
}

func (s *slowSet) taken(b netip.Prefix) bool {
	for a := b.Addr(); b.Contains(a); a = a.Next() {
		if s.used[a] {
			return true
		}
	}
	return false
}

func (s *slowSet) count() (n int) {
	for _, b := range s.blocks {
		if s.taken(b) {
			n++
		}
	}
	return n
}

func (s *slowSet) allocate() (netip.Prefix, bool) {
	for tries := range s.blocks {
		i := (s.next + tries) % len(s.blocks)
		if b := s.blocks[i]; !s.taken(b) {
			s.next = (i + 1) % len(s.blocks)
			s.metrics.Tries = uint64(tries)
			s.metrics.TriesSum += uint64(tries)
			s.metrics.TriesHistogram[slices.IndexFunc(upTo, func(n int) bool { return tries <= n })]++
			for a := b.Addr(); b.Contains(a); a = a.Next() {
				s.used[a] = true
			}
			return b, true
		}
	}
	return netip.Prefix{}, false
}

func TestCIDRSetAgreesWithItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cluster, mask := drawCluster(t)
		set, err := NewCIDRSet(cluster, mask)
		if err != nil {
			t.Fatal(err)
		}
		slow := newSlowSet(t, cluster, mask)
		change := func(name string, do func(netip.Prefix) error, value bool) {
			p := drawCIDR(t, cluster)
			list := addresses(cluster, p)
			if err := do(p); (err != nil) != (len(list) == 0) || err != nil && !errors.Is(err, ErrOutOfRange) {
				t.Fatalf("%s %s: %v", name, p, err)
			}
			for _, a := range list {
				slow.used[a] = value
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"allocate": func(t *rapid.T) {
				p, err := set.AllocateNext()
				want, ok := slow.allocate()
				if p != want || (err == nil) != ok || err != nil && !errors.Is(err, ErrCIDRRangeNoCIDRsRemaining) {
					t.Fatalf("allocated %s, %v; want %s", p, err, want)
				}
			},
			"occupy":  func(*rapid.T) { change("occupy", set.Occupy, true) },
			"release": func(*rapid.T) { change("release", set.Release, false) },
			"": func(t *rapid.T) {
				n := uint64(slow.count())
				if set.AllocatedCIDRs() != n || set.Free() != set.MaxCIDRs()-n {
					t.Fatalf("%d blocks are taken, want %d", set.AllocatedCIDRs(), n)
				}
				if have, want := set.Metrics(), slow.look(); have != want {
					t.Fatalf("metrics %+v, want %+v", have, want)
				}
				for i, b := range slow.blocks {
					if set.Has(uint64(i)) != slow.taken(b) {
						t.Fatalf("block %s: %t", b, set.Has(uint64(i)))
					}
				}
			},
		})
	})
}

// Hundreds of blocks, so that searches go on behind a word of 64: the twin is one bool for each block.
func TestAllocateNextOverManyWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set, err := NewCIDRSet(netip.MustParsePrefix("10.0.0.0/16"), 24)
		if err != nil {
			t.Fatal(err)
		}
		taken, next := make([]bool, 256), 0
		change := func(do func(netip.Prefix) error, value bool) {
			bits := rapid.IntRange(17, 24).Draw(t, "bits")
			first := rapid.IntRange(0, 255).Draw(t, "block") >> (24 - bits) << (24 - bits)
			if err := do(netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, byte(first), 0}), bits)); err != nil {
				t.Fatal(err)
			}
			for i := range 1 << (24 - bits) {
				taken[first+i] = value
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"occupy":  func(*rapid.T) { change(set.Occupy, true) },
			"release": func(*rapid.T) { change(set.Release, false) },
			"allocate": func(t *rapid.T) {
				for range rapid.IntRange(1, 100).Draw(t, "many") {
					want := netip.Prefix{}
					for n := range taken {
						if i := (next + n) % 256; !taken[i] {
							taken[i], next = true, i+1
							want = netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, byte(i), 0}), 24)
							break
						}
					}
					if have, err := set.AllocateNext(); have != want || (err == nil) != want.IsValid() {
						t.Fatalf("allocated %s, %v; want %s", have, err, want)
					}
				}
			},
		})
	})
}

func TestLedgerAgreesWithItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cluster, mask := drawCluster(t)
		ledger, err := NewLedger(cluster, mask)
		if err != nil {
			t.Fatal(err)
		}
		slow := newSlowSet(t, cluster, mask)
		var claims []netip.Prefix
		t.Repeat(map[string]func(*rapid.T){
			"allocate": func(t *rapid.T) {
				p, err := ledger.AllocateNext()
				want, ok := slow.allocate()
				if p != want || (err == nil) != ok {
					t.Fatalf("allocated %s, %v; want %s", p, err, want)
				}
				if ok {
					claims = append(claims, p)
				}
			},
			"claim": func(t *rapid.T) {
				p := drawCIDR(t, cluster)
				if err := ledger.Claim(p); (err == nil) != (len(addresses(cluster, p)) > 0) {
					t.Fatalf("claim %s: %v", p, err)
				} else if err == nil {
					claims = append(claims, p.Masked())
				}
			},
			"return": func(t *rapid.T) {
				if len(claims) == 0 {
					t.Skip("nothing is claimed")
				}
				i := rapid.IntRange(0, len(claims)-1).Draw(t, "claim")
				before := ledger.Free()
				freed, err := ledger.Return(claims[i])
				if err != nil || ledger.Free() != before+freed {
					t.Fatalf("return %s: %d freed, %v", claims[i], freed, err)
				}
				claims = append(claims[:i:i], claims[i+1:]...)
			},
			"": func(t *rapid.T) {
				clear(slow.used)
				for _, c := range claims {
					for _, a := range addresses(cluster, c) {
						slow.used[a] = true
					}
				}
				if used := ledger.MaxCIDRs() - ledger.Free(); used != uint64(slow.count()) {
					t.Fatalf("%d blocks are claimed, want %d of %v", used, slow.count(), claims)
				}
				if have, want := ledger.Metrics(), slow.look(); have != want {
					t.Fatalf("metrics %+v, want %+v", have, want)
				}
				p, n := drawCIDR(t, cluster), 0
				for _, c := range claims {
					// A claim of more than the cluster counts with what it has of the cluster.
					if c.Overlaps(p.Masked()) && len(addresses(cluster, p)) > 0 {
						n++
					}
				}
				if ledger.Claims(p) != n {
					t.Fatalf("%d claims overlap %s, want %d of %v", ledger.Claims(p), p, n, claims)
				}
				if n > 0 {
					return
				}
				if _, err := ledger.Return(p); err == nil {
					t.Fatalf("returned %s, which nobody claims", p)
				}
			},
		})
	})
}

func TestNewCIDRSetLimits(t *testing.T) {
	for _, c := range []struct {
		cluster string
		mask    int
		opts    []Option
		blocks  uint64
		err     string
	}{
		{"10.0.0.0/8", 30, nil, 1 << 22, ""},
		{"10.9.8.7/8", 8, nil, 1, ""},
		{"10.0.0.0/16", 15, nil, 0, "node mask size 15 does not split cluster CIDR 10.0.0.0/16"},
		{"10.0.0.0/16", 33, nil, 0, "node mask size 33 does not split cluster CIDR 10.0.0.0/16"},
		{"fd00::/48", 64, nil, 1 << 16, ""},
		{"fd00::/47", 64, nil, 0, "New CIDR set failed; the node CIDR size is too big: /64 in fd00::/47"},
		{"fd00::/47", 64, []Option{WithAnyWidth()}, 1 << 17, ""},
		{"fd00::/8", 71, []Option{WithAnyWidth()}, 1 << 63, ""},
		{"fd00::/8", 72, []Option{WithAnyWidth()}, 0, "New CIDR set failed; the node CIDR size is too big: /72 in fd00::/8"},
		{"::ffff:10.0.0.0/104", 24, nil, 1 << 16, ""},
	} {
		set, err := NewCIDRSet(netip.MustParsePrefix(c.cluster), c.mask, c.opts...)
		if c.err != "" {
			if err == nil || err.Error() != c.err {
				t.Errorf("%s /%d: %v, want %s", c.cluster, c.mask, err, c.err)
			}
			continue
		}
		if err != nil || set.MaxCIDRs() != c.blocks {
			t.Errorf("%s /%d: %v", c.cluster, c.mask, err)
			continue
		}
		first, err := set.AllocateNext()
		if err != nil || first.Bits() != c.mask || first.Addr() != set.ClusterCIDR().Addr() {
			t.Errorf("%s /%d: first block %s, %v", c.cluster, c.mask, first, err)
		}
	}
	if _, err := NewCIDRSet(netip.Prefix{}, 24); err == nil {
		t.Error("a set of the zero Prefix")
	}
}

// The quick way to a block's index agrees with the general one, at both ends of all ranges it is for, and around them.
func TestQuickWayAgreesWithTheGeneralOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := [16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "address"))
		a := netip.AddrFrom16(b)
		if rapid.Bool().Draw(t, "v4") {
			a = netip.AddrFrom4([4]byte(b[:4]))
		}
		wide := rapid.IntRange(0, 16).Draw(t, "width")
		bits := rapid.IntRange(0, min(a.BitLen(), 66)-wide).Draw(t, "cluster")
		set, err := NewCIDRSet(netip.PrefixFrom(a, bits), bits+wide)
		if err != nil {
			t.Fatal(err)
		}
		general := *set
		general.quick = quick{}
		i := rapid.SampledFrom([]uint64{0, 1, set.MaxCIDRs() / 2, set.MaxCIDRs() - 1}).Draw(t, "index") % set.MaxCIDRs()
		block := general.block(i)
		if set.block(i) != block {
			t.Fatalf("block %d is %s, want %s", i, set.block(i), block)
		}
		for _, p := range []netip.Prefix{
			block, netip.PrefixFrom(space.Last(block), block.Bits()), netip.PrefixFrom(a, bits+wide),
			netip.PrefixFrom(space.First(set.ClusterCIDR()).Prev(), bits+wide), netip.PrefixFrom(space.Last(set.ClusterCIDR()).Next(), bits+wide),
			netip.PrefixFrom(netip.AddrFrom16(a.As16()), bits+wide), // 4-in-6 when a is IPv4
		} {
			q, first, last, err := set.span(p)
			g, from, to, wrong := general.span(p)
			if q != g || first != from || last != to || (err == nil) != (wrong == nil) {
				t.Fatalf("%s: %s %d-%d %v, want %s %d-%d %v", p, q, first, last, err, g, from, to, wrong)
			}
		}
	})
}

func TestTriesHistogram(t *testing.T) {
	set, err := NewCIDRSet(netip.MustParsePrefix("10.0.0.0/18"), 30)
	if err != nil {
		t.Fatal(err)
	}
	at := uint64(0)
	for _, tries := range []uint64{0, 1, 2, 5, 6, 25, 26, 125, 126, 625, 626} {
		for i := range tries {
			if err := set.Occupy(set.block(at + i)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := set.AllocateNext(); err != nil || set.Metrics().Tries != tries {
			t.Fatalf("%d tries, %v; want %d", set.Metrics().Tries, err, tries)
		}
		at += tries + 1
	}
	if have, want := set.Metrics().TriesHistogram, [6]uint64{2, 2, 2, 2, 2, 1}; have != want {
		t.Errorf("histogram %v, want %v", have, want)
	}
}
