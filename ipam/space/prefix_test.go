package space

import (
	"errors"
	"math/big"
	"net/netip"
	"testing"

	"pgregory.net/rapid"
)

// Goal: the arithmetic agrees with arbitrary-precision integers for every prefix of both families, and tells outside
// from inside. Method: rapid draws prefixes and numbers near every edge; the twin computes with math/big.

// anyPrefix draws a masked prefix of either family, but none of IPv6 that holds 4-in-6 forms: those are IPv4.
func anyPrefix(t *rapid.T) netip.Prefix {
	width := rapid.SampledFrom([]int{32, 128}).Draw(t, "width")
	raw := rapid.SliceOfN(rapid.Byte(), width/8, width/8).Draw(t, "addr")
	addr, _ := netip.AddrFromSlice(raw)
	p := Normal(netip.PrefixFrom(addr, rapid.IntRange(0, width).Draw(t, "bits")))
	if p.Overlaps(netip.MustParsePrefix("::ffff:0.0.0.0/96")) {
		return netip.MustParsePrefix("2001:db8::/32")
	}
	return p
}

func bigOf(a netip.Addr) *big.Int { return new(big.Int).SetBytes(a.AsSlice()) }

func bigAddr(n *big.Int, width int) netip.Addr {
	a, _ := netip.AddrFromSlice(n.FillBytes(make([]byte, width/8)))
	return a
}

func sizeOf(p netip.Prefix) *big.Int { return new(big.Int).Lsh(big.NewInt(1), uint(HostBits(p))) }

// numberNear draws numbers around 0, the limit, and powers of two.
func numberNear(t *rapid.T, limit *big.Int) uint64 {
	n := rapid.Uint64().Draw(t, "n") >> rapid.IntRange(0, 63).Draw(t, "shift")
	if limit.IsUint64() && rapid.Bool().Draw(t, "edge") {
		n = limit.Uint64() + uint64(rapid.IntRange(-2, 2).Draw(t, "delta"))
	}
	return n
}

func TestNthAgreesWithBigIntegers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyPrefix(t)
		n := numberNear(t, sizeOf(p))
		inside := new(big.Int).SetUint64(n).Cmp(sizeOf(p)) < 0
		have, err := Nth(p, n)
		if inside != (err == nil) || !inside && !errors.Is(err, ErrOutside) {
			t.Fatalf("Nth(%s, %d): %v", p, n, err)
		}
		if !inside {
			if _, err := NthLast(p, n); !errors.Is(err, ErrOutside) {
				t.Fatalf("NthLast(%s, %d): %v", p, n, err)
			}
			return
		}
		width := p.Addr().BitLen()
		sum := new(big.Int).Add(bigOf(p.Addr()), new(big.Int).SetUint64(n))
		if want := bigAddr(sum, width); have != want {
			t.Fatalf("Nth(%s, %d) = %s, want %s", p, n, have, want)
		}
		if i, ok := Index(p, have); !ok || i != n {
			t.Fatalf("Index(%s, %s) = %d %v, want %d", p, have, i, ok, n)
		}
		end := new(big.Int).Add(bigOf(p.Addr()), sizeOf(p))
		want := bigAddr(end.Sub(end, new(big.Int).SetUint64(n)).Sub(end, big.NewInt(1)), width)
		if have, err := NthLast(p, n); err != nil || have != want {
			t.Fatalf("NthLast(%s, %d) = %s %v, want %s", p, n, have, err, want)
		}
	})
}

func TestSubnetAgreesWithBigIntegers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyPrefix(t)
		width := p.Addr().BitLen()
		length := rapid.IntRange(-1, width+1).Draw(t, "length")
		fits := length >= p.Bits() && length <= width
		count := new(big.Int)
		if fits {
			count.Lsh(big.NewInt(1), uint(length-p.Bits()))
		}
		if have := SubnetCount(p, length); count.IsUint64() && have != count.Uint64() || !count.IsUint64() && have != ^uint64(0) {
			t.Fatalf("SubnetCount(%s, %d) = %d, want %s", p, length, have, count)
		}
		n := numberNear(t, count)
		have, err := Subnet(p, length, n)
		inside := fits && new(big.Int).SetUint64(n).Cmp(count) < 0
		if inside != (err == nil) {
			t.Fatalf("Subnet(%s, %d, %d): %v", p, length, n, err)
		}
		if !inside {
			return
		}
		base := new(big.Int).Lsh(new(big.Int).SetUint64(n), uint(width-length))
		want := netip.PrefixFrom(bigAddr(base.Add(base, bigOf(p.Addr())), width), length)
		if have != want || !Contains(p, have) || !Overlap(p, have) {
			t.Fatalf("Subnet(%s, %d, %d) = %s, want %s", p, length, n, have, want)
		}
		for _, a := range [...]netip.Addr{First(have), Last(have)} {
			if i, err := SubnetIndex(p, length, a); err != nil || i != n {
				t.Fatalf("SubnetIndex(%s, %d, %s) = %d %v, want %d", p, length, a, i, err, n)
			}
		}
	})
}

