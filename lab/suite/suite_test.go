package suite_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"github.com/vppdrill/vppdrill/lab"
	"github.com/vppdrill/vppdrill/lab/internal/nodeagent"
	"github.com/vppdrill/vppdrill/lab/netns"
	"github.com/vppdrill/vppdrill/lab/vppproc"
	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/catalog"
	"github.com/vppdrill/vppdrill/scenarios/result"
	"github.com/vppdrill/vppdrill/scenarios/suite"
	"github.com/vppdrill/vppdrill/scenarios/timeline"
)

var (
	whole = flag.Bool("whole", false, "run the whole catalogue, some 50 minutes")
	scale = flag.Float64("scale", 10, "how many times faster than in its file a scenario happens")
)

// chosen are the scenarios of a usual run: node churn, a range that changes, restarts, a partition.
var chosen = []string{
	"node-joins", "node-comes-back-at-once", "pod-range-moves", "agent-restarts", "vpp-restarts-while-wiring", "node-reboots", "one-way",
}

// specTimeout is how long one scenario may take, its lab's start and end included. The longest of the catalogue is of
// two hours.
const specTimeout = 20 * time.Minute

// wholeTimeout is how long the whole catalogue may take. Ginkgo's own hour ended it on a busy machine, with a verdict on
// what had run until then alone.
const wholeTimeout = 4 * time.Hour

// agentWord makes the test binary the agent of the labs that the specs build.
const agentWord = "suite-node-agent"

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == agentWord {
		if err := nodeagent.Main(context.Background(), os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// Goal: the catalogue's scenarios hold every law on real VPPs as in the simulator. Method: one spec per scenario, each
// in a lab of its own; what a lab cannot do is skipped by name.
func TestCatalog(t *testing.T) {
	if err := (netns.Backend{}).Check(context.Background()); err != nil {
		t.Skip(err.Error())
	}
	binary, err := vppproc.Find("")
	if err != nil {
		t.Skip(err.Error())
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o := lab.Options{Backend: netns.Backend{}, Agent: []string{self, agentWord}, Root: t.TempDir(), TimeScale: *scale}
	suite.Specs(suite.Options{
		World: "netns", Scenarios: scenes(t), Seeds: []uint64{1}, SkipUnsupported: true,
		Factory: func(ctx context.Context, s *scenarios.Scenario, seed uint64) (result.World, error) {
			return build(ctx, s, o, seed)
		},
		Decorators: []any{ginkgo.SpecTimeout(specTimeout)},
	})
	if *record {
		ginkgo.ReportAfterEach(newRecorder(t, binary).ended)
	}
	gomega.RegisterFailHandler(ginkgo.Fail)
	suiteConfig, reporterConfig := ginkgo.GinkgoConfiguration()
	if *whole {
		suiteConfig.Timeout = wholeTimeout // go test's own -timeout is the caller's
	}
	ginkgo.RunSpecs(t, "catalogue on real VPPs", suiteConfig, reporterConfig)
}

func scenes(t *testing.T) (list []*scenarios.Scenario) {
	all, err := catalog.All()
	if err != nil {
		t.Fatal(err)
	}
	if *whole {
		return all
	}
	for _, name := range chosen {
		s, err := catalog.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	return list
}

// refusal stands before the reasons of a scenario that labs refuse.
const refusal = " by a lab: "

// build makes a lab for one run.
func build(ctx context.Context, s *scenarios.Scenario, o lab.Options, seed uint64) (result.World, error) {
	if missing := append(lab.Unsupported(s), lab.UnsupportedActions(s)...); len(missing) > 0 {
		return nil, fmt.Errorf("%w%s%s", result.ErrUnsupported, refusal, timeline.Line(missing))
	}
	o.Seed = seed
	return lab.New(ctx, s, o)
}
