package explore_test

import (
	"context"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/catalog"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
	"github.com/vppdrill/vppdrill/sim/explore"
	"github.com/vppdrill/vppdrill/sim/museum"
)

// oldCapsules is the folder of failures that were found once, one capsule for each exhibit of oldFailures, called after
// it. They are made once and never again: what an old version wrote must be of use to a new one.
const oldCapsules = "../../fixtures/capsules"

var oldFailures = []string{"failed-add-leaks", "repeated-del-frees-other", "existing-not-occupied", "leases-forgotten", "used-and-released", "deleted-node-loop"}

// Goal: capsules of former versions are regression tests. Method: each of the folder runs with this version and breaks
// nothing; with the fault planted with which it was found, it breaks its law, so that passing says something. With
// -rewrite a capsule that is not there is made.
func TestOldCapsules(t *testing.T) {
	planted := func(e museum.Exhibit) explore.Explorer {
		return explore.Explorer{Version: "before-1", Run: func(ctx context.Context, s *scenarios.Scenario, o sim.Options) (result.Result, error) {
			o.Plant = e.Plant()
			return sim.Run(ctx, s, o)
		}}
	}
	for _, e := range museum.All() {
		if !slices.Contains(oldFailures, e.Name) {
			continue
		}
		law, _ := check.ByName(e.Law)
		laws := []fact.Law{law}
		name := filepath.Join(oldCapsules, e.Name+".capsule")
		capsule, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) && flag.Lookup("rewrite").Value.String() == "true" {
			capsule = caught(t, planted(e), e, laws)
			err = os.WriteFile(name, capsule, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		r, notes, err := explore.Explorer{Version: "now"}.Regress(t.Context(), capsule, sim.Options{Laws: check.All()})
		if err != nil || r.Verdict != result.Pass || !strings.Contains(strings.Join(notes, "\n"), "fixed: law "+e.Law+" no longer breaks") {
			t.Errorf("%s: %s %s, %q, %v", e.Name, r.Verdict, r.Error, notes, err)
		}
		r, _, err = planted(e).Regress(t.Context(), capsule, sim.Options{Laws: laws})
		if err != nil || r.Failure == nil || r.Failure.Law != e.Law {
			t.Errorf("%s: with its fault the capsule does not break %s: %s %v", e.Name, e.Law, r.Verdict, err)
		}
	}
}

// caught is the smallest capsule of what breaks the exhibit's law.
func caught(t *testing.T, x explore.Explorer, e museum.Exhibit, laws []fact.Law) []byte {
	t.Helper()
	s, err := catalog.ByName(e.Name)
	if err != nil {
		t.Fatal(err)
	}
	for seed := uint64(1); seed <= 20; seed++ {
		r, err := x.Run(t.Context(), s, sim.Options{Seed: seed, Laws: laws})
		if err != nil {
			t.Fatal(err)
		}
		if r.Failure == nil {
			continue
		}
		capsule, err := x.Shrink(t.Context(), s, nil, r, laws)
		if err != nil {
			t.Fatal(err)
		}
		return capsule
	}
	t.Fatal(e.Name + " breaks nothing")
	return nil
}
