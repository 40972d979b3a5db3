package check

import (
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/scenarios"
)

// Goal: acts-soon breaks when what is due stays undone for longer than a moment. Method: single facts.
func TestActsSoon(t *testing.T) {
	for rest, broken := range map[time.Duration]bool{time.Second: false, 2 * time.Second: false, 2100 * time.Millisecond: true, time.Hour: true} {
		w := actsSoon().Watch()
		err := w.Observe(&scenarios.Fact{Kind: scenarios.FactDue, Node: "node-1", Text: "no node ID yet", Rest: rest})
		if (err != nil) != broken || w.Checks() != 1 {
			t.Errorf("%s: %v after %d occasions", rest, err, w.Checks())
		}
	}
}
