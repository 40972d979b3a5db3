package check

import (
	"testing"
	"time"

	"github.com/vppdrill/vppdrill/scenarios/fact"
)

// Goal: one-leader breaks for whoever asks for a change after its time, and for an earlier life beside a later one; not
// for lives that follow each other, nor for two programs. Method: requests written down by hand.
func TestOneLeader(t *testing.T) {
	ask := func(program string, life uint32, past time.Duration) fact.Fact {
		return fact.Fact{What: fact.Changing{Program: program, Life: life, Wanted: "node-patch node-1", Late: past}}
	}
	for name, c := range map[string]struct {
		facts  []fact.Fact
		broken bool
	}{
		"in its time":          {facts: []fact.Fact{ask("a", 1, 0), ask("a", 1, 0)}},
		"one after the other":  {facts: []fact.Fact{ask("a", 1, 0), ask("a", 3, 0), ask("b", 1, 0)}},
		"after its time":       {facts: []fact.Fact{ask("a", 1, 0), ask("a", 1, time.Millisecond)}, broken: true},
		"one beside the other": {facts: []fact.Fact{ask("a", 1, 0), ask("a", 2, 0), ask("a", 1, 0)}, broken: true},
	} {
		w := oneLeader().Watch()
		var err error
		for i := range c.facts {
			if err = w.Observe(&c.facts[i]); err != nil {
				break
			}
		}
		if (err != nil) != c.broken {
			t.Errorf("%s: %v", name, err)
		}
		if w.Checks() == 0 {
			t.Errorf("%s: nothing was judged", name)
		}
	}
}
