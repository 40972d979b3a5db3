package cilium

import (
	"errors"
	"net/netip"
	"slices"
	"testing"

	"github.com/vppdrill/vppdrill/ipam/space"
	"pgregory.net/rapid"
)

// scatter is a Picker with a fixed irregular stream; two with the same state decide alike.
type scatter uint64

func (s *scatter) Pick(_ string, n int) int {
	*s = *s*6364136223846793005 + 1442695040888963407
	return int(uint64(*s)>>33) % n
}

// slowRange looks at every address of its CIDR for everything.
type slowRange struct {
	all      []netip.Addr // given out at all, ascending
	taken    map[netip.Addr]bool
	excluded []netip.Prefix
	pick     *scatter
}

func newSlowRange(cidr netip.Prefix, o RangeOptions, pick *scatter) *slowRange {
	s := &slowRange{taken: make(map[netip.Addr]bool), pick: pick}
	for a := cidr.Addr(); cidr.Contains(a); a = a.Next() {
		s.all = append(s.all, a)
	}
	if len(s.all) > 2 {
		if !o.AllowLast {
			s.all = s.all[:len(s.all)-1]
		}
		if !o.AllowFirst {
			s.all = s.all[1:]
		}
	}
	return s
}

func (s *slowRange) free(a netip.Addr) bool {
	return !s.taken[a] && !slices.ContainsFunc(s.excluded, func(p netip.Prefix) bool { return p.Contains(a) })
}

func (s *slowRange) next() (netip.Addr, error) {
	if !slices.ContainsFunc(s.all, s.free) {
		return netip.Addr{}, ErrFull
	}
	start := s.pick.Pick("", len(s.all))
	for i := range s.all {
		if a := s.all[(start+i)%len(s.all)]; s.free(a) {
			s.taken[a] = true
			return a, nil
		}
	}
	panic("unreachable")
}

func (s *slowRange) allocate(a netip.Addr) error {
	switch {
	case !slices.Contains(s.all, a):
		return NotInRangeError{}
	case s.taken[a]:
		return ErrAllocated
	}
	s.taken[a] = true
	return nil
}

// Goal: CIDRRange does exactly what its slow twin does, with exclusions at any time, and never gives out an excluded
// one. Method: rapid drives both over small CIDRs of both families, with the same stream of picks.
func TestRangeAgreesWithItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cidr := netip.MustParsePrefix(rapid.SampledFrom([]string{
			"10.0.0.16/28", "10.0.0.8/29", "10.0.0.4/30", "10.0.0.2/31", "10.0.0.1/32", "10.0.1.0/24", "2001:db8::40/123", "2001:db8::/127",
		}).Draw(t, "cidr"))
		o := RangeOptions{AllowFirst: rapid.Bool().Draw(t, "first"), AllowLast: rapid.Bool().Draw(t, "last")}
		seed := scatter(rapid.Uint64().Draw(t, "seed"))
		one, two := seed, seed
		fast, err := NewCIDRRange(cidr, o, &one)
		if err != nil {
			t.Fatal(err)
		}
		slow := newSlowRange(cidr, o, &two)
		near := rapid.Custom(func(t *rapid.T) netip.Addr {
			a := cidr.Addr().Prev()
			for range rapid.IntRange(0, len(slow.all)+4).Draw(t, "index") {
				a = a.Next()
			}
			return a
		})
		next := func(t *rapid.T) {
			have, err := fast.AllocateNext()
			want, twin := slow.next()
			if have != want || !errors.Is(err, twin) {
				t.Fatalf("next %s %v, want %s %v", have, err, want, twin)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"next": next,
			"next many": func(t *rapid.T) { // whole words become full
				for range rapid.IntRange(1, 100).Draw(t, "many") {
					next(t)
				}
			},
			"allocate": func(t *rapid.T) {
				a := near.Draw(t, "addr")
				err, twin := fast.Allocate(a), slow.allocate(a)
				var have, want NotInRangeError
				if errors.As(err, &have) != errors.As(twin, &want) || !errors.As(err, &have) && !errors.Is(err, twin) {
					t.Fatalf("allocate %s: %v, want %v", a, err, twin)
				}
			},
			"release": func(t *rapid.T) {
				a := near.Draw(t, "addr")
				if fast.Release(a) != slow.taken[a] {
					t.Fatalf("release %s is not %v", a, slow.taken[a])
				}
				delete(slow.taken, a)
			},
			"exclude": func(t *rapid.T) {
				a := near.Draw(t, "addr")
				p := netip.PrefixFrom(a, a.BitLen()-rapid.IntRange(0, 6).Draw(t, "bits")).Masked()
				fast.Exclude(p)
				slow.excluded = append(slow.excluded, p)
			},
			"": func(t *rapid.T) {
				var want []netip.Addr
				free := 0
				for _, a := range slow.all {
					if slow.taken[a] {
						want = append(want, a)
					}
					if slow.free(a) {
						free++
					}
					if fast.Has(a) != slow.taken[a] {
						t.Fatalf("has %s is not %v", a, slow.taken[a])
					}
				}
				if have := slices.Collect(fast.All()); !slices.Equal(have, want) {
					t.Fatalf("allocated %v, want %v", have, want)
				}
				if fast.Free() != uint64(free) || fast.Used() != uint64(len(want)) || fast.Max() != uint64(len(slow.all)) {
					t.Fatalf("free %d used %d of %d, want %d, %d of %d", fast.Free(), fast.Used(), fast.Max(), free, len(want), len(slow.all))
				}
			},
		})
	})
}

