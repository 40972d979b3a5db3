package check

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
)

// Goal: addresses-in-turn breaks where an address comes again before one that has waited for longer, and nowhere else. Method: leases (+) and
// releases (-) of addresses of a block by their last number, lives of the agent, and changes of the node's blocks.
func TestAddressesInTurn(t *testing.T) {
	const anew, life, more, none = 1001, 1002, 1003, 1004
	block := netip.MustParsePrefix("10.1.1.0/24")
	for _, tc := range []struct {
		name   string
		moves  []int
		rests  bool
		broken bool
	}{
		{"never again", []int{2, 3, -2, 4, -3, 5}, false, false},
		{"again, and nothing else is free", []int{2, 3, -2, 2}, false, false},
		{"again after the others", []int{2, 3, 4, -2, -3, -4, 2, 3, 4}, false, false},
		{"again after those behind it", []int{2, 3, -3, -2, 2}, false, false},
		{"the lowest each time", []int{2, 3, -2, -3, 2, -2, 2}, false, true},
		{"a longer rest decides", []int{2, 3, -2, -3, 2, -2, 2}, true, false},
		{"a life in between that does not know all", []int{2, 3, -2, -3, 2, -2, anew, 2}, false, false},
		{"a life in between", []int{2, 3, -2, -3, 2, -2, life, 2}, false, true},
		{"another block in between", []int{2, 3, -2, -3, 2, -2, more, 2}, false, true},
		{"the block is not used in between", []int{2, 3, -2, -3, 2, -2, none, 2}, false, false},
	} {
		w := addressesInTurn().Watch()
		broken := false
		for i, m := range tc.moves {
			f := scenarios.Fact{Node: "node-1", Prefix: block, Owner: ipam.Owner{ContainerID: fmt.Sprint(i)}, InTurn: !tc.rests}
			switch {
			case m == anew, m == life:
				f.Kind, f.InTurn = scenarios.FactAgentUp, m == life
			case m == more:
				f.Kind, f.Blocks = scenarios.FactBlocks, []ipam.Block{{Prefix: block}, {Prefix: netip.MustParsePrefix("10.1.2.0/24")}}
			case m == none:
				f.Kind, f.Blocks = scenarios.FactBlocks, []ipam.Block{{Prefix: block, Draining: true}}
			case m < 0:
				f.Kind, m = scenarios.FactReleased, -m
			default:
				f.Kind = scenarios.FactLeased
			}
			f.Addr = netip.AddrFrom4([4]byte{10, 1, 1, byte(m)})
			if w.Observe(&f) != nil {
				broken = true
			}
		}
		if broken != tc.broken {
			t.Errorf("%s: broken is %v", tc.name, broken)
		}
	}
}
