package check

import (
	"net/netip"
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/ipam"
	"github.com/vppdrill/vppdrill/scenarios"
)

// Goal: records-exclusive breaks by a record that names what its node must not, and by a block that none names, and stays silent where a
// node could not know, or has waited. Method: short histories; the last fact breaks the law or does not.
func TestRecordsExclusive(t *testing.T) {
	prefixes := func(texts []string) (list []netip.Prefix) {
		for _, x := range texts {
			list = append(list, netip.MustParsePrefix(x))
		}
		return list
	}
	ids := map[string]uint32{"node-1": 1, "node-2": 2, "node-3": 3}
	says := func(node string, at time.Duration, blocks ...string) scenarios.Fact {
		r := &scenarios.RecordChange{ID: ids[node], After: scenarios.NodeRecord{Name: node, UID: "uid of " + node}, Blocks: prefixes(blocks)}
		return scenarios.Fact{Kind: scenarios.FactRecord, At: at, Node: node, Record: r}
	}
	has := func(node string, at time.Duration, blocks ...string) scenarios.Fact {
		f := scenarios.Fact{Kind: scenarios.FactBlocks, At: at, Node: node}
		for _, p := range prefixes(blocks) {
			f.Blocks = append(f.Blocks, ipam.Block{Prefix: p})
		}
		return f
	}
	wiped, quiet := scenarios.Fact{Kind: scenarios.FactDisturbed, Text: "wipe-store"}, scenarios.Fact{Kind: scenarios.FactQuiet}
	left := func(node string) scenarios.Fact {
		return scenarios.Fact{Kind: scenarios.FactNodeGone, Node: node, Text: scenarios.NodeLeft}
	}
	const one, half, two, three = "10.1.1.0/24", "10.1.1.0/25", "10.1.2.0/24", "10.1.3.0/24"
	begin := []scenarios.Fact{says("node-1", 0, one), has("node-1", 0, one), says("node-2", 0, two), has("node-2", 0, two)}
	const once = "the record of node-2 names 10.1.1.0/25 once more"
	for _, tc := range []struct {
		name string
		then []scenarios.Fact
		want string
	}{
		{"unheard", []scenarios.Fact{says("node-2", 1, half, two)}, ""},
		{"heard, and named again", []scenarios.Fact{says("node-2", 1, half, two), says("node-2", 2, two), says("node-2", 3, half, two)}, once},
		{"named again when it is given back", []scenarios.Fact{says("node-2", 1, half, two), says("node-2", 2, two), has("node-1", 2), says("node-2", 3, half, two)}, ""},
		{"named again when its node has left", []scenarios.Fact{says("node-2", 1, half, two), says("node-2", 2, two), left("node-1"), says("node-2", 3, half, two)}, ""},
		{"more while a record is lost", []scenarios.Fact{wiped, says("node-2", 1, three, two)}, ""},
		{"named at rest", []scenarios.Fact{says("node-2", 1, half, two), quiet}, "the record of node-2 names 10.1.1.0/25, and node-1 gives addresses from 10.1.1.0/24"},
		{"both at rest", []scenarios.Fact{quiet}, ""},
		{"a record that is written again", []scenarios.Fact{wiped, says("node-2", 1, two)}, ""},
		{"and that says what the lost one said", []scenarios.Fact{says("node-2", 1, three, two), wiped, says("node-2", 2, three, two)}, ""},
		{"with all records", []scenarios.Fact{wiped, says("node-1", 1, one), says("node-2", 1, three, two)}, ""},
		{"an untold block", []scenarios.Fact{has("node-2", 1, two, three)}, "node-2 gives addresses from 10.1.3.0/24, which its record does not name"},
		{"a told block", []scenarios.Fact{says("node-2", 1, two, three), has("node-2", 1, two, three)}, ""},
	} {
		t.Run(tc.name, watched{law: recordsExclusive(), facts: append(begin[:4:4], tc.then...), want: tc.want}.judge)
	}
}
