package hostmodel

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/vppdrill/vppdrill/scenarios/yardstick"
)

// naive is a routing table that is searched from its start, in the order in which routes came.
type naive []route

// lookup returns the first of the longest matches; connected IPv6 routes come before set ones.
func (n naive) lookup(a netip.Addr) (best route, ok bool) {
	for _, r := range n {
		longer := r.dst.Bits() > best.dst.Bits()
		before := r.dst.Bits() == best.dst.Bits() && a.Is6() && r.connected && !best.connected
		if r.dst.Contains(a) && (!ok || longer || before) {
			best, ok = r, true
		}
	}
	return best, ok
}

func (n *naive) set(r route) bool {
	first := slices.IndexFunc(*n, func(x route) bool {
		return x.dst == r.dst && (r.dst.Addr().Is4() || !x.connected)
	})
	if same := slices.Index(*n, r); same >= 0 {
		return same == first
	}
	if first >= 0 {
		(*n)[first] = r
		return true
	}
	*n = append(*n, r)
	return true
}

func (n *naive) addConnected(dst netip.Prefix, l *link) {
	if r := (route{dst: dst, link: l, connected: true}); !slices.Contains(*n, r) {
		*n = append(*n, r)
	}
}

func (n *naive) drop(gone func(route) bool) { *n = slices.DeleteFunc(*n, gone) }

// Goal: long tables, which are searched by length, answer as short ones do. Method: many random routes of both
// families.
func TestLongTableMatchesNaiveTwin(t *testing.T) {
	l := &link{name: "a"}
	rapid.Check(t, func(rt *rapid.T) {
		var table routes
		var twin naive
		var addrs []netip.Addr
		bytes := rapid.SliceOfN(rapid.Byte(), 200, 400).Draw(rt, "bytes")
		for i := 0; i+1 < len(bytes); i += 2 {
			a := netip.AddrFrom4([4]byte{10, 0, bytes[i] & 3, bytes[i+1]})
			if bytes[i]&4 != 0 {
				a = netip.AddrFrom16([16]byte{0xfd, 7: bytes[i] & 3, 8: bytes[i+1], 15: bytes[i+1] & 7})
			}
			addrs = append(addrs, a)
			dst, err := a.Prefix(a.BitLen() * int(bytes[i]>>3) / 31)
			if err != nil {
				rt.Fatal(err)
			}
			r := route{dst: dst, link: l}
			table.set(r)
			twin.set(r)
		}
		compareTables(rt, &table, twin, addrs)
	})
}

// Goal: the sorted table answers as the naive one does after any history. Method: random operations on both; then every
// address and the routes counted per link.
func TestTableMatchesNaiveTwin(t *testing.T) {
	links := []*link{{name: "a"}, {name: "b"}, {name: "c"}}
	var addrs []netip.Addr
	for i := range 16 {
		addrs = append(addrs, netip.AddrFrom4([4]byte{10, 0, 0, byte(i << 4)}), netip.AddrFrom16([16]byte{0xfd, 15: byte(i << 4)}))
	}
	rapid.Check(t, func(rt *rapid.T) {
		for _, l := range links {
			l.routes = 0
		}
		var table routes
		var twin naive
		draw := func() (netip.Prefix, *link) {
			a := rapid.SampledFrom(addrs).Draw(rt, "address")
			host := rapid.SampledFrom([]int{0, 4, 5, 6, 7, 8, 32}).Draw(rt, "host bits")
			dst, err := a.Prefix(a.BitLen() - host)
			if err != nil {
				rt.Fatal(err)
			}
			return dst, rapid.SampledFrom(links).Draw(rt, "link")
		}
		rt.Repeat(map[string]func(*rapid.T){
			"set": func(rt *rapid.T) {
				dst, l := draw()
				r := route{dst: dst, link: l}
				if rapid.Bool().Draw(rt, "gateway") {
					r.via = dst.Addr()
				}
				if got, want := table.set(r), twin.set(r); got != want {
					rt.Fatalf("set %v: %v, twin %v", r, got, want)
				}
			},
			"connected": func(*rapid.T) {
				dst, l := draw()
				table.addConnected(dst, l)
				twin.addConnected(dst, l)
			},
			"disconnected": func(*rapid.T) {
				dst, l := draw()
				table.dropConnected(dst, l)
				twin.drop(func(r route) bool { return r == route{dst: dst, link: l, connected: true} })
			},
			"link gone": func(rt *rapid.T) {
				_, l := draw()
				f := rapid.SampledFrom([]family{everyFamily, familyIPv4}).Draw(rt, "family")
				table.dropLink(l, f)
				twin.drop(func(r route) bool { return r.link == l && (f == everyFamily || r.dst.Addr().Is4()) })
			},
			"": func(rt *rapid.T) {
				compareTables(rt, &table, twin, addrs)
				for _, l := range links {
					n := 0
					for _, r := range twin {
						if r.link == l {
							n++
						}
					}
					if n != l.routes {
						rt.Fatalf("link %s counts %d routes, has %d", l.name, l.routes, n)
					}
				}
			},
		})
	})
}

func compareTables(t *rapid.T, table *routes, twin naive, addrs []netip.Addr) {
	for _, a := range addrs {
		for _, a := range []netip.Addr{a, a.Next()} {
			want, ok := twin.lookup(a)
			i := table.next(a, 0)
			if (i < len(table.list)) != ok || ok && !same(table.list[i], want) {
				t.Fatalf("%s: twin %v %v, table %d of %s", a, want, ok, i, tableText(table))
			}
			matches := 0
			for i := 0; ; i++ {
				if i = table.next(a, i); i == len(table.list) {
					break
				}
				matches++
			}
			for _, r := range twin {
				if r.dst.Contains(a) {
					matches--
				}
			}
			if matches != 0 {
				t.Fatalf("%s: %+d matches of %s", a, matches, tableText(table))
			}
		}
	}
}

// same compares routes; the naive table has no keys.
func same(a, b route) bool {
	a.key, b.key = key{}, key{}
	return a == b
}

func tableText(t *routes) (s string) {
	for _, r := range t.list {
		s += fmt.Sprintf("\n%s via %s dev %s connected %v", r.dst, r.via, r.link.name, r.connected)
	}
	return s
}

func BenchmarkRoute(b *testing.B) {
	for _, n := range []int{2, 64, 4096} {
		b.Run(fmt.Sprint(n, "-routes"), func(b *testing.B) {
			yardstick.Beside(b)
			var table routes
			l := &link{name: "a"}
			for i := range n {
				dst := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i >> 8), byte(i), 0}), 24+i%3*4)
				table.set(route{dst: dst.Masked(), link: l})
			}
			table.set(route{dst: netip.MustParsePrefix("0.0.0.0/0"), link: l})
			dst := netip.AddrFrom4([4]byte{10, 0, 1, 77})
			b.ReportAllocs()
			for b.Loop() {
				table.next(dst, 0)
			}
		})
	}
}
