package timeline

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/vppdrill/vppdrill/vppwire/agent/nodeid"
)

// Goal: what a record drops is told of a node's own changes only. Method: one record against another, of which two blocks or one are left.
func TestRecordDrops(t *testing.T) {
	a, b := netip.MustParsePrefix("10.1.0.7/32"), netip.MustParsePrefix("10.1.0.16/28")
	record := func(name string, blocks ...netip.Prefix) string {
		return nodeid.Record{ID: 2, Name: name, UID: "u-" + name, PodNetworks: blocks}.String()
	}
	for _, tc := range []struct {
		name, before, after string
		want                []netip.Prefix
	}{
		{"a block less", record("node-2", a, b), record("node-2", b), []netip.Prefix{a}},
		{"a block more, in another order", record("node-2", a), record("node-2", b, a), nil},
		{"another node", record("node-2", a), record("node-3", b), nil},
		{"no record any more", record("node-2", a), "", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if c, ok := RecordChange(nodeid.Record{ID: 2}.Key(), tc.before, tc.after); !ok || !slices.Equal(c.Dropped, tc.want) {
				t.Errorf("drops %v, %v", c.Dropped, ok)
			}
		})
	}
}
