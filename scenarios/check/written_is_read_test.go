package check

import (
	"testing"

	"github.com/vppdrill/vppdrill/scenarios"
)

// Goal: written-is-read breaks when an agent refuses a record of its journal or a controller one of its ledger, and forgives the second after the
// store has lost its data. Method: the facts by themselves.
func TestWrittenIsRead(t *testing.T) {
	agent := scenarios.Fact{Kind: scenarios.FactUnread, Node: "node-1", Text: "journal: \"cursor\" is left out"}
	ledger := scenarios.Fact{Kind: scenarios.FactUnread, Text: "ledger entry 3"}
	wiped := scenarios.Fact{Kind: scenarios.FactDisturbed, Text: (scenarios.WipeStore{}).Verb()}
	for _, tc := range []struct {
		name   string
		facts  []scenarios.Fact
		broken bool
	}{
		{"a start", []scenarios.Fact{{Kind: scenarios.FactAgentUp, Node: "node-1"}}, false},
		{"a record", []scenarios.Fact{agent}, true},
		{"a ledger entry", []scenarios.Fact{ledger}, true},
		{"a ledger entry of a store that lost its data", []scenarios.Fact{wiped, ledger}, false},
		{"a record after that", []scenarios.Fact{wiped, agent}, true},
	} {
		w := writtenIsRead().Watch()
		var err error
		for i := range tc.facts {
			err = w.Observe(&tc.facts[i])
		}
		if (err != nil) != tc.broken || w.Checks() != 1 {
			t.Errorf("%s: %v after %d occasions", tc.name, err, w.Checks())
		}
	}
}
