package check

import (
	"net/netip"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// Goal: records-exclusive breaks by a record that names what its node must not, and by a block that none names, and
// stays silent where a node could not know, or has waited. Method: short histories; the last fact breaks the law or
// does not.
func TestRecordsExclusive(t *testing.T) {
	prefixes := func(texts []string) (list []netip.Prefix) {
		for _, x := range texts {
			list = append(list, netip.MustParsePrefix(x))
		}
		return list
	}
	ids := map[string]uint32{"node-1": 1, "node-2": 2, "node-3": 3}
	says := func(node string, at time.Duration, blocks ...string) fact.Fact {
		after := fact.NodeRecord{Name: node, UID: "uid of " + node}
		return fact.Fact{At: at, Node: node, What: fact.RecordChange{ID: ids[node], After: after, Blocks: prefixes(blocks)}}
	}
	has := func(node string, at time.Duration, blocks ...string) fact.Fact {
		var list []ipam.Block
		for _, p := range prefixes(blocks) {
			list = append(list, ipam.Block{Prefix: p})
		}
		return fact.Fact{At: at, Node: node, What: fact.NodeBlocks{Blocks: list}}
	}
	wiped, quiet := fact.Fact{What: fact.Disturbed{By: "wipe-store"}}, fact.Fact{What: fact.Quiet{}}
	left := func(node string) fact.Fact {
		return fact.Fact{Node: node, What: fact.NodeGone{Left: true}}
	}
	const one, half, two, three = "10.1.1.0/24", "10.1.1.0/25", "10.1.2.0/24", "10.1.3.0/24"
	begin := []fact.Fact{says("node-1", 0, one), has("node-1", 0, one), says("node-2", 0, two), has("node-2", 0, two)}
	const once = "the record of node-2 names 10.1.1.0/25 again"
	for _, tc := range []struct {
		name string
		then []fact.Fact
		want string
	}{
		{"unheard", []fact.Fact{says("node-2", 1, half, two)}, ""},
		{"heard, and named again", []fact.Fact{says("node-2", 1, half, two), says("node-2", 2, two), says("node-2", 3, half, two)}, once},
		{"named again when it is given back", []fact.Fact{says("node-2", 1, half, two), says("node-2", 2, two), has("node-1", 2), says("node-2", 3, half, two)}, ""},
		{"named again when its node has left", []fact.Fact{says("node-2", 1, half, two), says("node-2", 2, two), left("node-1"), says("node-2", 3, half, two)}, ""},
		{"more while a record is lost", []fact.Fact{wiped, says("node-2", 1, three, two)}, ""},
		{"named at rest", []fact.Fact{says("node-2", 1, half, two), quiet}, "the record of node-2 names 10.1.1.0/25, but node-1 allocates from 10.1.1.0/24"},
		{"both at rest", []fact.Fact{quiet}, ""},
		{"a record that is written again", []fact.Fact{wiped, says("node-2", 1, two)}, ""},
		{"and that says what the lost one said", []fact.Fact{says("node-2", 1, three, two), wiped, says("node-2", 2, three, two)}, ""},
		{"with all records", []fact.Fact{wiped, says("node-1", 1, one), says("node-2", 1, three, two)}, ""},
		{"an untold block", []fact.Fact{has("node-2", 1, two, three)}, "node-2 allocates from 10.1.3.0/24, which its record does not name"},
		{"a told block", []fact.Fact{says("node-2", 1, two, three), has("node-2", 1, two, three)}, ""},
	} {
		t.Run(tc.name, watched{law: recordsExclusive(), facts: append(begin[:4:4], tc.then...), want: tc.want}.judge)
	}
}
