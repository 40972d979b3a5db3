package vppmodel_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/vppdrill/vppdrill/sim/vppmodel"
)

// Goal: the longest match is the longest match, in both families, after any order of adds and deletes.
// Method: random prefixes over a small space against a list that is searched from end to end.
func TestRouteAgainstLinearSearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newScript()
		s.do("tap")
		six := rapid.Bool().Draw(t, "ipv6")
		addr := func(label string) netip.Addr {
			b := rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 127, 128, 255}), 3, 3).Draw(t, label)
			if six {
				return netip.AddrFrom16([16]byte{0xfd, 4: b[0], 9: b[1], 15: b[2]})
			}
			return netip.AddrFrom4([4]byte{10, b[0], b[1], b[2]})
		}
		type route struct {
			prefix netip.Prefix
			via    netip.Addr
		}
		var twin []route
		for range rapid.IntRange(1, 40).Draw(t, "operations") {
			p := netip.PrefixFrom(addr("prefix"), rapid.IntRange(0, addr("any").BitLen()).Draw(t, "length")).Masked()
			twin = slices.DeleteFunc(twin, func(r route) bool { return r.prefix == p })
			if rapid.IntRange(0, 2).Draw(t, "delete") == 0 {
				s.do("route del 0 " + p.String())
				continue
			}
			via := netip.AddrFrom4([4]byte{172, 30, 0, byte(1 + len(twin))})
			if got := s.do(fmt.Sprintf("route add 0 %s via %s tap0", p, via)); got != "ok" {
				t.Fatalf("add %s: %s", p, got)
			}
			twin = append(twin, route{p, via})
		}
		for range 20 {
			dst, best := addr("destination"), route{}
			for _, r := range twin {
				if r.prefix.Contains(dst) && (!best.prefix.IsValid() || r.prefix.Bits() > best.prefix.Bits()) {
					best = r
				}
			}
			got, _ := s.vpp.Route(0, dst)
			switch {
			case best.prefix.IsValid() && (got.Prefix != best.prefix || got.Via != best.via || !got.API):
				t.Fatalf("%s: got %+v, want %+v", dst, got, best)
			case !best.prefix.IsValid() && got.API:
				t.Fatalf("%s: got %+v, want none", dst, got)
			}
		}
		if n := len(slices.Collect(s.vpp.Routes(0))); n != len(twin) {
			t.Fatalf("%d routes, want %d", n, len(twin))
		}
	})
}

// Goal: an index is never given twice, is the one freed last, and is new only when none is free.
// Method: random creations and deletions of four kinds against a stack.
func TestIndicesAgainstStack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newScript()
		var free []uint32
		live := map[string]uint32{}
		next, serial := uint32(2), 0
		for range rapid.IntRange(1, 60).Draw(t, "operations") {
			names := slices.Sorted(func(yield func(string) bool) {
				for name := range live {
					if !yield(name) {
						return
					}
				}
			})
			if len(names) > 0 && rapid.Bool().Draw(t, "delete") {
				name := rapid.SampledFrom(names).Draw(t, "name")
				s.do(deletion(name))
				free = append(free, live[name])
				delete(live, name)
				continue
			}
			want := next
			if len(free) > 0 {
				want, free = free[len(free)-1], free[:len(free)-1]
			} else {
				next++
			}
			serial++
			create := rapid.SampledFrom([]string{"loop", "tap", fmt.Sprintf("vxlan add 10.0.0.1 10.0.%d.%d 1", serial/200+1, serial%200+1)}).Draw(t, "create")
			if got := s.do(create); got != fmt.Sprintf("index %d", want) {
				t.Fatalf("%s -> %s, want %d", create, got, want)
			}
			i, _ := s.vpp.Interface(want)
			if create[0] == 'v' {
				live["vxlan del "+i.Src.String()+" "+i.Dst.String()+" 1"] = want
			} else {
				live[i.Name] = want
			}
		}
	})
}

func deletion(name string) string {
	switch {
	case strings.HasPrefix(name, "loop"):
		return "loop-del " + name
	case strings.HasPrefix(name, "tap"):
		return "tap-del " + name
	}
	return name
}

