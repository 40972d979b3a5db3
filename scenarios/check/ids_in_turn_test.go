package check

import (
	"testing"

	"github.com/vppdrill/vppdrill/scenarios"
)

// Goal: ids-in-turn breaks when a node loses a second race in a row, and when it passes more IDs over than nodes are to claim one. Method: claims by hand.
func TestIDsInTurn(t *testing.T) {
	lost, won := scenarios.ClaimedID{Refused: true}, scenarios.ClaimedID{}
	for name, c := range map[string]struct {
		claims []scenarios.ClaimedID
		broken bool
	}{
		"a race":              {claims: []scenarios.ClaimedID{lost, won, lost, won}},
		"races":               {claims: []scenarios.ClaimedID{lost, lost}, broken: true},
		"IDs left to others":  {claims: []scenarios.ClaimedID{{Skipped: 2, Joining: 2}}},
		"IDs left to nobody":  {claims: []scenarios.ClaimedID{{Skipped: 3, Joining: 2}}, broken: true},
		"one left to nobody":  {claims: []scenarios.ClaimedID{{Skipped: 1}}, broken: true},
		"refused, so unknown": {claims: []scenarios.ClaimedID{{Refused: true, Skipped: 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			w := idsInTurn().Watch()
			var err error
			for i := range c.claims {
				if err = w.Observe(&scenarios.Fact{Kind: scenarios.FactClaimed, Node: "node-1", Number: 4, Claim: &c.claims[i]}); err != nil {
					break
				}
			}
			if (err != nil) != c.broken || w.Checks() != int64(len(c.claims)) {
				t.Errorf("%v after %d occasions", err, w.Checks())
			}
		})
	}
	w := idsInTurn().Watch()
	for range 2 { // a life each
		w.Observe(&scenarios.Fact{Kind: scenarios.FactAgentUp, Node: "node-1"})
		if err := w.Observe(&scenarios.Fact{Kind: scenarios.FactClaimed, Node: "node-1", Claim: &lost}); err != nil {
			t.Error(err)
		}
	}
}
