package timeline

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/vppwire/agent/nodeid"
)

// Goal: a change of a record says whose it was and is, and which blocks and address it has now. Method: one record against another.
func TestRecordChange(t *testing.T) {
	a, b := netip.MustParsePrefix("10.1.0.7/32"), netip.MustParsePrefix("10.1.0.16/28")
	address := netip.MustParsePrefix("192.168.16.2/24")
	record := func(name string, blocks ...netip.Prefix) string {
		return nodeid.Record{ID: 2, Name: name, UID: "u-" + name, Address: address, PodNetworks: blocks}.String()
	}
	says := func(name string) fact.NodeRecord { return fact.NodeRecord{Name: name, UID: "u-" + name} }
	for _, tc := range []struct {
		name, before, after string
		had, has            fact.NodeRecord
		blocks              []netip.Prefix
	}{
		{"a block less", record("node-2", a, b), record("node-2", b), says("node-2"), says("node-2"), []netip.Prefix{b}},
		{"another node", record("node-2", a), record("node-3", b), says("node-2"), says("node-3"), []netip.Prefix{b}},
		{"the first", "", record("node-3", b, a), fact.NodeRecord{}, says("node-3"), []netip.Prefix{b, a}},
		{"no record any more", record("node-2", a), "", says("node-2"), fact.NodeRecord{}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, ok := RecordChange(nodeid.Record{ID: 2}.Key(), tc.before, tc.after)
			if !ok || c.ID != 2 || c.Before != tc.had || c.After != tc.has || !slices.Equal(c.Blocks, tc.blocks) || c.Address.IsValid() != (tc.after != "") || c.Address.IsValid() && c.Address != address.Addr() {
				t.Errorf("%+v, %v", c, ok)
			}
		})
	}
}
