package check

import (
	"testing"

	"github.com/vppdrill/vppdrill/scenarios"
)

// Goal: events-true breaks at an event of which something is not so, and at no other. Method: single facts.
func TestEventsTrue(t *testing.T) {
	for _, wrong := range []string{"", "its text is about node-2"} {
		w := eventsTrue().Watch()
		f := scenarios.Fact{Kind: scenarios.FactRecorded, Node: "node-1", Text: "CIDRNotAvailable: Node node-1 status is now: CIDRNotAvailable", Broken: wrong}
		if err := w.Observe(&f); (err != nil) != (wrong != "") || w.Checks() != 1 {
			t.Errorf("%q: %v after %d occasions", wrong, err, w.Checks())
		}
	}
}
