package suite_test

import (
	"context"
	"flag"
	"testing"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/scenarios/suite"
	"github.com/vppdrill/vppdrill/sim"
)

var (
	drawn = flag.Int("drawn", 0, "further seeds per scenario, drawn from -ginkgo.seed")
	twice = flag.Bool("twice", true, "run each seed a second time and compare the trails")
)

// Goal: every scenario of the catalogue holds every law in the simulator, and a second run of a seed is the same run,
// event for event. Method: one spec per scenario; -ginkgo.label-filter chooses, -ginkgo.junit-report writes what CI
// reads.
func TestCatalog(t *testing.T) {
	suite.Specs(suite.Options{
		Factory: func(_ context.Context, s *scenarios.Scenario, seed uint64) (result.World, error) {
			return sim.New(s, sim.Options{Seed: seed})
		},
		Drawn: *drawn,
		Twice: *twice,
	})
	gomega.RegisterFailHandler(ginkgo.Fail)
	ginkgo.RunSpecs(t, "catalogue in the simulator")
}