// Ranges whose ends are far apart: IPv6 counts only its first 2^16 addresses, and exclusions may lie beyond them.
func TestWideRanges(t *testing.T) {
	for cidr, want := range map[string]struct {
		base string
		max  uint64
	}{
		"2001:db8::/32": {"2001:db8::1", 65534}, "::/0": {"::1", 65534}, "2001:db8::/112": {"2001:db8::1", 65534},
		"10.0.0.0/8": {"10.0.0.1", 1<<24 - 2}, "0.0.0.0/0": {"0.0.0.1", 1<<32 - 2}, "::ffff:10.0.0.0/120": {"10.0.0.1", 254},
	} {
		r, err := NewCIDRRange(netip.MustParsePrefix(cidr), RangeOptions{}, new(scatter))
		if err != nil || r.Base().String() != want.base || r.Max() != want.max {
			t.Errorf("%s: %v %v", cidr, r, err)
			continue
		}
		last, err := AddOffset(r.Base(), r.Max()-1)
		if err != nil || r.Allocate(last) != nil {
			t.Errorf("%s: the last address %s is not given out", cidr, last)
		}
		if beyond, err := AddOffset(last, 1); err != nil || r.Allocate(beyond) == nil {
			t.Errorf("%s: %s is given out", cidr, beyond)
		}
		half, err := space.Subnet(r.CIDR(), r.CIDR().Bits()+1, 1)
		if err != nil {
			t.Fatal(err)
		}
		free := r.Free()
		r.Exclude(half)
		if r.CIDR().Addr().Is6() && r.CIDR().Bits() < 112 && r.Free() != free {
			t.Errorf("%s: excluding %s took %d addresses", cidr, half, free-r.Free())
		}
		r.Exclude(netip.MustParsePrefix("::/0"))
		r.Exclude(netip.MustParsePrefix("0.0.0.0/0"))
		if _, err := r.AllocateNext(); r.Free() != 0 || !errors.Is(err, ErrFull) {
			t.Errorf("%s: %d free after everything was excluded, %v", cidr, r.Free(), err)
		}
	}
	if _, err := NewCIDRRange(netip.Prefix{}, RangeOptions{}, new(scatter)); err == nil {
		t.Error("the zero Prefix is a range")
	}
	if _, err := AddOffset(netip.MustParseAddr("255.255.255.255"), 1); !errors.Is(err, space.ErrOutside) {
		t.Errorf("the address behind the last: %v", err)
	}
	if _, err := AddrOffset(netip.MustParseAddr("10.0.0.2"), netip.MustParseAddr("10.0.0.1")); err == nil {
		t.Error("an offset is negative")
	}
}
