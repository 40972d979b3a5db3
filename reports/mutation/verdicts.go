package mutation

import (
	"fmt"
	"slices"
	"strconv"
)

// verdict is a verdict line of `vppdrill run`: pass, FAIL or ERROR.
type verdict struct {
	scenario string
	// seed is 0 where the line names none.
	seed uint64
	// did is what the run did: its events and its digest, and not how long it took.
	did string
}

// verdictOf takes a verdict line's words apart.
func verdictOf(words []string) (v verdict) {
	if len(words) > 1 {
		v.scenario = words[1]
	}
	if i := slices.Index(words, "seed") + 1; i > 0 && i+1 < len(words) {
		v.seed, _ = strconv.ParseUint(words[i], 10, 64)
		v.did = words[i+1] + " " + words[len(words)-1]
	}
	return v
}

// run names the run among the catalogue's.
func (v verdict) run() string { return fmt.Sprintf("%s %d", v.scenario, v.seed) }
