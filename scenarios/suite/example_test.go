package suite_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/scenarios/suite"
	"github.com/vppdrill/vppdrill/sim"
)

// A suite of your own scenarios is one test function: every file below testdata/rehearsals is a spec in the simulator.
// Choose with go test -ginkgo.label-filter 'restart && !slow'.
func ExampleSpecs() {
	// In your suite_test.go this is func TestRehearsals(t *testing.T).
	_ = func(t *testing.T) {
		suite.Specs(suite.Options{
			Folder: "testdata/rehearsals",
			Factory: func(_ context.Context, s *scenarios.Scenario, seed uint64) (result.World, error) {
				return sim.New(s, sim.Options{Seed: seed})
			},
			Twice: true,
		})
		gomega.RegisterFailHandler(ginkgo.Fail)
		ginkgo.RunSpecs(t, "rehearsals")
	}
}

// A plain test drives a World by hand. The matchers need no Ginkgo.
func ExampleReachEachOther() {
	g := gomega.NewGomega(func(message string, _ ...int) { fmt.Println(message) }) // in a test: gomega.NewWithT(t)
	ctx := context.Background()

	s := scenarios.Default()
	s.Name, s.Topology.PodsPerNode = "by-hand", 2
	w, err := sim.New(&s, sim.Options{Seed: 1})
	g.Expect(err).NotTo(gomega.HaveOccurred())

	g.Expect(w).To(suite.BeQuiet(time.Minute)) // a minute of the simulator's time
	g.Expect(w.Do(ctx, scenarios.RestartVPP{Node: "node-2"})).To(gomega.Succeed())
	g.Expect(w).To(suite.BeQuiet(time.Minute))

	cluster, err := w.Snapshot(ctx)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(cluster).To(suite.ReachEachOther())
	g.Expect(cluster).To(suite.HoldLaws())
	fmt.Println("all pods reach each other again")
	// Output: all pods reach each other again
}
