package check

import (
	"net/netip"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios"
)

// Goal: refusals-true breaks by each thing that a refusal says and that is not so, and by a text that says nothing. Method: texts against
// what a node has.
func TestRefusalsTrue(t *testing.T) {
	room := func(block string, addresses, leased int) scenarios.Room {
		return scenarios.Room{Block: netip.MustParsePrefix(block), Addresses: addresses, Leased: leased}
	}
	one := scenarios.Holding{Blocks: []scenarios.Room{room("10.1.1.0/28", 12, 10)}}
	two := scenarios.Holding{Blocks: []scenarios.Room{room("10.1.1.16/28", 16, 16), room("10.1.1.0/28", 16, 13)}}
	dual := scenarios.Holding{Blocks: []scenarios.Room{room("10.1.1.0/28", 12, 10), room("fd00:1::8/125", 4, 4)}}
	edge := scenarios.Holding{Blocks: one.Blocks, Pool: "edge"}
	for _, tc := range []struct {
		text   string
		h      scenarios.Holding
		broken bool
	}{
		{"pool 10.1.1.0/28 with 12 addresses: no address is free", one, false},
		{"pool 10.1.1.0/28 with 11 addresses: no address is free", one, true},
		{"pool 10.1.1.16/28 with 12 addresses: no address is free", one, true},
		{"block 10.1.1.0/28 with 12 addresses, 2 cooling: no address is free", one, false},
		{"block 10.1.1.0/28 with 12 addresses, 3 cooling: no address is free", one, true},
		{"block 10.1.1.16/28 with 32 addresses, 3 cooling: no address is free", two, true},
		{"2 blocks with 32 addresses, 3 cooling: no address is free", two, false},
		{"3 blocks with 32 addresses, 3 cooling: no address is free", two, true},
		{"2 blocks from 10.1.1.16/28 on with 32 addresses: no address is free", two, false},
		{"2 blocks from 10.1.1.0/28 on with 32 addresses: no address is free", two, true},
		{"ipv6: pool fd00:1::8/125 with 4 addresses: no address is free", dual, false},
		{"ipv4: pool fd00:1::8/125 with 4 addresses: no address is free", dual, true},
		{"pool edge: no address is free", edge, false},
		{"pool default: no address is free", edge, true},
		{"pool of its CiliumNode: no address is free", scenarios.Holding{}, false},
		{"pool 10.1.1.0/28 with 12 addresses: no address is free", scenarios.Holding{}, true},
		{"node holds no block", scenarios.Holding{}, true},
		{"node holds no block: the blocks are not published yet", scenarios.Holding{}, false},
		{"node holds no block: the Node object has no pod CIDR", scenarios.Holding{SawNode: true}, false},
		{"node holds no block: the Node object has no pod CIDR", scenarios.Holding{}, true},
		{"node holds no block: the blocks are not published yet", one, true},
		{"no address is free", one, true},
	} {
		f := scenarios.Fact{Kind: scenarios.FactRefused, Text: tc.text, Exhausted: true, Holding: &tc.h}
		if err := refusalsTrue().Watch().Observe(&f); (err != nil) != tc.broken {
			t.Errorf("%s: %v", tc.text, err)
		}
	}
}
