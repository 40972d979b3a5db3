package nodeid

import (
	"net/netip"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// irregularPlan is a Plan to which all networks are irregular.
type irregularPlan struct{ Plan }

func (irregularPlan) Regular(uint32, []netip.Prefix) bool { return false }

// Goal: a record that is passed over has no address of a block. Method: random networks of both families against each
// of them asked by itself.
func TestCoverPassesOverNothing(t *testing.T) {
	prefix := rapid.Custom(func(t *rapid.T) netip.Prefix {
		a := [4]byte{10, byte(rapid.IntRange(0, 3).Draw(t, "b")), byte(rapid.IntRange(0, 255).Draw(t, "c")), byte(rapid.IntRange(0, 255).Draw(t, "d"))}
		if rapid.Bool().Draw(t, "ipv6") {
			return netip.PrefixFrom(netip.AddrFrom16([16]byte{0: 0xfd, 1: a[1], 14: a[2], 15: a[3]}), rapid.IntRange(8, 128).Draw(t, "bits")).Masked()
		}
		return netip.PrefixFrom(netip.AddrFrom4(a), rapid.IntRange(8, 32).Draw(t, "bits")).Masked()
	})
	rapid.Check(t, func(t *rapid.T) {
		networks, block := rapid.SliceOfN(prefix, 0, 5).Draw(t, "networks"), prefix.Draw(t, "block")
		if slices.ContainsFunc(networks, block.Overlaps) && !coverOf(irregularPlan{}, 1, networks).mayMeet(block) {
			t.Fatalf("%s is passed over, and one of %v has addresses of it", block, networks)
		}
	})
}

// Goal: blocks that no network of a record can have an address of are passed over. Method: a table; random blocks may
// all lie in the cover.
func TestCoverPassesOver(t *testing.T) {
	for _, c := range []struct {
		networks []string
		block    string
	}{
		{[]string{"10.1.0.0/25", "10.1.3.0/24"}, "10.1.4.0/24"},
		{[]string{"10.1.0.0/25", "10.1.3.0/24"}, "10.2.0.0/16"},
		{[]string{"10.1.7.9/32"}, "10.1.7.8/32"},
		{[]string{"10.1.0.0/25"}, "fd00::/64"},
		{[]string{"fd00::1:0/112"}, "fd00::2:0/112"},
	} {
		var networks []netip.Prefix
		for _, n := range c.networks {
			networks = append(networks, netip.MustParsePrefix(n))
		}
		if coverOf(irregularPlan{}, 1, networks).mayMeet(netip.MustParsePrefix(c.block)) {
			t.Errorf("%s is asked about, and none of %v is near it", c.block, c.networks)
		}
	}
}
