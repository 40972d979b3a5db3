package blockranges

import (
	"net/netip"
	"testing"

	"pgregory.net/rapid"

	"github.com/vppdrill/vppdrill/scenarios"
)

// Goal: how many blocks are free is what trying each of them says. Method: random ranges, lengths and prefixes that are taken, also twice.
func TestLeft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prefix := func(label string, least, most int) netip.Prefix {
			bits := rapid.IntRange(least, most).Draw(t, label+" bits")
			a := netip.AddrFrom4([4]byte{10, 0, byte(rapid.IntRange(0, 3).Draw(t, label+" third")), byte(rapid.IntRange(0, 255).Draw(t, label+" fourth"))})
			return netip.PrefixFrom(a, bits).Masked()
		}
		r := prefix("range", 22, 26)
		bits := rapid.IntRange(r.Bits(), 28).Draw(t, "bits")
		var taken []netip.Prefix
		for range rapid.IntRange(0, 20).Draw(t, "taken") {
			taken = append(taken, prefix("taken", 22, 32))
		}
		want := uint64(0)
		for i := range 1 << (bits - r.Bits()) {
			b := r.Addr().As4()
			n := uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3]) + uint32(i)<<(32-bits)
			block := netip.PrefixFrom(netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}), bits)
			free := true
			for _, p := range taken {
				free = free && !p.Overlaps(block)
			}
			if free {
				want++
			}
		}
		if have := Left(r, bits, taken); have != want || HasFree(r, bits, taken) != (want > 0) {
			t.Fatalf("%s has %d free /%d beside %v, want %d", r, have, bits, taken, want)
		}
	})
}

// Goal: ranges come and go under names of their own, the last one stays, and both kinds of controllers are given what is there. Method: a plan
// with two ranges.
func TestRanges(t *testing.T) {
	plan := scenarios.DefaultConfig().IPAM
	one, two, three := netip.MustParsePrefix("10.1.0.0/24"), netip.MustParsePrefix("10.2.0.0/24"), netip.MustParsePrefix("10.3.0.0/24")
	plan.PodSubnetOneNodePrefixLen, plan.Ranges = 26, []netip.Prefix{one, two}
	r, err := New(plan)
	if err != nil {
		t.Fatal(err)
	}
	if name, err := r.Remove(two); err != nil || name != "range-2" {
		t.Errorf("removed %q, %v", name, err)
	}
	if _, err := r.Remove(one); err == nil {
		t.Error("the last range went")
	}
	if _, err := r.Remove(three); err == nil {
		t.Error("a range went that was not there")
	}
	if c := r.Add(three); c.Name != "range-3" || c.IPv4 != three || c.PerNodeHostBits != 6 {
		t.Errorf("added %+v", c)
	}
	if p := r.Pool(); len(p.IPv4) != 2 || p.MaskSize4 != 26 || len(r.Params().MultiCIDRs) != 2 {
		t.Errorf("given %+v and %+v", p, r.Params())
	}
	taken := []netip.Prefix{one}
	if !r.Free(taken) || r.Free(append(taken, three)) {
		t.Error("whether a block is free is told wrongly")
	}
}

// Goal: a controller that starts again with nothing changed carves blocks as long as before, of either family. Method: a plan of IPv6 alone.
func TestRestartUnchanged(t *testing.T) {
	plan := scenarios.DefaultConfig().IPAM
	plan.PodSubnetCIDR, plan.VPPHostSubnetCIDR = scenarios.CIDR(netip.MustParsePrefix("fd00:1::/112")), scenarios.CIDR(netip.MustParsePrefix("fd00:30::/64"))
	plan.NodeInterconnectCIDR, plan.VXLANCIDR = scenarios.CIDR(netip.MustParsePrefix("fd00:16::/64")), scenarios.CIDR(netip.MustParsePrefix("fd00:18::/64"))
	r, err := New(plan)
	if err != nil {
		t.Fatal(err)
	}
	before := r.Params().MultiCIDRs
	opened, closed := r.Restart(scenarios.RestartController{})
	if after := r.Params().MultiCIDRs; len(opened)+len(closed) > 0 || len(after) != 1 || after[0].PerNodeHostBits != before[0].PerNodeHostBits || before[0].PerNodeHostBits == 0 {
		t.Errorf("%+v became %+v; opened %v, closed %v", before, after, opened, closed)
	}
	r.Restart(scenarios.RestartController{PodSubnetOneNodePrefixLen: 122})
	if after := r.Params().MultiCIDRs; after[0].PerNodeHostBits != 6 {
		t.Errorf("with /122: %+v", after)
	}
}
