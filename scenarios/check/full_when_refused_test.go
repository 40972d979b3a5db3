package check

import (
	"net/netip"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios"
)

// Goal: full-when-refused breaks where a node says that it is full and an address is free, and nowhere else. Method: refusals by themselves.
func TestFullWhenRefused(t *testing.T) {
	free := netip.MustParseAddr("10.1.1.7")
	for _, tc := range []struct {
		name   string
		fact   scenarios.Fact
		broken bool
	}{
		{"full", scenarios.Fact{Kind: scenarios.FactRefused, Exhausted: true}, false},
		{"refused for another reason", scenarios.Fact{Kind: scenarios.FactRefused, Addr: free}, false},
		{"not full", scenarios.Fact{Kind: scenarios.FactRefused, Exhausted: true, Addr: free}, true},
	} {
		if err := fullWhenRefused().Watch().Observe(&tc.fact); (err != nil) != tc.broken {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}
