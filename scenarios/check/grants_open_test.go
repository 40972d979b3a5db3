package check

import (
	"net/netip"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// Goal: grants-open breaks for a new block of a range that has long been closed; not for what a node has had, what
// arrives late, or a range that is open again. Method: facts written down by hand.
func TestGrantsOpen(t *testing.T) {
	first, second := netip.MustParsePrefix("10.1.0.0/28"), netip.MustParsePrefix("10.1.0.16/28")
	given := func(at time.Duration, list ...netip.Prefix) fact.Fact {
		var blocks []ipam.Block
		for _, p := range list {
			blocks = append(blocks, ipam.Block{Prefix: p})
		}
		return fact.Fact{At: at, Node: "node-1", What: fact.Assigned{Blocks: blocks}}
	}
	whole := netip.MustParsePrefix("10.1.0.0/24")
	closed := fact.Fact{At: time.Second, What: fact.Range{Range: whole, Closed: true}}
	opened := fact.Fact{At: 2 * time.Second, What: fact.Range{Range: whole}}
	const again = "of 10.1.0.0/24, which was closed"
	for _, tc := range []watched{
		{"long closed", grantsOpen(), []fact.Fact{given(0, first), closed, given(time.Hour, first, second)}, again},
		{"anew", grantsOpen(), []fact.Fact{given(0, first), closed, given(time.Minute), given(time.Hour, first)}, again},
		{"kept", grantsOpen(), []fact.Fact{given(0, first, second), closed, given(time.Hour, first)}, ""},
		{"late", grantsOpen(), []fact.Fact{closed, given(time.Minute, first)}, ""},
		{"open again", grantsOpen(), []fact.Fact{closed, opened, given(time.Hour, first)}, ""},
	} {
		t.Run(tc.name, tc.judge)
	}
}
