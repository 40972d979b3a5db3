package scenarios_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/check"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/sim"
)

// Goal: a scenario that panics as it is read, and one that is wrong, are two things: the first is one of a batch that cannot be judged and says where it was, the
// second is refused. Method: both are read, and the first is run.
func TestRecover(t *testing.T) {
	s, err := scenarios.Recover("some/dying.yaml", func() (*scenarios.Scenario, error) {
		panic("no range at all")
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := sim.Run(t.Context(), s, sim.Options{Seed: 1, Laws: check.All()})
	if err != nil {
		t.Fatal(err)
	}
	if want := "it cannot be read: panic: no range at all, in "; r.Scenario != "dying" || r.Verdict != result.Error || !strings.Contains(r.Error, want) || !strings.Contains(r.Error, "panic_test.go:") {
		t.Errorf("%s: %s: %s", r.Scenario, r.Verdict, r.Error)
	}
	wrong := errors.New("wrong")
	if _, err := scenarios.Recover("wrong.yaml", func() (*scenarios.Scenario, error) { return nil, wrong }); !errors.Is(err, wrong) {
		t.Error(err)
	}
}
