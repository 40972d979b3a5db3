package suite_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"

	"github.com/vppdrill/vppdrill/scenarios"
	"github.com/vppdrill/vppdrill/scenarios/fact"
	"github.com/vppdrill/vppdrill/scenarios/suite"
)

// asSuite makes the test binary a Ginkgo suite over testdata/rehearsals; its words choose options.
const asSuite = "VPPDRILL_AS_SUITE"

func TestMain(m *testing.M) {
	words, ok := os.LookupEnv(asSuite)
	if !ok {
		os.Exit(m.Run())
	}
	flag.Parse()
	o := suite.Options{World: "stage", Folder: "testdata/rehearsals", Factory: newStage, Laws: []fact.Law{nodesStay()}}
	for word := range strings.FieldsSeq(words) {
		switch word {
		case "twice":
			o.Twice = true
		case "drawn":
			o.Drawn = 1
		case "skip":
			o.SkipUnsupported = true
		case "other-world":
			o.World = "netns"
		case "decorated":
			o.Decorators = []any{ginkgo.Label("decorated")}
		case "listed":
			s := scenarios.Default()
			s.Name, s.Labels = "made-in-go", []string{"restart"}
			o.Folder, o.Scenarios = "", []*scenarios.Scenario{&s}
		case "seeds":
			o.Seeds = []uint64{8, 5}
		}
	}
	suite.Specs(o)
	if !ginkgo.RunSpecs(noTest{}, "rehearsals on a stage") {
		os.Exit(1)
	}
}

// noTest takes Ginkgo's verdict, which RunSpecs returns as well.
type noTest struct{}

func (noTest) Fail() {}

// Goal: specs carry the names and labels that filters and CI go by, run the seeds they should, and tell every way of
// not passing in one block; reports hold what was attached. Method: this binary runs once more as a suite over the
// files in testdata/rehearsals, on a scripted World and law; golden extracts of its JSON and JUnit reports.
func TestSpecs(t *testing.T) {
	datadriven.RunTest(t, "testdata/specs.txt", func(t *testing.T, d *datadriven.TestData) string {
		var words []string
		for _, arg := range d.CmdArgs {
			words = append(words, arg.Key)
		}
		report, junit := runSuite(t, strings.Join(words, " "), strings.TrimSpace(d.Input))
		switch d.Cmd {
		case "names":
			return names(report)
		case "run":
			return specs(report) + tally(t, junit)
		}
		d.Fatalf(t, "unknown command")
		return ""
	})
}

func runSuite(t *testing.T, words, filter string) (types.Report, []byte) {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	reportFile, junitFile := filepath.Join(t.TempDir(), "report.json"), filepath.Join(t.TempDir(), "junit.xml")
	cmd := exec.CommandContext(t.Context(), binary, "-ginkgo.no-color", "-ginkgo.seed=7",
		"-ginkgo.label-filter="+filter, "-ginkgo.json-report="+reportFile, "-ginkgo.junit-report="+junitFile)
	cmd.Env = append(os.Environ(), asSuite+"="+words)
	out, suiteErr := cmd.CombinedOutput()
	data, err := os.ReadFile(reportFile)
	if err != nil {
		t.Fatalf("%v, %v\n%s", suiteErr, err, out)
	}
	var reports []types.Report
	if err := json.Unmarshal(data, &reports); err != nil || len(reports) != 1 {
		t.Fatalf("%d reports, %v\n%s", len(reports), err, out)
	}
	if reports[0].SuiteSucceeded != (suiteErr == nil) {
		t.Errorf("the report says %v and the process %v\n%s", reports[0].SuiteSucceeded, suiteErr, out)
	}
	junit, err := os.ReadFile(junitFile)
	if err != nil {
		t.Fatal(err)
	}
	return reports[0], junit
}

// its are a report's specs in name order; Ginkgo runs them in the order of its seed.
func its(r types.Report) types.SpecReports {
	specs := r.SpecReports.WithLeafNodeType(types.NodeTypeIt)
	slices.SortFunc(specs, func(a, b types.SpecReport) int { return strings.Compare(a.FullText(), b.FullText()) })
	return specs
}

func names(r types.Report) string {
	var b strings.Builder
	for _, spec := range its(r) {
		where := spec.LeafNodeLocation
		fmt.Fprintf(&b, "%s [%s] %s:%d\n", spec.FullText(), strings.Join(spec.Labels(), ", "), where.FileName, where.LineNumber)
	}
	return b.String()
}

func specs(r types.Report) string {
	var b strings.Builder
	for _, spec := range its(r) {
		if spec.State == types.SpecStateSkipped && spec.Failure.Message == "" {
			continue // filtered out
		}
		fmt.Fprintf(&b, "%s: %s\n", spec.FullText(), spec.State)
		for _, event := range spec.SpecEvents.WithType(types.SpecEventByStart) {
			fmt.Fprintf(&b, "  step %s\n", event.Message)
		}
		for _, entry := range spec.ReportEntries {
			fmt.Fprintf(&b, "  %s: %s\n", entry.Name, strings.ReplaceAll(entry.StringRepresentation(), "\n", "\n    "))
		}
		if spec.Failure.Message != "" {
			fmt.Fprintf(&b, "  | %s\n", strings.ReplaceAll(spec.Failure.Message, "\n", "\n  | "))
		}
	}
	return b.String()
}

// tally counts what junit.xml says; cases that were filtered out count as skipped there.
func tally(t *testing.T, junit []byte) string {
	t.Helper()
	var suites struct {
		Cases []struct {
			Name    string    `xml:"name,attr"`
			Failure *struct{} `xml:"failure"`
			Skipped *struct{} `xml:"skipped"`
		} `xml:"testsuite>testcase"`
	}
	if err := xml.NewDecoder(bytes.NewReader(junit)).Decode(&suites); err != nil {
		t.Fatal(err)
	}
	failed, skipped := 0, 0
	for _, c := range suites.Cases {
		if c.Failure != nil {
			failed++
		}
		if c.Skipped != nil {
			skipped++
		}
	}
	return fmt.Sprintf("junit: %d passed, %d failed, %d skipped\n", len(suites.Cases)-failed-skipped, failed, skipped)
}

// Goal: wrong input is told before any spec exists, with its place.
func TestSpecsRefuses(t *testing.T) {
	for _, test := range []struct {
		o    suite.Options
		want string
	}{
		{suite.Options{}, "suite: Options.Factory is missing"},
		{suite.Options{Factory: newStage, Folder: "testdata/broken"}, `suite: testdata/broken/broken.yaml:3:1: `},
		{suite.Options{Factory: newStage, Folder: "testdata/twins"}, `suite: two scenarios are called twin: "testdata/twins/a/twin.yaml" and "testdata/twins/b/twin.yaml"`},
		{suite.Options{Factory: newStage, Folder: "testdata/empty"}, "suite: no scenario file in testdata/empty"},
		{suite.Options{Factory: newStage, Folder: "testdata/nowhere"}, "suite: lstat testdata/nowhere: "},
		{suite.Options{Factory: newStage, Scenarios: []*scenarios.Scenario{}}, "suite: no scenario to run"},
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.HasPrefix(got, test.want) {
					t.Errorf("got %q, want %q", got, test.want)
				}
			}()
			suite.Specs(test.o)
		}()
	}
}
