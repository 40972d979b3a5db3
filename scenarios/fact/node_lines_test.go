package fact

import (
	"net/netip"
	"testing"
)

// Goal: a route's line says what it does, and shows no field that its kind leaves out. Method: a table.
func TestRouteLines(t *testing.T) {
	via := netip.MustParseAddr("10.1.0.1")
	for want, r := range map[string]Route{
		"drop":                     {Action: ActionDrop, Index: ^uint32(0)},
		"local":                    {Action: ActionLocal, Index: 3},
		"lookup in table 7":        {Action: ActionLookup, Index: ^uint32(0), Lookup: 7},
		"attached interface 3":     {Action: ActionForward, Index: 3},
		"via 10.1.0.1 interface 3": {Action: ActionForward, Index: 3, Via: via},
		"via 10.1.0.1 in table 1":  {Action: ActionForward, Index: ^uint32(0), Via: via, Lookup: 1},
	} {
		if got := r.does(); got != want {
			t.Errorf("%+v: %q, want %q", r, got, want)
		}
	}
}
