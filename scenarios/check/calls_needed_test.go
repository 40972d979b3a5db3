package check

import (
	"testing"

	"github.com/vppdrill/vppdrill/scenarios"
)

// Goal: calls-needed breaks at a call that says what is so already and at a look with nothing to see, and forgives it where somebody has broken wiring by hand before. Method: the
// facts by themselves.
func TestCallsNeeded(t *testing.T) {
	up, again := scenarios.Fact{Kind: scenarios.FactAgentUp, Node: "node-1"}, scenarios.Fact{Kind: scenarios.FactNeedless, Node: "node-1", Text: "sw_interface_set_flags of up tap1"}
	hand := scenarios.Fact{Kind: scenarios.FactDisturbed, Text: (scenarios.BreakWiring{}).Verb()}
	look := scenarios.Fact{Kind: scenarios.FactNeedless, Node: "node-1", Text: "ip_address_dump dump local0", Broken: "is of an interface that nobody sets anything on"}
	record := scenarios.Fact{Kind: scenarios.FactNeedless, Node: "node-1", Text: "the journal's record node 1 uid-1 -"}
	for _, tc := range []struct {
		name   string
		facts  []scenarios.Fact
		broken bool
	}{
		{"a start", []scenarios.Fact{up}, false},
		{"a call again", []scenarios.Fact{up, again}, true},
		{"a needless look", []scenarios.Fact{up, look}, true},
		{"a needless look after a hand's work", []scenarios.Fact{up, hand, look}, false},
		{"a record again", []scenarios.Fact{up, record}, true},
		{"a call again after a hand's work", []scenarios.Fact{up, hand, again}, false},
	} {
		w := callsNeeded().Watch()
		var err error
		for i := range tc.facts {
			err = w.Observe(&tc.facts[i])
		}
		if (err != nil) != tc.broken || w.Checks() == 0 {
			t.Errorf("%s: %v after %d occasions", tc.name, err, w.Checks())
		}
	}
}