func TestAddAgreesWithBigIntegers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyPrefix(t)
		a := rapid.SampledFrom([]netip.Addr{p.Addr(), Last(p), Last(netip.PrefixFrom(p.Addr(), 0))}).Draw(t, "addr")
		n := rapid.OneOf(rapid.Uint64Range(0, 3), rapid.Uint64()).Draw(t, "n")
		want, width := new(big.Int).Add(bigOf(a), new(big.Int).SetUint64(n)), a.BitLen()
		have, err := Add(a, n)
		if beyond := want.BitLen() > width; beyond != errors.Is(err, ErrOutside) || beyond != (err != nil) {
			t.Fatalf("%s + %d = %s %v", a, n, have, err)
		}
		if err != nil {
			return
		}
		if have != bigAddr(want, width) {
			t.Fatalf("%s + %d = %s, want %s", a, n, have, bigAddr(want, width))
		}
		if d, ok := Distance(a, have); !ok || d != n {
			t.Fatalf("from %s to %s are %d %v, want %d", a, have, d, ok, n)
		}
		if d, ok := Distance(have, a); ok != (n == 0) || d != 0 && ok {
			t.Fatalf("from %s back to %s are %d", have, a, d)
		}
	})
}

func TestWholeFamilies(t *testing.T) {
	if n := Count(netip.MustParsePrefix("::/0")); n != ^uint64(0) {
		t.Errorf("::/0 has %d addresses, want saturation", n)
	}
	if n := Count(netip.MustParsePrefix("::/64")); n != ^uint64(0) {
		t.Errorf("::/64 has %d addresses, want saturation", n)
	}
}

func TestFourInSixIsIPv4(t *testing.T) {
	v4, mapped := netip.MustParsePrefix("10.1.2.0/24"), netip.MustParsePrefix("::ffff:10.1.2.3/120")
	if Normal(mapped) != v4 || !Overlap(v4, mapped) || !Contains(mapped, v4) {
		t.Errorf("%s and %s differ", v4, mapped)
	}
	a := netip.MustParseAddr("::ffff:10.1.2.7")
	if i, ok := Index(v4, a); !ok || i != 7 {
		t.Errorf("index of %s in %s is %d %v", a, v4, i, ok)
	}
	if p, err := ParsePrefix("::ffff:10.1.2.3/95"); err != nil || p.Addr().Is4() {
		t.Errorf("a prefix shorter than the form's 96 bits became %s %v", p, err)
	}
}

func TestZeroPrefixIsAnError(t *testing.T) {
	var zero netip.Prefix
	_, err1 := Nth(zero, 0)
	_, err2 := NthLast(zero, 0)
	_, err3 := Subnet(zero, 0, 0)
	_, err4 := NewPool(PoolConfig{})
	_, err5 := NewSubnets(zero, 24)
	if err := errors.Join(err1, err2, err3, err4, err5); err == nil || err1 == nil || err2 == nil || err3 == nil || err4 == nil || err5 == nil {
		t.Errorf("some of these passed: %v", err)
	}
	if Count(zero) != 0 || HostBits(zero) != 0 || SubnetCount(zero, 3) != 0 || Overlap(zero, zero) {
		t.Error("the zero prefix holds something")
	}
}

func FuzzParsePrefix(f *testing.F) {
	for _, s := range [...]string{"10.1.2.3/16", "::ffff:10.0.0.1/100", "fe80::/10", "1.2.3./19", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePrefix(text)
		if err != nil {
			return
		}
		if again, err := ParsePrefix(p.String()); err != nil || again != p {
			t.Fatalf("%q is %s and then %s %v", text, p, again, err)
		}
	})
}
