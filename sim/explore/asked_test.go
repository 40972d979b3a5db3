package explore_test

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios/gen"
	"github.com/vppdrill/vppdrill/sim/engine"
	"github.com/vppdrill/vppdrill/sim/internal/controllers"
)

// Goal: what random scenarios have go wrong with a system's requests is called as the requests are, and comes by all of
// them. Method: the names in the faults of many scenarios against the controllers' list.
func TestRequestsOfSystems(t *testing.T) {
	named := regexp.MustCompile(`\(Request ([a-z-]+) `) // VPP's have underscores
	drawn := map[string]bool{}
	for seed := range uint64(2000) {
		for _, f := range gen.Draw(engine.Seeded(seed), gen.Systems(), fmt.Sprint("s", seed)).Faults.Inject {
			if words := named.FindStringSubmatch(f); words != nil {
				drawn[words[1]] = true
			}
		}
	}
	for _, name := range controllers.RequestNames {
		if !drawn[name] {
			t.Errorf("nothing goes wrong with %s", name)
		}
		delete(drawn, name)
	}
	for name := range drawn {
		t.Errorf("no request is called %s; some are %v", name, slices.Sorted(slices.Values(controllers.RequestNames)))
	}
}