// Goal: nothing is left in any table once everything was deleted in the right order, whatever happened before. Method:
// random calls of every kind over a few objects, then the deletions that a careful client would make; the text of the
// VPP is that of one on which nothing ever happened.
func TestCleanDeletionLeavesNothing(t *testing.T) {
	fresh := newScript().vpp.Text()
	calls := []string{
		"table add 1", "table del 1", "loop instance 0", "loop instance 1", "tap id 0", "loop-del loop0", "tap-del tap0", "up loop0", "down loop0", "up tap0",
		"bind loop0 1", "bind loop0 0", "bind tap0 1", "addr add loop0 10.0.0.1/24", "addr add loop0 10.0.0.2/24", "addr del loop0 10.0.0.1/24",
		"addr add tap0 10.2.0.1/31", "addr flush tap0", "unnumbered add tap0 loop0", "unnumbered del tap0 loop0",
		"neighbor add loop0 10.0.0.9 02:00:00:00:00:09", "neighbor add tap0 10.0.0.9 02:00:00:00:00:08", "neighbor add tap0 10.0.0.8 02:00:00:00:00:07 dynamic",
		"neighbor del loop0 10.0.0.9", "route add 0 10.0.0.9/32 via 10.0.0.9 tap0", "route add 1 10.0.0.0/8 lookup 0", "route add 0 10.0.0.0/8 lookup 1",
		"route add-path 0 10.0.0.0/8 via 10.0.0.9 loop0", "route del-path 0 10.0.0.0/8 lookup 1", "route add 1 10.1.0.0/16 via 10.0.0.9 table 1",
		"bridge add 1 forward", "bridge del 1", "member loop0 1 port 1", "member tap0 1", "member loop1 1 port 1", "unbridge loop0", "l2fib add 1 02:00:00:00:00:77 tap0",
		"mac loop0 02:00:00:00:01:01", "vxlan add 10.0.0.1 10.0.0.7 5", "vxlan del 10.0.0.1 10.0.0.7 5", "member vxlan_tunnel0 1 shg 1",
	}
	rapid.Check(t, func(t *rapid.T) {
		s := newScript()
		try := func(line string) {
			for _, word := range strings.Fields(line) {
				if strings.HasPrefix(word, "loop0") || strings.HasPrefix(word, "tap0") || strings.HasPrefix(word, "loop1") || strings.HasPrefix(word, "vxlan_") {
					if !exists(s.vpp, word) {
						return
					}
				}
			}
			s.do(line)
		}
		for _, line := range rapid.SliceOfN(rapid.SampledFrom(calls), 1, 80).Draw(t, "calls") {
			try(line)
		}
		for _, line := range []string{"route del 0 10.0.0.9/32", "route del 0 10.0.0.0/8"} {
			s.do(line)
		}
		for _, line := range []string{"route del 1 10.0.0.0/8", "route del 1 10.1.0.0/16"} {
			s.do(line)
		}
		// Neighbors on dead indices can only be deleted once the index lives again.
		for _, line := range []string{"loop instance 0", "loop instance 1", "tap id 0", "loop instance 5", "vxlan add 10.0.0.1 10.0.0.7 5"} {
			s.do(line)
		}
		for n := range s.vpp.Neighbors() {
			if got := s.do(fmt.Sprintf("neighbor del #%d %s", n.Index, n.Addr)); got != "ok" {
				t.Fatalf("neighbor %v: %s", n, got)
			}
		}
		for e := range s.vpp.MACs() {
			if _, found := s.vpp.Bridge(1); !found {
				s.do("bridge add 1")
			}
			if !e.BVI {
				s.do("l2fib del 1 02:00:00:00:00:77 #0")
			}
		}
		for _, line := range []string{"vxlan del 10.0.0.1 10.0.0.7 5", "tap-del tap0", "loop-del loop0", "loop-del loop1", "loop-del loop5", "bridge del 1", "table del 1"} {
			if got := s.do(line); got[0] == '-' && got != "-6" {
				t.Fatalf("%s -> %s", line, got)
			}
		}
		if got := s.vpp.Text(); got != fresh {
			t.Fatalf("left over:\n%s", got)
		}
		if err := vppmodel.CheckEmpty(s.vpp); err != nil {
			t.Fatal(err)
		}
	})
}

func exists(v *vppmodel.VPP, name string) bool {
	for i := range v.Interfaces() {
		if i.Name == name {
			return true
		}
	}
	return false
}
