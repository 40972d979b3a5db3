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

// Goal: a record that is passed over has no address of a block. Method: random networks of both families against each of them asked by itself.
func TestCoverPassesOverNothing(t *testing.T) {
	prefix := rapid.Custom(func(t *rapid.T) netip.Prefix {
		a := [4]byte{10, byte(rapid.IntRange(0, 3).Draw(t, "b")), byte(rapid.IntRange(0, 255).Draw(t, "c")), byte(rapid.IntRange(0, 255).Draw(t, "d"))}
		if rapid.Bool().Draw(t, "ipv6") {
			return netip.PrefixFrom(netip.AddrFrom16([16]byte{0: 0xfd, 1: a[1], 14: a[2], 15: a[3]}), rapid.IntRange(8, 128).Draw(t, "bits")).Masked()
		}
		return netip.PrefixFrom(netip.AddrFrom4(a), rapid.IntRange(8, 32).Draw(t, "bits")).Masked()
	})
	passed := 0
	rapid.Check(t, func(t *rapid.T) {
		networks, block := rapid.SliceOfN(prefix, 0, 5).Draw(t, "networks"), prefix.Draw(t, "block")
		switch meets, may := slices.ContainsFunc(networks, block.Overlaps), coverOf(irregularPlan{}, 1, networks).mayMeet(block); {
		case meets && !may:
			t.Fatalf("%s is passed over, and one of %v has addresses of it", block, networks)
		case !may:
			passed++
		}
	})
	if passed == 0 {
		t.Error("nothing was passed over")
	}
}
